"""List the classes that a model file may hold, and the state of each class, field by field.

`codec` makes objects of these classes and of no others. `save` makes the same checks as `load`, so a saved file can
be loaded. Attributes that a user has given a model are kept if they are public and hide nothing of the
class; nothing in the library reads them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

from ...estimators import SVC, SVR, InputMarginSVC, NuSVC, NuSVR, OneClassSVM
from ...estimators.base.machine import KernelMachine
from ...estimators.incremental import IncrementalNuSVC, IncrementalOneClassSVM, IncrementalSVC, IncrementalSVR
from .archive import InvalidError
from .around.classes import LEFT_OUT
from .machines import (
    CLASSES_LEARNED,
    CLASSIFIER,
    FEATURES,
    INPUT_MARGIN,
    LEFT,
    NOTHING,
    ONE_LEARNED,
    ONE_MACHINE,
    ONE_PROOF,
    WIDTH,
)
from .schema import (
    EXACT,
    REAL,
    REALS,
    WHOLE,
    Array,
    Either,
    Field,
    Fields,
    Known,
    Named,
    Number,
    OneOf,
    Optional,
    Rule,
    check_fields,
)

OF_FEATURES = Array(REALS, ("features",))
SCALES = Array(REALS, ("features",), low=float(np.finfo(np.float64).smallest_subnormal))
OUTPUT = Named(OneOf("default", "pandas", "polars"))
SCALER: Fields = {
    **FEATURES,
    "n_features_in_": WIDTH,
    "n_samples_seen_": Either(Number(0, EXACT), Array((*REAL, *WHOLE), ("features",), low=0)),
    "_sklearn_output_config": Optional(OUTPUT),
}


def _standard_fits(known: Known) -> str | None:
    for flag, name in (("with_mean", "mean_"), ("with_std", "scale_")):
        if known["params"][flag] and known[name] is None:
            return f"{name} is None although {flag} is true"
    return None


def _range_fits(known: Known) -> str | None:
    low, high = known["params"]["feature_range"]
    return None if np.isfinite([low, high]).all() and low < high else f"feature_range is {(low, high)}"


STATES: dict[type[Any], Fields] = {
    SVC: CLASSIFIER,
    NuSVC: CLASSIFIER,
    InputMarginSVC: INPUT_MARGIN,
    SVR: ONE_MACHINE,
    NuSVR: {**ONE_MACHINE, "epsilon_": Optional(ONE_PROOF)},
    OneClassSVM: ONE_MACHINE,
    IncrementalSVC: CLASSES_LEARNED,
    IncrementalNuSVC: CLASSES_LEARNED,
    IncrementalSVR: ONE_LEARNED,
    IncrementalOneClassSVM: ONE_LEARNED,
    StandardScaler: {
        **SCALER,
        "mean_": Either(NOTHING, OF_FEATURES),
        "var_": Either(NOTHING, OF_FEATURES),
        "scale_": Either(NOTHING, SCALES),
        "parts": Rule(_standard_fits),
    },
    MinMaxScaler: {
        **SCALER,
        **dict.fromkeys(("min_", "data_min_", "data_max_", "data_range_"), OF_FEATURES),
        "scale_": SCALES,
        "range": Rule(_range_fits),
    },
    MaxAbsScaler: {**SCALER, "max_abs_": OF_FEATURES, "scale_": SCALES},
    Pipeline: {},
}
COMPACT: dict[type[Any], Fields] = {
    IncrementalSVC: {**CLASSIFIER, **LEFT},
    IncrementalNuSVC: {**CLASSIFIER, **LEFT},
    IncrementalSVR: {**ONE_MACHINE, **LEFT},
    IncrementalOneClassSVM: {**ONE_MACHINE, **LEFT},
}
#: The classes that a model file may hold.
CLASSES: dict[str, type[Any]] = {kind.__name__: kind for kind in STATES}
SCALERS = (StandardScaler, MinMaxScaler, MaxAbsScaler)
UNFITTED: Fields = {**FEATURES, "objects_": Optional(NOTHING)}
LISTED = {name for fields in (*STATES.values(), *COMPACT.values()) for name in fields}


def check_estimator(estimator: BaseEstimator, state: dict[str, Any]) -> None:
    """Check the parameters of an estimator, and a state that is, or is to become, its own.

    Raises
    ------
    InvalidError
        A parameter or the state is not what the class may have.
    """
    kind = type(estimator)
    params = estimator.get_params(deep=False)
    estimator._validate_params()  # pyright: ignore[reportPrivateUsage]
    if isinstance(estimator, Pipeline):
        _check_steps(estimator)
    fields = COMPACT[kind] if kind in COMPACT and "_store" not in state and "fit_status_" in state else STATES[kind]
    fields = fields if _is_fitted(kind, state) else UNFITTED
    if twice := params.keys() & state.keys():
        raise InvalidError(f"{min(twice)[:50]!r} is a parameter, and cannot be an attribute that a fit sets")
    for name in state:
        if not (name in fields and isinstance(fields[name], Field)) and not _free(kind, name):
            raise InvalidError(f"a fit sets no attribute {name[:50]!r}")
    check_fields(fields, state, {"params": params, "state": state, "estimator": estimator})


def lasting_state(estimator: BaseEstimator) -> dict[str, Any]:
    """Return the state that a file keeps of an estimator besides the parameters."""
    params = estimator.get_params(deep=False)
    kept = estimator.lasting_state() if isinstance(estimator, KernelMachine) else vars(estimator)
    state = {name: value for name, value in kept.items() if name not in params and name not in LEFT_OUT}
    if _is_fitted(type(estimator), state):
        return state
    # A fit that failed may have left some attributes, which nothing reads.
    return {name: value for name, value in state.items() if name in UNFITTED or name not in LISTED}


def _free(kind: type[Any], name: str) -> bool:
    """Return whether an attribute may be a user's: it hides nothing, and nothing looks for it."""
    return name.isidentifier() and not name.startswith("_") and name not in LISTED and not hasattr(kind, name)


