"""Python values as JSON plus named arrays, and back: what a model file may hold, and nothing else.

JSON takes None, bool, int, str and finite floats as they are. Everything else becomes an object with the key "$", which
names its kind: array, scalar, float (infinite or NaN), tuple, dict, csr, kernel, solver, estimator. Nothing decoded can
name code to run: an estimator is one of CLASSES.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import singledispatchmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

from ..estimators import SVC, SVR, InputMarginSVC, NuSVC, NuSVR, OneClassSVM
from ..estimators.base.machine import KernelMachine
from ..estimators.incremental import IncrementalNuSVC, IncrementalOneClassSVM, IncrementalSVC, IncrementalSVR
from ..kernels import Kernel, from_spec
from ..solvers.base import Solver
from ..solvers.found import Traces
from ..solvers.table import SOLVERS

Json = Any  # None, bool, int, float, str, or a list or dict of these
STORABLE_KINDS = "biufcU"
# What a file may hold: this library's estimators, and the scaling that goes before them.
CLASSES: dict[str, type[Any]] = {
    one.__name__: one
    for one in (
        *(SVC, SVR, InputMarginSVC, NuSVC, NuSVR, OneClassSVM),
        *(IncrementalSVC, IncrementalSVR, IncrementalNuSVC, IncrementalOneClassSVM),
        *(Pipeline, StandardScaler, MinMaxScaler, MaxAbsScaler),
    )
}


class CodecError(ValueError):
    """A value that a model file cannot hold, or an entry in one that means no value."""


class Encoder:
    """Turn values into JSON; the arrays met on the way are collected by name.

    Attributes
    ----------
    arrays : dict of str to ndarray
        What the JSON refers to.
    """

    def __init__(self) -> None:
        self.arrays: dict[str, NDArray[Any]] = {}

    @singledispatchmethod
    def encode(self, value: object) -> Json:
        """Return the JSON for a value.

        Raises
        ------
        CodecError
            If the value, or one inside it, has no place in a model file.
        """
        if callable(value):
            raise CodecError(
                f"{value!r} is Python code, which has no place in a model file: "
                "use a named kernel or a Kernel object, and no callback"
            )
        raise CodecError(f"a value of type {type(value).__name__} has no place in a model file")

    @encode.register(type(None))
    @encode.register(bool)
    @encode.register(int)
    @encode.register(str)
    def _(self, value: Any) -> Json:
        return value

    @encode.register
    def _(self, value: float) -> Json:
        return value if math.isfinite(value) else {"$": "float", "value": str(value)}

    @encode.register
    def _(self, value: np.ndarray) -> Json:
        return {"$": "array", "name": self._keep(value)}

    @encode.register
    def _(self, value: np.generic) -> Json:
        return {"$": "scalar", "name": self._keep(np.asarray(value))}

    @encode.register(list)
    def _(self, value: list[Any]) -> Json:
        return [self.encode(item) for item in value]

    @encode.register(tuple)
    def _(self, value: tuple[Any, ...]) -> Json:
        return {"$": "tuple", "items": [self.encode(item) for item in value]}

    @encode.register(dict)
    def _(self, value: dict[Any, Any]) -> Json:
        for key in value:
            if not isinstance(key, (str, int, float, np.generic)):
                raise CodecError(f"a dict key of type {type(key).__name__} has no place in a model file")
        return {"$": "dict", "items": [[self.encode(key), self.encode(item)] for key, item in value.items()]}

    @encode.register(sparse.csr_matrix)
    @encode.register(sparse.csr_array)
    def _(self, value: Any) -> Json:
        parts = {name: self._keep(getattr(value, name)) for name in ("data", "indices", "indptr")}
        container = "matrix" if sparse.isspmatrix(value) else "array"
        return {"$": "csr", "container": container, "shape": list(map(int, value.shape)), **parts}

    @encode.register
    def _(self, value: Traces) -> Json:
        return {
            "$": "traces",
            "names": list(value.names),
            "rows": self._keep(value.rows),
            "ends": self._keep(value.ends),
        }

    @encode.register
    def _(self, value: Kernel) -> Json:
        try:
            return {"$": "kernel", "spec": self.encode(value.spec())}
        except TypeError as error:  # a kernel around a Python function has no description
            raise CodecError(str(error)) from error

    @encode.register
    def _(self, value: Solver) -> Json:
        name = next(name for name, kind in SOLVERS.items() if kind is type(value))
        return {"$": "solver", "solver": name, "params": self._named(vars(value))}

    @encode.register
    def _(self, value: BaseEstimator) -> Json:
        name = type(value).__name__
        if CLASSES.get(name) is not type(value):
            given = f"{type(value).__module__}.{name}"
            raise CodecError(f"a {given} cannot be stored, only {', '.join(CLASSES)} of adatron can")
        params = value.get_params(deep=False)
        lasting = value.lasting_state() if isinstance(value, KernelMachine) else vars(value)
        state = {key: item for key, item in lasting.items() if key not in params}
        return {"$": "estimator", "class": name, "params": self._named(params), "state": self._named(state)}

    def _named(self, values: dict[str, Any]) -> dict[str, Json]:
        encoded: dict[str, Json] = {}
        for key, value in values.items():
            try:
                encoded[key] = self.encode(value)
            except CodecError as error:
                raise CodecError(f"{key}: {error}") from error
        return encoded

    def _keep(self, array: NDArray[Any]) -> str:
        if array.dtype.kind in "OT" and all(isinstance(item, str) for item in array.flat):
            array = array.astype(np.str_)
        if array.dtype.kind not in STORABLE_KINDS:
            raise CodecError(
                f"an array of {array.dtype} has no place in a model file: numbers, truth values or text only"
            )
        name = f"{len(self.arrays)}.npy"
        self.arrays[name] = array
        return name


def decode(value: Json, arrays: Mapping[str, NDArray[Any]]) -> Any:
    """Return the value that `Encoder.encode` wrote as this JSON.

    Raises
    ------
    CodecError
        If the JSON names an unknown kind or an array that is not there, or makes no valid kernel or sparse matrix.
    """
    if isinstance(value, list):
        return [decode(item, arrays) for item in value]
    if not isinstance(value, dict):
        return value
    kind = value.get("$")
    if not isinstance(kind, str) or kind not in _DECODERS:
        raise CodecError(f"entry of unknown kind {kind!r}")
    try:
        return _DECODERS[kind](value, arrays)
    except (KeyError, TypeError, AttributeError, IndexError, ValueError) as error:
        raise CodecError(f"damaged entry of kind {kind!r} ({error})") from error


def _decode_csr(value: dict[str, Json], arrays: Mapping[str, NDArray[Any]]) -> Any:
    container = {"matrix": sparse.csr_matrix, "array": sparse.csr_array}[value["container"]]
    parts = tuple(arrays[value[name]] for name in ("data", "indices", "indptr"))
    matrix = container(parts, shape=tuple(value["shape"]))
    matrix.check_format(full_check=True)
    return matrix


def _decode_estimator(value: dict[str, Json], arrays: Mapping[str, NDArray[Any]]) -> Any:
    name = value["class"]
    if name not in CLASSES:
        raise CodecError(f"holds a {name!r}, which this adatron does not know")
    params, state = ({key: decode(item, arrays) for key, item in value[part].items()} for part in ("params", "state"))
    estimator = CLASSES[name](**params)
    if isinstance(estimator, KernelMachine):
        estimator.restore_state(state)
    else:
        vars(estimator).update(state)
    return estimator


_DECODERS: dict[Any, Callable[[dict[str, Json], Mapping[str, NDArray[Any]]], Any]] = {
    "array": lambda value, arrays: arrays[value["name"]],
    "scalar": lambda value, arrays: arrays[value["name"]][()],
    "float": lambda value, _: float(value["value"]),
    "tuple": lambda value, arrays: tuple(decode(item, arrays) for item in value["items"]),
    "dict": lambda value, arrays: {decode(key, arrays): decode(item, arrays) for key, item in value["items"]},
    "csr": _decode_csr,
    "estimator": _decode_estimator,
    "traces": lambda value, arrays: Traces(value["names"], arrays[value["rows"]], arrays[value["ends"]]),
    "kernel": lambda value, arrays: from_spec(decode(value["spec"], arrays)),
    "solver": lambda value, arrays: SOLVERS[value["solver"]](
        **{key: decode(item, arrays) for key, item in value["params"].items()}
    ),
}
