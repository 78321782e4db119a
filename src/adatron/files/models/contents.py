"""List the machines that a model file may hold, and the attributes that each of them may have.

`codec` makes objects of these classes and of no others. A machine checks its model itself, whichever way the model
comes in: see `Model`, ``model/checks.py``, `Store` and `Track`. Here are the names of all attributes, the parameters,
and the values that a machine keeps beside its model. `save` makes the same checks as `load`, so a saved file can be
loaded. Attributes that a user has given a model are kept if they are public and hide nothing of the class; nothing in
the library reads them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn import config_context
from sklearn.utils._param_validation import validate_parameter_constraints

from ...arrays import MOST_COLUMNS
from ...estimators import SVC, SVDD, SVR, InputMarginSVC, LinearSVC, LinearSVR, NuSVC, NuSVR, OneClassSVM, QuantileSVR
from ...estimators.base.attributes import attributes_of
from ...estimators.base.classifier import Classifier
from ...estimators.base.machine import KernelMachine
from ...estimators.base.methods import CALLBACK_ATTRIBUTES
from ...estimators.incremental import (
    IncrementalNuSVC,
    IncrementalOneClassSVM,
    IncrementalSVC,
    IncrementalSVDD,
    IncrementalSVR,
)
from ...estimators.incremental.holder import KNOWN_PARTS, Holder
from ...kernels.table import COMPOSED, LEAVES
from ...model.checks import LARGEST_COUNT
from ...quoted import quoted
from ...solvers.results import Traces
from ...solvers.route import Route
from ...solvers.table import SOLVERS
from .archive import InvalidError

FileState = Mapping[str, Any]
Suits = Callable[[Any, FileState], bool]  # whether a value is one of those that a fit sets, given the whole state
ROUTED_METHODS = (
    "fit", "partial_fit", "predict", "predict_proba", "predict_log_proba", "decision_function", "score", "transform",
    "inverse_transform",
)  # fmt: skip # Methods whose metadata may be requested.
#: State that is not kept: callbacks, what a running fit leaves, the address of an object, and what is made anew.
STATE_LEFT_OUT = frozenset({*CALLBACK_ATTRIBUTES, "_metadata_request", "_sklearn_version"})


def is_count(value: Any, most: int = LARGEST_COUNT) -> TypeGuard[int]:
    """Return whether a value is a whole number from 0 on."""
    return isinstance(value, Integral) and not isinstance(value, (bool, np.bool_)) and 0 <= int(value) <= most


def is_array(value: Any, kinds: str, *shape: int | None) -> TypeGuard[NDArray[Any]]:
    """Return whether a value is an array of some kinds, among them 'd' for float64; None stands for any length."""
    if not isinstance(value, np.ndarray) or value.ndim != len(shape):  # or a subclass, as of a memory map
        return False
    right = value.dtype.kind in kinds or ("d" in kinds and value.dtype.char == "d")
    return right and all(size in (None, found) for size, found in zip(shape, value.shape, strict=True))


def _are_reals(value: Any, state: FileState) -> bool:
    """Return whether there is a number for each problem."""
    n = np.size(state.get("intercept_", ()))
    return isinstance(value, Real) if n == 1 else is_array(value, "d", n)


def _are_arrays(value: Any, state: FileState, *shape: int | None) -> bool:
    """Return whether there is an array of numbers, of a shape, for each problem."""
    n = np.size(state.get("intercept_", ()))
    listed = [value] if n == 1 else value
    return type(listed) is list and len(listed) == n and all(is_array(one, "d", *shape) for one in listed)


def _is_stream(value: Any, _: FileState) -> bool:
    """Return whether a value says which record was learned last, and how far each input was read."""
    if type(value) is not dict or value.keys() != {"number", "inputs"} or not is_count(value["number"]):
        return value is None
    return type(value["inputs"]) is dict and all(
        type(name) is str
        and type(one) is dict
        and one.keys() == {"inode", "line", "since", "digest"}
        and is_count(one["line"])
        and is_count(one["since"])
        and type(one["inode"]) is type(one["digest"]) is str
        for name, one in value["inputs"].items()
    )


#: The attributes beside the model: the class that has each of them, with the classes made from it, and its check.
CHECKS: dict[str, tuple[type[Any], Suits]] = {
    "n_features_in_": (KernelMachine, lambda value, _: is_count(value, MOST_COLUMNS)),
    "feature_names_in_": (KernelMachine, lambda value, state: is_array(value, "U", state.get("n_features_in_"))
                          and len(np.unique(value)) == len(value)),
    "first_index_": (KernelMachine, lambda value, _: value is None or is_count(value, 1)),
    "class_weight_": (Classifier, lambda value, state: is_array(value, "d", np.size(state.get("classes_", ())))
                      and bool(np.isfinite(value).all() and (value >= 0).all())),
    "margin_": (InputMarginSVC, _are_reals),
    "margin_path_": (InputMarginSVC, lambda value, state: _are_arrays(value, state, None)),
    "projections_": (InputMarginSVC, lambda value, state: value is None
                     or _are_arrays(value, state, state["shape_fit_"][0], state.get("n_features_in_"))),
    "epsilon_": (NuSVR, _are_reals),
    "n_crossed_": (QuantileSVR, lambda value, _: is_count(value)),
    "_store": (Holder, lambda value, _: isinstance(value, dict)),  # which checks itself, as the next one does
    "_tracks": (Holder, lambda value, _: isinstance(value, list)),
    "_fixed": (Holder, lambda value, _: type(value) is dict),
    "n_refit_": (Holder, lambda value, _: is_count(value)),
    "stream_": (Holder, _is_stream),
}  # fmt: skip
FEATURE_STATE = ("n_features_in_", "feature_names_in_")  # What the check of X sets.
MACHINES: tuple[type[Any], ...] = (
    SVC, NuSVC, InputMarginSVC, SVR, NuSVR, QuantileSVR, OneClassSVM, SVDD, LinearSVC, LinearSVR,
    IncrementalSVC, IncrementalNuSVC, IncrementalSVR, IncrementalOneClassSVM, IncrementalSVDD,
)  # fmt: skip
#: Attributes that need not be there; of a compact model, nor need those of its samples.
OPTIONAL = {*FEATURE_STATE, "first_index_", "epsilon_", "stream_", "_columns", "_radius"}
#: The machines by their names in a file.
MACHINE_CLASSES: dict[str, type[Any]] = {kind.__name__: kind for kind in MACHINES}
# All attributes that some machine has.
STATE_LISTED = {*CHECKS, *(name for kind in MACHINES for name in attributes_of(kind))}
#: Names for ``skops.io.load(file, trusted=...)``. Each machine checks the sizes of its arrays. All else in a file of
#: skops is taken as it is: load such files only from people whom you trust. ``adatron.load`` checks every value.
skops_types: list[str] = sorted(
    f"{kind.__module__}.{kind.__qualname__}"
    for kind in (
        *MACHINES, *LEAVES.values(), *COMPOSED.values(), *SOLVERS.values(), Traces, Route, sparse.csr_matrix
    )
)  # fmt: skip


def refusal(value: object) -> str:
    """Say why an object of another class has no place in a model file, and what to do."""
    kind = type(value)
    if hasattr(value, "to_local"):
        return f"{kind.__name__} belongs to a cluster and cannot be stored; store what its to_local() returns"
    best = "save its best_estimator_, or " if hasattr(value, "best_estimator_") else ""
    return (
        f"{kind.__module__}.{kind.__qualname__} cannot be stored in a file of adatron: {best}store the whole model "
        "with skops (pip install skops) and load it with trusted=adatron.skops_types"
    )


def check_machine(machine: KernelMachine, state: dict[str, Any]) -> None:
    """Check the parameters of a machine, a state that is, or is to become, its own, and its model if it has one.

    A ValueError says that a parameter is not allowed, or that the state is not one of the class.
    """
    kind, params = type(machine), machine.get_params(deep=False)
    machine._validate_params()  # pyright: ignore[reportPrivateUsage]
    fitted, samples = "fit_status_" in state, "_store" in state
    own = {name: suits for name, (owner, suits) in CHECKS.items() if issubclass(kind, owner)}
    own = own if fitted else {name: own[name] for name in FEATURE_STATE}
    parts = _parts(kind, samples) if fitted else set[str]()
    for name in state:
        if name in params:
            raise InvalidError(f"{name[:50]!r} is a parameter, and cannot be an attribute that a fit sets")
        if not (name in own or name in parts or _free(kind, name)):
            raise InvalidError(f"a fit sets no attribute {name[:50]!r}")
    needed = parts | {name for name in own if samples or CHECKS[name][0] is not Holder}
    if missing := sorted(needed - OPTIONAL - state.keys()):
        raise InvalidError(f"{missing[0]} is missing")
    for name, suits in own.items():
        if name in state and not suits(state[name], state):
            raise InvalidError(f"{name} is not what a fit sets; it is {_described(state[name])}")
    allowed: dict[str, Any] = kind._parameter_constraints  # pyright: ignore[reportPrivateUsage]
    fixed = {name: value for name, value in state.get("_fixed", {}).items() if name in allowed}
    validate_parameter_constraints({name: allowed[name] for name in fixed}, fixed, kind.__name__)
    if machine.__sklearn_is_fitted__() and (fault := next(machine.faults(), "")):
        raise InvalidError(fault)


def requests_of(owner: Any) -> dict[str, dict[str, Any]]:
    """Return what `set_fit_request` and its siblings have set for the metadata of each method."""
    found = vars(owner).get("_metadata_request")
    known = [(name, getattr(found, name, None)) for name in ROUTED_METHODS]
    return {name: dict(one.requests) for name, one in known if one and one.requests}


def restore_requests(owner: Any, requests: Any) -> None:
    """Set what `requests_of` gave; fail if there is no such method, or no such metadata."""
    for method, wanted in requests.items():
        try:
            with config_context(enable_metadata_routing=True):
                getattr(owner, f"set_{method}_request")(**wanted)
        except (AttributeError, TypeError, ValueError) as error:
            raise InvalidError(f"the metadata request of {str(method)[:50]!r} is wrong: {str(error)[:200]}") from error


def lasting_state(machine: KernelMachine) -> dict[str, Any]:
    """Return the state that a file keeps of a machine besides the parameters."""
    params, kept = machine.get_params(deep=False), machine.lasting_state()
    state = {name: value for name, value in kept.items() if name not in params and name not in STATE_LEFT_OUT}
    if "fit_status_" in state:
        return state
    # A fit that failed may have left some attributes, which nothing reads.
    return {name: value for name, value in state.items() if name in FEATURE_STATE or name not in STATE_LISTED}


def _parts(kind: type[Any], samples: bool) -> set[str]:
    """Return the attributes that are parts of the model; one with samples keeps those of its proofs and its readout."""
    found = {name: path[0] for name, path in attributes_of(kind).items()}
    return {name for name, part in found.items() if part != "samples" and (not samples or part in KNOWN_PARTS)}


def _free(kind: type[Any], name: str) -> bool:
    """Return whether an attribute may be a user's: it hides nothing, and nothing looks for it."""
    return name.isidentifier() and not name.startswith("_") and name not in STATE_LISTED and not hasattr(kind, name)


def _described(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape} of {value.dtype}"
    plain = isinstance(value, (str, int, float, np.generic, type(None)))
    return quoted(value)[:50] if plain else f"a {type(value).__name__}"
