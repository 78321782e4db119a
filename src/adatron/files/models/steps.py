"""The steps of scikit-learn that a model file may hold: those that the command line makes before a machine.

These are scalers, an imputer, an encoder of texts, and the joins of them. A wrong state of a step ends in a refusal,
in an ordinary exception of scikit-learn at predict, or in wrong predictions. More could follow from the indices of a
sparse matrix, which OneHotEncoder makes of fitted numbers, and from some parameters: these are checked in full.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from numbers import Real
from typing import Any

import numpy as np
import sklearn
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

from ...arrays import MOST_COLUMNS
from ...estimators.base.machine import KernelMachine
from ...model.foreign import LARGEST_COUNT
from .archive import InvalidError
from .contents import STATE_LEFT_OUT, FileState, is_array, is_count

#: The classes by their names in a file, each with its module, which is imported when a file or a model has the class.
MODULES = {
    **dict.fromkeys(("StandardScaler", "MinMaxScaler", "MaxAbsScaler", "OneHotEncoder"), "sklearn.preprocessing"),
    "FunctionTransformer": "sklearn.preprocessing",  # scikit-learn's form of "passthrough" in a ColumnTransformer
    "SimpleImputer": "sklearn.impute",
    "ColumnTransformer": "sklearn.compose",
    "Pipeline": "sklearn.pipeline",
}
#: Fitted attributes of each scaler that have a number for each feature, and whether they may be None.
SCALERS: dict[str, tuple[tuple[str, ...], bool]] = {
    "StandardScaler": (("mean_", "var_", "scale_"), True),
    "MinMaxScaler": (("scale_", "min_", "data_min_", "data_max_", "data_range_"), False),
    "MaxAbsScaler": (("scale_", "max_abs_"), False),
}
#: Classes whose fitted state has stayed the same in all versions of scikit-learn.
PLAIN_STEPS = (*SCALERS, "Pipeline")
#: Attributes that scikit-learn shows under names that hide nothing.
SHOWN_ATTRIBUTES = {"n_features_in_", "feature_names_in_", "_sklearn_output_config"}
OUTPUTS = ("default", "pandas", "polars")  # Of ``set_output``.


@cache
def step_class(name: str) -> type[Any]:
    """Return the class of a step."""
    return getattr(import_module(MODULES[name]), name)


def is_step(value: object) -> bool:
    """Return whether an object is of one of the classes, not of one derived from it."""
    name = type(value).__name__
    return name in MODULES and type(value).__module__.startswith("sklearn.") and type(value) is step_class(name)


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


def state_of(step: BaseEstimator) -> dict[str, Any]:
    """Return the state that a file keeps of a step besides the parameters."""
    params = step.get_params(deep=False)
    state: dict[str, Any] = step.__getstate__()  # pyright: ignore[reportAssignmentType]
    return {name: value for name, value in state.items() if name not in params and name not in STATE_LEFT_OUT}


def settled(params: dict[str, Any]) -> dict[str, Any]:
    """Return parameters without those that no file may choose: a folder of pickles, more jobs than processors."""
    jobs, found = params.get("n_jobs"), {**params, "memory": None} if "memory" in params else dict(params)
    return {**found, "n_jobs": min(jobs, os.cpu_count() or 1)} if type(jobs) is int and jobs > 0 else found


def put_together(name: str, params: dict[str, Any], state: dict[str, Any], version: str) -> Any:
    """Return a checked step; scikit-learn warns if its version is not that which wrote the state."""
    step = step_class(name)(**settled(params))
    check_step(step, state)
    written_by = sklearn.__version__ if name in PLAIN_STEPS else version
    step.__setstate__({**vars(step), **state, "_sklearn_version": written_by})
    return step


def check_step(step: Any, state: dict[str, Any]) -> None:
    """Check the parameters of a step, and a state that is, or is to become, its own.

    Raises
    ------
    InvalidError
        The state is not one of the class.
    ValueError
        A parameter is not allowed.
    """
    kind, params = type(step), step.get_params(deep=False)
    if hasattr(step, "_parameter_constraints"):
        step._validate_params()
    for name in state:
        if name in params:
            raise InvalidError(f"{name[:50]!r} is a parameter, and cannot be an attribute that a fit sets")
        private = "_" if kind.__name__ in PLAIN_STEPS else "__"  # the beginning of names that are not data
        hidden = name not in SHOWN_ATTRIBUTES and (name.startswith(private) or hasattr(kind, name))
        if not name.isidentifier() or name in STATE_LEFT_OUT or hidden:
            raise InvalidError(f"a fit sets no attribute {name[:50]!r}")
    fault = next(_of_features(state), None) or next(RULES[kind.__name__](kind.__name__, params, state), None)
    if fault is not None:
        raise InvalidError(fault)


def _of_features(state: FileState) -> Iterator[str]:
    width, names = state.get("n_features_in_"), state.get("feature_names_in_")
    if "n_features_in_" in state and not is_count(width, MOST_COLUMNS):
        yield f"n_features_in_ must be a whole number from 0; it is {str(width)[:50]}"
    if "feature_names_in_" in state and not is_array(names, "UO", width):
        yield f"feature_names_in_ must be the names of {width} features"
    outputs: Any = state.get("_sklearn_output_config", {})
    if type(outputs) is not dict or not all(one is None or str(one) in OUTPUTS for one in outputs.values()):
        yield "_sklearn_output_config must name forms of output"


# --- a rule for each class ------------------------------------------------------------------------------------------


def _scaler(name: str, params: FileState, state: FileState) -> Iterator[str]:
    if "scale_" not in state:
        return
    (rows, absent), width = SCALERS[name], state.get("n_features_in_")
    if width is None:
        yield "n_features_in_ is missing"
    for row in rows:
        found: Any = state.get(row)
        if absent and found is None:
            continue
        if not is_array(found, "f", width) or found.dtype.itemsize < 4 or not np.isfinite(found).all():
            yield f"{row} must have a finite number for each of {width} features"
        elif row == "scale_" and not (found > 0).all():
            yield "scale_ holds numbers that are not positive"
    seen: Any = state.get("n_samples_seen_")
    counts = np.asarray([seen] if isinstance(seen, Real) else seen)
    if (
        not is_array(counts, "fi", None)
        or len(counts) not in (1, width)
        or not ((counts >= 0) & (counts <= LARGEST_COUNT)).all()
    ):
        yield "n_samples_seen_ must be a number, or one for each feature"
    for flag, row in (("with_mean", "mean_"), ("with_std", "scale_")):
        if params.get(flag) and state.get(row) is None:
            yield f"{row} is None although {flag} is true"
    low, high = params.get("feature_range", (0, 1))
    if not (np.isfinite([low, high]).all() and low < high):
        yield f"feature_range is {(low, high)}"


def _imputer(name: str, params: FileState, state: FileState) -> Iterator[str]:
    if "statistics_" in state and not is_array(state["statistics_"], "biufUO", state.get("n_features_in_")):
        yield f"statistics_ must have a value for each of {state.get('n_features_in_')} features"


def _encoder(name: str, params: FileState, state: FileState) -> Iterator[str]:
    """Check the categories, in which scikit-learn looks numbers up as if they were in order, and numbers of columns."""
    found: Any = state.get("categories_")
    if found is None:
        return
    width: Any = state.get("n_features_in_")
    if type(found) is not list or len(found) != width:
        yield f"categories_ must have {width} lists, one for each feature"
    for number, one in enumerate(found):
        if not is_array(one, "biufUO", None):
            yield f"categories_[{number}] must be an array of 1 dimension of numbers, texts or objects"
        if not _in_order(one):
            yield f"categories_[{number}] has numbers that are not in order"
    if state.get("_infrequent_enabled", False) is not False:
        yield "infrequent categories of a OneHotEncoder cannot be stored: leave out min_frequency and max_categories"
    sizes = [len(one) for one in found]
    dropped: Any = state.get("_drop_idx_after_grouping")
    dropped = [None] * width if dropped is None else list(dropped)
    for i, one in enumerate(dropped):
        if len(dropped) != width or not (one is None or is_count(one, sizes[i] - 1)):
            yield f"the dropped category of feature {i} is not among those of {width} features"
        sizes[i] -= int(one is not None)
    outs: Any = state.get("_n_features_outs")
    if type(outs) is not list or [int(one) if is_count(one) else -1 for one in outs] != sizes:
        yield f"_n_features_outs must be {sizes[:5]}{' ...' if len(sizes) > 5 else ''}"


def _in_order(values: NDArray[Any]) -> bool:
    if values.dtype.kind == "O":
        if not all(isinstance(item, (bool, int, float, np.generic)) for item in values):
            return True  # an order is asked of numbers only; of others scikit-learn makes a dict
        values = values.astype(np.float64)
    if values.dtype.kind == "U":
        return True
    values = values[: len(values) - 1] if len(values) and np.isnan(values[-1]) else values
    return bool((values[:-1] < values[1:]).all()) and not np.isnan(values).any()


def _function(name: str, params: FileState, state: FileState) -> Iterator[str]:
    given = [one for one in ("func", "inverse_func", "kw_args", "inv_kw_args") if params.get(one)]
    yield from (f"{one} must be None: a FunctionTransformer here stands for 'passthrough'" for one in given)


def _columns(name: str, params: FileState, state: FileState) -> Iterator[str]:
    given, fitted, slices = params["transformers"], state.get("transformers_", []), state.get("output_indices_", {})
    for one in (given, fitted):
        if type(one) is not list or not all(type(entry) is tuple and len(entry) == 3 for entry in one):
            yield "the transformers must be a list of names, transformers and columns"
    if type(slices) is not dict or not all(type(one) is slice for one in slices.values()):
        yield "output_indices_ must be a dict of slices"
    for inner in [params.get("remainder"), *(one[1] for one in (*given, *fitted))]:
        last = inner.steps[-1][1] if isinstance(inner, Pipeline) else inner
        if not (isinstance(last, str) or last is None or is_step(last)):
            yield f"a {type(last).__name__} is no step for columns"


def _joined(name: str, params: FileState, state: FileState) -> Iterator[str]:
    """Check names, classes and widths of the steps of a pipeline."""
    steps: Any = params["steps"]
    if type(steps) is not list or not steps or not all(type(one) is tuple and len(one) == 2 for one in steps):
        yield "steps must be pairs of a name and an estimator, at least one of them"
    names = [one for one, _ in steps]
    if not all(isinstance(one, str) and "__" not in one for one in names) or len(set(names)) < len(names):
        yield f"the steps must have names of their own, without '__'; they are {names!r}"
    if {*names} & params.keys():
        yield f"a step has the name of a parameter; the names are {names!r}"
    found = [one for _, step in steps for one in parts(step)]
    if not found or not all(isinstance(one, KernelMachine) or is_step(one) for one in found):
        yield f"the steps {names!r} hold no estimator, or something else"
    for one in found[:-1]:
        if not is_step(one):
            yield f"a {type(one).__name__} is no transformer, and can only be the last step"
    strict = [one for one in found if isinstance(one, KernelMachine) or type(one).__name__ in SCALERS]
    fitted = {
        one.__sklearn_is_fitted__() if isinstance(one, KernelMachine) else "scale_" in vars(one) for one in strict
    }
    if len(fitted) > 1 or not _widths_agree(found):
        yield f"the steps {names!r} were not fitted together"


def _widths_agree(steps: list[Any]) -> bool:
    """Return whether scalers, and the step after them, were fitted to the same number of features."""
    width = None
    for step in steps:
        own = vars(step).get("n_features_in_", width)
        if None not in (own, width) and own != width:
            return False
        width = own if type(step).__name__ in SCALERS else None
    return True


def parts(step: Any) -> Iterator[Any]:
    """Yield the estimators of a step, which may be a pipeline; a step that does nothing has none."""
    if isinstance(step, Pipeline):
        for _, inner in step.steps:
            yield from parts(inner)
    elif not (step is None or (isinstance(step, str) and step == "passthrough")):
        yield step


RULES: dict[str, Callable[[str, FileState, FileState], Iterator[str]]] = {
    **dict.fromkeys(SCALERS, _scaler),
    "SimpleImputer": _imputer,
    "OneHotEncoder": _encoder,
    "FunctionTransformer": _function,
    "ColumnTransformer": _columns,
    "Pipeline": _joined,
}
