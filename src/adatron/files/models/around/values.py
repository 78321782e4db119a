"""Describe the values that scikit-learn's estimators hold besides numbers: types, functions by name, splitters.

Each kind of value has a `Form`: its parts, which the codec can write, and what makes the value of these parts again. A
form makes objects of its own kind only. Functions, types and classes come from the tables below, never from a file.
"""

from __future__ import annotations

import inspect
import math
import sys
from collections import UserList
from collections.abc import Callable
from dataclasses import dataclass
from functools import singledispatch
from importlib import import_module
from numbers import Real
from types import BuiltinFunctionType, FunctionType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..archive import TYPE, InvalidError

Parts = dict[str, Any]

#: Functions by the module that has them. Each takes arrays and returns one, and does nothing else.
FUNCTIONS: dict[str, tuple[str, ...]] = {
    "numpy": (
        "absolute", "arcsinh", "arctan", "cbrt", "cos", "exp", "exp2", "expm1", "fabs", "log", "log10", "log1p", "log2",
        "nan_to_num", "negative", "reciprocal", "sign", "sin", "sinh", "sqrt", "square", "tanh",
    ),
    "scipy.special": ("expit", "logit"),
    "sklearn.feature_selection": (
        "chi2", "f_classif", "f_regression", "mutual_info_classif", "mutual_info_regression", "r_regression",
    ),
    "sklearn.metrics": (
        "accuracy_score", "average_precision_score", "balanced_accuracy_score", "brier_score_loss", "cohen_kappa_score",
        "explained_variance_score", "f1_score", "fbeta_score", "hinge_loss", "jaccard_score", "log_loss",
        "matthews_corrcoef", "max_error", "mean_absolute_error", "mean_squared_error", "median_absolute_error",
        "precision_score", "r2_score", "recall_score", "roc_auc_score", "root_mean_squared_error", "zero_one_loss",
    ),
}  # fmt: skip
PLAIN_TYPES: tuple[type[Any], ...] = (float, int, bool, str, object)
NUMPY_TYPES = (
    "float64", "float32", "float16", "int64", "int32", "int16", "int8", "uint64", "uint32", "uint16", "uint8", "bool",
    "number", "integer", "floating", "generic",
)  # fmt: skip
TYPES: dict[str, type[Any]] = {
    **{kind.__name__: kind for kind in PLAIN_TYPES},
    **{f"numpy.{name}": getattr(np, name) for name in NUMPY_TYPES},
}
SPLITTERS = (
    "GroupKFold", "GroupShuffleSplit", "KFold", "LeaveOneGroupOut", "LeaveOneOut", "LeavePGroupsOut", "LeavePOut",
    "PredefinedSplit", "RepeatedKFold", "RepeatedStratifiedKFold", "ShuffleSplit", "StratifiedGroupKFold",
    "StratifiedKFold", "StratifiedShuffleSplit", "TimeSeriesSplit",
)  # fmt: skip
DISTRIBUTIONS = (
    "beta", "expon", "gamma", "halfnorm", "loguniform", "lognorm", "norm", "poisson", "randint", "reciprocal",
    "uniform",
)  # fmt: skip


class Words(dict[str, int]):
    """A vocabulary: each word with its column, the columns being 0 to n - 1."""


@dataclass(frozen=True)
class Form:
    """How values of a kind are taken apart and made again.

    Parameters
    ----------
    make : takes the parts by name
    names : the parts that there must be
    """

    make: Callable[..., Any]
    names: tuple[str, ...]


@singledispatch
def described(value: object) -> tuple[str, Parts] | None:
    """Return the kind and the parts of a value; None if no form fits it."""
    name, module = type(value).__name__, type(value).__module__
    if module.startswith("sklearn.model_selection.") and name in SPLITTERS:
        return _splitter(value, name)
    if module.startswith("sklearn.compose.") and name == "make_column_selector":
        return "selector", dict(vars(value))
    if module == "sklearn.calibration" and name == "_CalibratedClassifier":
        return "calibrated", {part: getattr(value, part) for part in FORMS["calibrated"].names}
    if module == "sklearn.metrics._scorer" and name == "_Scorer":
        return "scorer", {part: getattr(value, f"_{part}") for part in FORMS["scorer"].names}
    if module.startswith("scipy.stats.") and hasattr(value, "dist") and _listed(value):
        frozen: Any = value
        return "distribution", {"name": frozen.dist.name, "args": list(frozen.args), "kwds": dict(frozen.kwds)}
    return None


