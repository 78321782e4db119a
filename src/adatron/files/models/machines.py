"""Describe the state of each kernel machine, field by field, and the conditions that its parts fulfil together."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from sklearn.utils._param_validation import validate_parameter_constraints

from ...estimators.checks.inputs import given
from ...estimators.incremental.machine import FIXED
from ...kernels import Kernel
from ...model.heads import Classes
from ...quoted import quoted
from ...solvers.found import Traces
from ...solvers.route import Route
from .archive import InvalidError
from .schema import (
    EXACT,
    MOST_COLUMNS,
    REAL,
    REALS,
    WHOLE,
    Array,
    Either,
    Field,
    Fields,
    Instance,
    Known,
    Listed,
    Named,
    Number,
    OneOf,
    Optional,
    Record,
    Rows,
    Rule,
)

ANY = Instance(object)
NOTHING = OneOf(None)
FLAG = OneOf(True, False)
COUNT = Number(0, EXACT, whole=True)
INTEGERS = ("int64", "int32", "int16", "int8", "uint64", "uint32", "uint16", "uint8")
LABELS = (*REALS, *INTEGERS, "float16", "bool", "str")


class _Of(Field):
    """A field for one problem, and another one for several."""

    def __init__(self, one: Field, several: Field) -> None:
        self.one, self.several = one, several

    def suits(self, value: Any) -> bool:
        return self.one.suits(value) or self.several.suits(value)

    def check(self, name: str, value: Any, known: Known) -> None:
        field = self.one if known["problems"] == 1 else self.several
        if not field.suits(value):
            raise InvalidError(f"{name} must be {field.kind}, as there are {known['problems']} problems")
        field.check(name, value, known)

    @property
    def kind(self) -> str:
        return f"{self.one.kind} or {self.several.kind}"


# --- sizes, and conditions between values -------------------------------------------------------------------------


def _one_problem(known: Known) -> dict[str, int]:
    return {"problems": 1, "groups": 1, "rows": 1}


def _problems_of_classes(known: Known) -> dict[str, int] | str:
    k = known["classes"]
    if k < 2:
        return f"classes_ has {k} classes; at least 2 are needed"
    pairs = k > 2 and known["_in_pairs"]
    problems = 1 if k == 2 else k * (k - 1) // 2 if pairs else k
    # A compact model, or one with tilted bases, has vectors without a class, with a coefficient for each problem.
    whole = known.get("compact_", False) or known["tilted"]
    return {"problems": problems, "groups": 1 if whole else k, "rows": k - 1 if pairs and not whole else problems}


def _sizes_of_the_sum(known: Known) -> dict[str, int] | str | None:
    vectors, numbered, values = int(known["n_support_"].sum()), known["numbered"], _given(known)
    weights = known.get("compact_", False) and numbered == 0 and not values
    if numbered != vectors and not weights:
        return f"support_ has {numbered} numbers for {vectors} support vectors"
    if values:
        largest = int(known["support_"].max(initial=-1))
        if "features" in known and not known.get("compact_", False) and largest >= known["features"]:
            return f"support_ holds {largest}; there were {known['features']} training samples"
        if known.get("compact_", False) and known.setdefault("features", vectors) != vectors:
            return f"n_features_in_ is {known['features']}; there are {vectors} support vectors"
        return {"vectors": vectors, "stored": 0, "width": 0}
    if "features" not in known:
        return "n_features_in_ is missing"
    return {"vectors": vectors, "stored": vectors, "width": known["features"]}


def _given(known: Known) -> bool:
    return given(known["kernel_"])


def _samples_fit(known: Known) -> str | None:
    """Check samples, ids and labels of an incremental model."""
    kernel, ids, y = known["kernel_"], known["ids"], known["y"]
    if not (kernel.compiled and kernel.convex):
        return f"kernel_ must be positive semi-definite; it is {quoted(kernel)}"
    if not len(ids) or known["next_id"] <= ids.max():
        return "_store.next_id must be larger than all ids, and there must be samples"
    if known["age"].max() >= known["arrived"]:
        return "_store.arrived must be larger than all arrival numbers"
    if "classes" in known and not np.array_equal(np.unique(known["classes_"]), known["classes_"]):
        return "classes_ must be in order"
    if "classes" in known and not (np.isin(y, np.arange(known["classes"])).all()):
        return f"_store.y holds numbers of classes beyond 0 to {known['classes'] - 1}"
    return None


def _tracks_fit(known: Known) -> str | None:
    """Check that the programs are those of the classes, and that each has the samples of its classes."""
    k, n, y = known.get("classes", 0), known["samples"], known["y"]
    pairs = k > 2 and known["_in_pairs"]
    sides: list[Any] = Classes(np.arange(k), pairs).problems if k else [None]
    for number, (track, expected) in enumerate(zip(known["_tracks"], sides, strict=True)):
        slots = track["slots"]
        if track["sides"] != expected or (slots is None) == pairs:
            return f"_tracks[{number}] is not that of the classes {expected}"
        if slots is None and len(track["beta"]) != n:
            return f"_tracks[{number}].beta has {len(track['beta'])} entries for {n} samples"
        if pairs and not np.array_equal(np.sort(cast("Any", slots)), np.flatnonzero(np.isin(y, expected))):
            return f"_tracks[{number}].slots are not the samples of the classes {expected}"
    return None


def _foundations_fit(known: Known) -> str | None:
    kind, fixed = type(known["estimator"]), known["_fixed"]
    if fixed.keys() != {name for name in FIXED if name in known["params"]}:
        return f"_fixed holds {list(fixed)}, not the parameters that the solution rests on"
    constraints = {name: kind._parameter_constraints[name] for name in fixed}
    validate_parameter_constraints(constraints, fixed, kind.__name__)
    return None


def _route_fits(known: Known) -> str | None:
    route, problems = known["state"].get("route_"), known["problems"]
    return None if route is None or len(route.ways) == problems else f"route_ is not that of {problems} problems"


def _traces_fit(known: Known) -> str | None:
    trace, problems = known.get("trace_"), known["problems"]
    return (
        f"trace_ is not that of {problems} problems" if isinstance(trace, Traces) and len(trace) != problems else None
    )


# --- fields that several classes have -----------------------------------------------------------------------------

WIDTH = Number(0, MOST_COLUMNS, whole=True, size="features")
FEATURES: Fields = {
    "n_features_in_": Optional(WIDTH),
    "feature_names_in_": Optional(Array(("str",), ("features",), distinct=True)),
}
MACHINE: Fields = {
    **FEATURES,
    "objects_": Optional(NOTHING),
    "first_index_": Optional(OneOf(0, 1, None)),
    "_gamma": Optional(Number(0.0)),
    "kernel_": Instance(Kernel),
    "compact_": Optional(FLAG),
    "route_": Optional(Either(NOTHING, Instance(Route))),
}
CLASSES_: Fields = {
    "classes_": Array(LABELS, ("classes",), distinct=True),
    "class_weight_": Array(REAL, ("classes",), low=0.0),
    "_in_pairs": FLAG,
    "_slope": Optional(Either(NOTHING, Number(0.0))),
}
EXPANSION: Fields = {
    "n_support_": Array(WHOLE, ("groups",), low=0, high=2**31 - 1),
    "support_": Array(WHOLE, ("numbered",), low=0, high=2**31 - 1),
    "sizes of the sum": Rule(_sizes_of_the_sum),
    "support_vectors_": Either(
        Array(REALS, ("stored", "width"), moderate=True), Rows(REALS, ("stored", "width"), moderate=True)
    ),
    "dual_coef_": Either(Array(REAL, ("rows", "vectors")), Rows(REAL, ("rows", "vectors"))),
    "intercept_": Array(REAL, ("problems",)),
    "shape_fit_": Listed(COUNT, 2, tuple),
}
ONE_PROOF = Number(finite=False)
MANY_PROOFS = Array(REAL, ("problems",), finite=False)
TRACE = Record({}, more=Array(REAL, ("lines",), finite=False), own=True)
PROOF = _Of(ONE_PROOF, MANY_PROOFS)
PROOFS: Fields = {
    "fit_status_": OneOf(0, 1),
    "duality_gap_": PROOF,
    "kkt_violation_": PROOF,
    "dual_objective_": PROOF,
    "primal_objective_": PROOF,
    "trace_": Optional(_Of(TRACE, Either(Instance(Traces), Listed(TRACE, "problems")))),
    "traces": Rule(_traces_fit),
    "route": Rule(_route_fits),
}
COUNTS = Either(COUNT, Array(WHOLE, ("problems",), low=0))


# --- the classes --------------------------------------------------------------------------------------------------

ALONE: Fields = {"_": Rule(_one_problem)}
NOT_TILTED: Fields = {"tilted": Rule(lambda known: {"tilted": 0})}
ONE_MACHINE: Fields = {
    **MACHINE, **ALONE, **EXPANSION, **PROOFS, "n_iter_": COUNTS
}  # fmt: skip
CLASSIFIER: Fields = {
    **MACHINE,
    **NOT_TILTED,
    **CLASSES_,
    "problems of classes": Rule(_problems_of_classes),
    **EXPANSION,
    **PROOFS,
    "n_iter_": COUNTS,
}
POINTS = Array(REAL, ("trained", "features"), finite=False)
INPUT_MARGIN: Fields = {
    **CLASSIFIER,
    "tilted": Rule(lambda known: {"tilted": int(known["state"].get("tilts_") is not None)}),
    "tilts_": Either(NOTHING, Array(REAL, ("vectors", "features"), moderate=True)),
    "problem_": Either(NOTHING, Array(WHOLE, ("vectors",), low=0, high="problems")),
    "bases": Rule(
        lambda known: "tilts_ and problem_ go together" if (known["problem_"] is None) == known["tilted"] else None
    ),
    "margin_": PROOF,
    "margin_path_": _Of(Array(REAL, ("steps",), finite=False), Listed(ANY, "problems")),
    "projections_": Either(NOTHING, POINTS, Listed(POINTS, "problems")),
}
INPUT = Record({"inode": Instance(str), "since": COUNT, "digest": Instance(str)}, own=True)
STREAM = Record(
    {"name": Instance(str), "number": COUNT, "lines": Named(COUNT), "inputs": Optional(Named(INPUT))},
    more=ANY,
    own=True,
)
SAMPLES: Fields = {
    "X": Either(
        Array(REAL, ("samples", "features"), moderate=True), Rows(REAL, ("samples", "features"), moderate=True)
    ),
    "y": Array(REAL, ("samples",)),
    "weight": Array(REAL, ("samples",), low=0.0),
    "ids": Array(("int64",), ("samples",), low=-EXACT, high=EXACT, distinct=True),
    "age": Array(("int64",), ("samples",), low=0, high=EXACT, distinct=True),
    "arrived": COUNT,
    "next_id": Number(-EXACT, EXACT, whole=True),
    "first": COUNT,
    "generation": COUNT,
}
PROGRAM: Fields = {
    "sides": Either(NOTHING, Listed(Number(-1, EXACT, whole=True), 2, tuple)),
    "slots": Either(NOTHING, Array(("int64",), ("own samples",), low=0, high="samples", distinct=True)),
    "beta": Array(REAL, ("own samples",)),
    "g": Array(REAL, ("own samples",)),
    "counts": Array(("int64",), (2,), low=0, high=EXACT),
}
LEARNED: Fields = {
    "_store": Record(SAMPLES),
    "samples": Rule(_samples_fit),
    "_tracks": Listed(Record(PROGRAM, own=True), "problems"),
    "tracks": Rule(_tracks_fit),
    "n_refit_": COUNT,
    "_fixed": Instance(dict),
    "fixed": Rule(_foundations_fit),
    "stream_": Optional(Either(NOTHING, STREAM)),
    **PROOFS,
    "n_iter_": COUNTS,
}
ONE_LEARNED: Fields = {**MACHINE, "n_features_in_": WIDTH, **ALONE, **LEARNED}
CLASSES_LEARNED: Fields = {
    **MACHINE, "n_features_in_": WIDTH, **NOT_TILTED, **CLASSES_, "problems of classes": Rule(_problems_of_classes),
    **LEARNED,
}  # fmt: skip
# Further state that a compact model keeps.
LEFT: Fields = {"n_refit_": Optional(COUNT), "_fixed": Optional(Instance(dict)), "stream_": LEARNED["stream_"]}