def _is_fitted(kind: type[Any], state: dict[str, Any]) -> bool:
    return ("scale_" if kind in SCALERS else "fit_status_") in state


def _check_steps(pipeline: Pipeline) -> None:
    """Check names, classes and widths of the steps."""
    steps: list[Any] = pipeline.steps
    if not steps or not all(type(step) is tuple and len(step) == 2 for step in steps):
        raise InvalidError("steps must be pairs of a name and an estimator, at least one of them")
    names = [name for name, _ in steps]
    if not all(isinstance(name, str) and "__" not in name for name in names) or len(set(names)) < len(names):
        raise InvalidError(f"the steps must have names of their own, without '__'; they are {names!r}")
    if {*names} & pipeline.get_params(deep=False).keys():
        raise InvalidError(f"a step has the name of a parameter; the names are {names!r}")
    for name, step in steps[:-1]:
        if any(not hasattr(one, "transform") for one in parts(step)):
            raise InvalidError(f"step {name!r} must be a transformer; it is a {type(step).__name__}")
    found = [one for _, step in steps for one in parts(step)]
    if not found or not all(isinstance(one, BaseEstimator) for one in found):
        raise InvalidError(f"the steps {names!r} hold no estimator, or something else")
    strict = [one for one in found if type(one) in STATES]
    fitted = [
        one.__sklearn_is_fitted__() if isinstance(one, KernelMachine) else "scale_" in vars(one) for one in strict
    ]
    if not _widths_agree(found) or (any(fitted) and not all(fitted)):
        raise InvalidError(f"the steps {names!r} were not fitted together")


def _widths_agree(steps: list[Any]) -> bool:
    """Return whether scalers, and the step after them, were fitted to the same number of features."""
    width = None
    for step in steps:
        own = vars(step).get("n_features_in_", width)
        if None not in (own, width) and own != width:
            return False
        width = own if isinstance(step, SCALERS) else None
    return True


def parts(step: Any) -> Iterator[Any]:
    """Yield the estimators of a step, which may be a pipeline; a step that does nothing has none."""
    if isinstance(step, Pipeline):
        for _, inner in step.steps:
            yield from parts(inner)
    elif step not in (None, "passthrough"):
        yield step