@described.register
def _(value: type) -> tuple[str, Parts] | None:
    found = [name for name, kind in TYPES.items() if kind is value]
    return ("type", {"name": found[0]}) if found else None


@described.register(np.ufunc)
@described.register(FunctionType)
@described.register(BuiltinFunctionType)
def _(value: Any) -> tuple[str, Parts] | None:
    return next(
        (
            ("function", {"module": module, "name": value.__name__})
            for module, names in FUNCTIONS.items()
            if value.__name__ in names and getattr(sys.modules.get(module), value.__name__, None) is value
        ),
        None,
    )


# numpy.nan_to_num and its like are of a type of NumPy's own
described.register(type(np.nan_to_num))(described.dispatch(FunctionType))


@described.register
def _(value: np.dtype) -> tuple[str, Parts] | None:
    return ("dtype", {"name": value.str}) if _known(value.str) else None


@described.register
def _(value: slice) -> tuple[str, Parts] | None:
    return "slice", {"start": value.start, "stop": value.stop, "step": value.step}


@described.register
def _(value: UserList) -> tuple[str, Parts] | None:  # pyright: ignore[reportMissingTypeArgument]
    # The columns of a remainder, in scikit-learn before 1.9.
    return "columns", {"items": list(value.data)}


@described.register
def _(value: np.ma.MaskedArray) -> tuple[str, Parts] | None:  # pyright: ignore[reportMissingTypeArgument]
    data: Any = np.ma.getdata(value)
    return "masked", {"data": data, "mask": np.ma.getmaskarray(value), "fill": value.fill_value}


@described.register
def _(value: Words) -> tuple[str, Parts] | None:
    words = [word.encode("utf-8", "surrogatepass") for word in sorted(value, key=value.__getitem__)]
    text = np.frombuffer(b"".join(words), np.uint8)
    return "words", {"text": text, "lengths": np.array([len(word) for word in words], np.int64)}


def objects(value: NDArray[Any]) -> tuple[str, Parts]:
    """Return the kind and the parts of an array of Python's objects."""
    return "objects", {"shape": list(value.shape), "items": list(value.flat)}


def _listed(value: Any) -> bool:
    return getattr(value.dist, "name", None) in DISTRIBUTIONS


def _splitter(value: Any, name: str) -> tuple[str, Parts]:
    wanted = inspect.signature(type(value)).parameters
    kept = {**vars(value), **vars(value).get("cvargs", {})}
    params = {key: _without_generator(item) for key, item in kept.items() if key in wanted}
    return "splitter", {"class": name, "params": params}


def _without_generator(value: Any) -> Any:
    return None if is_generator(value) else value


def is_generator(value: object) -> bool:
    """Return whether a value is a generator of random numbers, whose state no model file keeps."""
    return isinstance(value, (np.random.RandomState, np.random.Generator))


def _known(dtype: str) -> bool:
    return dtype == "|O" or TYPE.fullmatch(dtype) is not None


# --- from parts to values -----------------------------------------------------------------------------------------


def _make_type(name: str) -> type[Any]:
    return TYPES[name]


def _make_function(module: str, name: str) -> Any:
    if name not in FUNCTIONS[module]:
        raise KeyError(name)
    return getattr(import_module(module), name)


def _make_dtype(name: str) -> np.dtype[Any]:
    if not _known(name):
        raise InvalidError(f"the type {name[:50]!r} has no place in a model file")
    return np.dtype(name)


def _make_masked(data: Any, mask: Any, fill: Any) -> Any:
    if type(data) is not np.ndarray or type(mask) is not np.ndarray or mask.dtype != bool or mask.shape != data.shape:
        raise InvalidError("a masked array must have an array and a mask of its shape")
    return np.ma.MaskedArray(data, mask, fill_value=fill)


def _make_objects(shape: Any, items: Any) -> NDArray[Any]:
    sizes = shape if isinstance(shape, list) and all(type(size) is int and size >= 0 for size in shape) else None
    if sizes is None or len(sizes) > 32 or type(items) is not list or math.prod(sizes) != len(items):
        raise InvalidError("an array of objects is not as long as its shape says")
    array = np.empty(len(items), object)
    for place, item in enumerate(items):
        array[place] = item
    return array.reshape(sizes)


def _make_words(text: Any, lengths: Any) -> Words:
    arrays = all(type(one) is np.ndarray and one.ndim == 1 for one in (text, lengths))
    if not arrays or text.dtype != np.uint8 or lengths.dtype != np.int64:
        raise InvalidError("a vocabulary must have bytes, and lengths of words")
    if (lengths < 0).any() or (lengths > len(text)).any() or sum(map(int, lengths)) != len(text):
        raise InvalidError("the words of a vocabulary are not as long as their lengths say")
    ends, whole = np.cumsum(lengths), text.tobytes()
    words = [whole[end - n : end].decode("utf-8", "surrogatepass") for end, n in zip(ends, lengths, strict=True)]
    found = Words({word: column for column, word in enumerate(words)})
    if len(found) < len(words):
        raise InvalidError("a vocabulary has a word twice")
    return found


def _make_splitter(params: Parts, **named: str) -> Any:
    name = named["class"]
    if name not in SPLITTERS:
        raise KeyError(name)
    return getattr(import_module("sklearn.model_selection"), name)(**params)


def _make_selector(pattern: Any, dtype_include: Any, dtype_exclude: Any) -> Any:
    return import_module("sklearn.compose").make_column_selector(
        pattern, dtype_include=dtype_include, dtype_exclude=dtype_exclude
    )


def _make_calibrated(estimator: Any, calibrators: Any, classes: Any, method: Any) -> Any:
    kind = import_module("sklearn.calibration")._CalibratedClassifier
    return kind(estimator, calibrators, classes=classes, method=method)


def _make_scorer(score_func: Any, sign: Any, kwargs: Any, response_method: Any) -> Any:
    known = {_make_function("sklearn.metrics", name) for name in FUNCTIONS["sklearn.metrics"]}
    if score_func not in known or sign not in (1, -1):
        raise InvalidError("a scorer must have a function of sklearn.metrics, and a sign")
    maker: Any = import_module("sklearn.metrics").make_scorer
    return maker(score_func, response_method=response_method, greater_is_better=sign == 1, **kwargs)


def _make_distribution(name: str, args: Any, kwds: Any) -> Any:
    numbers = [*args, *kwds.values()]
    if name not in DISTRIBUTIONS or not all(isinstance(number, Real) for number in numbers):
        raise InvalidError(f"the distribution {name[:50]!r} is not known, or its parameters are no numbers")
    return getattr(import_module("scipy.stats"), name)(*args, **kwds)


def _make_columns(items: Any) -> list[Any]:
    return items


def _make_slice(start: Any, stop: Any, step: Any) -> slice:
    return slice(start, stop, step)


FORMS: dict[str, Form] = {
    "type": Form(_make_type, ("name",)),
    "function": Form(_make_function, ("module", "name")),
    "dtype": Form(_make_dtype, ("name",)),
    "slice": Form(_make_slice, ("start", "stop", "step")),
    "columns": Form(_make_columns, ("items",)),
    "masked": Form(_make_masked, ("data", "mask", "fill")),
    "objects": Form(_make_objects, ("shape", "items")),
    "words": Form(_make_words, ("text", "lengths")),
    "splitter": Form(_make_splitter, ("class", "params")),
    "selector": Form(_make_selector, ("pattern", "dtype_include", "dtype_exclude")),
    "calibrated": Form(_make_calibrated, ("estimator", "calibrators", "classes", "method")),
    "scorer": Form(_make_scorer, ("score_func", "sign", "kwargs", "response_method")),
    "distribution": Form(_make_distribution, ("name", "args", "kwds")),
}


def made(kind: str, parts: Parts) -> Any:
    """Return the value of a kind that has these parts."""
    if parts.keys() != set(FORMS[kind].names):
        raise InvalidError(f"an entry of kind {kind!r} must have {', '.join(FORMS[kind].names)}")
    return FORMS[kind].make(**parts)
