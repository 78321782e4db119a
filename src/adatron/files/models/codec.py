"""Python values as JSON plus named arrays, and back: exactly the values that a model file may hold.

JSON takes None, bool, int, str and finite floats as they are. Everything else becomes an object with the key "$", which
names its kind: array, scalar, float (infinite or NaN), tuple, dict, csr, kernel, solver, estimator. Nothing decoded can
name code to run: an estimator is one of CLASSES, and its state is checked, see `contents`, before the estimator has it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import singledispatchmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

from ...estimators.base.machine import KernelMachine
from ...kernels import Kernel, from_spec
from ...solvers.base import Solver, Way
from ...solvers.found import Traces
from ...solvers.route import Route
from ...solvers.table import SOLVERS
from .archive import TYPE, InvalidError
from .contents import CLASSES, check_estimator, complete, lasting_state

Json = Any  # None, bool, int, float, str, or a list or dict of these
DEEPEST = 100  # Largest depth of values inside each other.
MOST = 2**20  # Most values in all.
TOO_DEEP = f"values, such as sums of kernels, may be nested {DEEPEST} deep"
TOO_MANY = f"at most {MOST} values besides those in arrays may be in a model file"


class CodecError(InvalidError):
    """A value that a model file cannot hold, or an entry in one that describes no value."""


class Count:
    """Counts values, and how deep they are nested."""

    def __init__(self) -> None:
        self.values = self.depth = 0

    def __enter__(self) -> None:
        self.values, self.depth = self.values + 1, self.depth + 1
        if self.depth > DEEPEST:
            raise CodecError(TOO_DEEP)
        if self.values > MOST:
            raise CodecError(TOO_MANY)

    def __exit__(self, *_: object) -> None:
        self.depth -= 1


class Encoder:
    """Turn values into JSON; the arrays met on the way are collected by name.

    Attributes
    ----------
    arrays : dict of str to ndarray
        Arrays that the JSON refers to.
    """

    def __init__(self) -> None:
        self.arrays: dict[str, NDArray[Any]] = {}
        self._count = Count()

    def encode(self, value: object) -> Json:
        """Return the JSON for a value.

        Raises
        ------
        CodecError
            If the value, or one inside it, has no place in a model file.
        """
        with self._count:
            return self._encode(value)

    @singledispatchmethod
    def _encode(self, value: object) -> Json:
        if callable(value):
            raise CodecError(
                f"{value!r} is Python code, which has no place in a model file: "
                "use a named kernel or a Kernel object, and no callback"
            )
        raise CodecError(f"a value of type {type(value).__name__} has no place in a model file")

    @_encode.register(type(None))
    @_encode.register(bool)
    @_encode.register(int)
    @_encode.register(str)
    def _(self, value: Any) -> Json:
        return value

    @_encode.register
    def _(self, value: float) -> Json:
        return value if math.isfinite(value) else {"$": "float", "value": str(value)}

    @_encode.register
    def _(self, value: np.ndarray) -> Json:
        return {"$": "array", "name": self._keep(value)}

    @_encode.register
    def _(self, value: np.generic) -> Json:
        return {"$": "scalar", "name": self._keep(np.asarray(value))}

    @_encode.register(list)
    def _(self, value: list[Any]) -> Json:
        return [self.encode(item) for item in value]

    @_encode.register(tuple)
    def _(self, value: tuple[Any, ...]) -> Json:
        return {"$": "tuple", "items": [self.encode(item) for item in value]}

    @_encode.register(dict)
    def _(self, value: dict[Any, Any]) -> Json:
        for key in value:
            if not isinstance(key, (str, int, float, np.generic)):
                raise CodecError(f"a dict key of type {type(key).__name__} has no place in a model file")
        return {"$": "dict", "items": [[self.encode(key), self.encode(item)] for key, item in value.items()]}

    @_encode.register(sparse.csr_matrix)
    @_encode.register(sparse.csr_array)
    def _(self, value: Any) -> Json:
        parts = {name: self._keep(getattr(value, name)) for name in ("data", "indices", "indptr")}
        container = "matrix" if sparse.isspmatrix(value) else "array"
        return {"$": "csr", "container": container, "shape": list(map(int, value.shape)), **parts}

    @_encode.register
    def _(self, value: Route) -> Json:
        plain = {name: item for name, item in vars(value).items() if name not in ("ways", "then")}
        arrays = {name: self._keep(getattr(value, name)) for name in ("ways", "then")}
        return {"$": "route", **arrays, "plain": self._named(plain)}

    @_encode.register
    def _(self, value: Traces) -> Json:
        return {
            "$": "traces",
            "names": list(value.names),
            "rows": self._keep(value.rows),
            "ends": self._keep(value.ends),
        }

    @_encode.register
    def _(self, value: Kernel) -> Json:
        try:
            return {"$": "kernel", "spec": self.encode(value.spec())}
        except TypeError as error:  # a kernel that calls a Python function has no description
            raise CodecError(str(error)) from error

    @_encode.register
    def _(self, value: Solver) -> Json:
        name = next(name for name, kind in SOLVERS.items() if kind is type(value))
        return {"$": "solver", "solver": name, "params": self._named(vars(value))}

    @_encode.register
    def _(self, value: BaseEstimator) -> Json:
        name = type(value).__name__
        if CLASSES.get(name) is not type(value):
            given = f"{type(value).__module__}.{name}"
            raise CodecError(f"a {given} cannot be stored, only {', '.join(CLASSES)} of adatron can")
        params, state = value.get_params(deep=False), lasting_state(value)
        if isinstance(value, Pipeline):
            params["memory"] = None  # a folder of this machine, whose files are pickles
        encoded = {"$": "estimator", "class": name, "params": self._named(params), "state": self._named(state)}
        try:
            check_estimator(value, {key: _without_objects(item) for key, item in state.items()})
        except InvalidError as error:
            raise CodecError(f"this {name} cannot be stored: {error}") from error
        except ValueError as error:  # from scikit-learn, about a parameter
            raise CodecError(str(error)) from error
        return encoded

    def _named(self, values: dict[str, Any]) -> dict[str, Json]:
        encoded: dict[str, Json] = {}
        for key, value in values.items():
            try:
                encoded[key] = self.encode(value)
            except CodecError as error:
                raise CodecError(f"{key}: {error}") from error
        return encoded

    def _keep(self, array: NDArray[Any]) -> str:
        array = _without_objects(array)
        if not TYPE.fullmatch(array.dtype.str):
            raise CodecError(
                f"an array of {array.dtype} has no place in a model file: numbers, truth values or text only"
            )
        name = f"{len(self.arrays)}.npy"
        self.arrays[name] = array
        return name


def _without_objects(value: Any) -> Any:
    """Return an array of Python's texts as an array of text; all else as it is."""
    of_objects = isinstance(value, np.ndarray) and value.dtype.kind in "OT"
    return value.astype(np.str_) if of_objects and all(isinstance(item, str) for item in value.flat) else value


def decode(value: Json, arrays: Mapping[str, NDArray[Any]]) -> Any:
    """Return the value that `Encoder.encode` wrote as this JSON.

    Raises
    ------
    CodecError
        If the JSON names an unknown kind or a missing array, or describes an invalid kernel, sparse matrix or
        estimator; if an array is used twice, or never.
    """
    decoder = _Decoder(arrays)
    found = decoder.decode(value)
    if decoder.arrays:
        raise CodecError(f"nothing uses the array {min(decoder.arrays)}")
    return found


class _Decoder:
    """Turn JSON into values; each array can be used once, so that no entry is larger than its part of the file."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self.arrays = dict(arrays)
        self._count = Count()
        self._kinds: dict[str, Callable[[dict[str, Json]], Any]] = {
            "array": lambda value: self._array(value["name"]),
            "scalar": lambda value: self._array(value["name"], ndim=0)[()],
            "float": lambda value: {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}[value["value"]],
            "tuple": lambda value: tuple(self._list(value["items"])),
            "dict": lambda value: {_key(self.decode(key)): self.decode(item) for key, item in value["items"]},
            "csr": self._csr,
            "estimator": self._estimator,
            "traces": self._traces,
            "route": self._route,
            "kernel": lambda value: from_spec(self.decode(value["spec"])),
            "solver": self._solver,
        }

    def decode(self, value: Json) -> Any:
        """Return the value of an entry."""
        with self._count:
            if isinstance(value, list):
                return self._list(value)
            if not isinstance(value, dict):
                return value
            kind = value.get("$")
            if not isinstance(kind, str) or kind not in self._kinds:
                raise CodecError(f"entry of unknown kind {str(kind)[:50]!r}")
            try:
                return self._kinds[kind](value)
            except InvalidError:
                raise
            except KeyError as error:
                raise CodecError(f"an entry of kind {kind!r} has no or an unknown {error}") from error
            except (TypeError, AttributeError, IndexError, ValueError, ArithmeticError) as error:
                raise CodecError(f"an entry of kind {kind!r} is wrong: {str(error)[:1000]}") from error

    def _list(self, values: list[Json]) -> list[Any]:
        if not isinstance(values, list):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError("no list")
        return [self.decode(item) for item in values]

    def _named(self, values: dict[str, Json]) -> dict[str, Any]:
        return {name: self.decode(item) for name, item in values.items()}

    def _array(self, name: Json, ndim: int | None = None) -> NDArray[Any]:
        if not isinstance(name, str) or name not in self.arrays:
            raise CodecError(f"there is no array {str(name)[:50]!r}, or it is used twice")
        array = self.arrays.pop(name)
        if ndim is not None and array.ndim != ndim:
            raise CodecError(f"the array {name} must have {ndim} dimensions; it has {array.ndim}")
        return array

    def _csr(self, value: dict[str, Json]) -> Any:
        container = {"matrix": sparse.csr_matrix, "array": sparse.csr_array}[value["container"]]
        data, indices, indptr = (self._array(value[name], 1) for name in ("data", "indices", "indptr"))
        shape = self._list(value["shape"])
        whole = len(shape) == 2 and all(type(size) is int and 0 <= size < 2**63 for size in shape)
        if not whole or {indices.dtype.kind, indptr.dtype.kind} != {"i"} or len(indptr) != shape[0] + 1:
            raise CodecError("a CSR matrix must have two sizes, and whole numbers of columns and ends of rows")
        matrix = container((data, indices, indptr), shape=tuple(shape))
        matrix.check_format(full_check=True)
        return matrix

    def _traces(self, value: dict[str, Json]) -> Traces:
        names = self._list(value["names"])
        rows, ends = self._array(value["rows"], 2), self._array(value["ends"], 1)
        lines = np.concatenate([[0], ends, [len(rows)]])
        if rows.dtype != np.float64 or ends.dtype != np.int64 or (np.diff(lines) < 0).any():
            raise CodecError("traces must be float64 lines, and their ends in order")
        if not all(isinstance(name, str) for name in names) or rows.shape[1] != len(names):
            raise CodecError("traces must have a name for each column")
        return Traces(names, rows, ends)

    def _route(self, value: dict[str, Json]) -> Route:
        ways, then = (self._array(value[name], 1) for name in ("ways", "then"))
        plain = self._named(value["plain"])
        kinds = {"bool": bool, "str": str, "int": int, "float": float}
        wanted = {field.name: kinds[str(field.type)] for field in fields(Route) if field.name not in ("ways", "then")}
        if {name: type(item) for name, item in plain.items()} != wanted:
            raise CodecError("a route must have its own values, each of its type")
        numbers = [item for item in plain.values() if type(item) is not str]
        both = np.concatenate([ways, then])
        known = both.dtype == np.int8 and len(ways) == len(then) > 0 and bool(np.isin(both, list(Way)).all())
        if not known or not all(0 <= item < math.inf for item in numbers):
            raise CodecError("a route must have ways that are known, and no negative numbers")
        return Route(ways=ways, then=then, **plain)

    def _solver(self, value: dict[str, Json]) -> Solver:
        kind, params = SOLVERS[value["solver"]], self._named(value["params"])
        of_dataclass: Any = kind
        defaults: dict[str, Any] = {field.name: field.default for field in fields(of_dataclass)}
        for name, given in params.items():
            # A number with the default None is chosen by the solver.
            allowed: Any = {bool: (bool,), int: (int,)}.get(type(defaults[name]), (float, int, type(None)))
            if type(given) not in allowed:
                raise CodecError(f"the {name!r} of the solver {value['solver']!r} is {given!r}")
        return kind(**params)

    def _estimator(self, value: dict[str, Json]) -> Any:
        name = value["class"]
        if name not in CLASSES:
            raise CodecError(f"holds a {str(name)[:50]!r}, which this adatron does not know")
        params, state = self._named(value["params"]), self._named(value["state"])
        if CLASSES[name] is Pipeline:
            params["memory"] = None  # the maker of a file may not choose a folder of pickles here
        estimator = CLASSES[name](**params)
        complete(estimator, state)
        try:
            check_estimator(estimator, state)
        except InvalidError as error:
            raise CodecError(f"{name}: {error}") from error
        if isinstance(estimator, KernelMachine):
            estimator.restore_state(state)
        else:
            vars(estimator).update(state)
        return estimator


def _key(key: Any) -> Any:
    if not isinstance(key, (str, int, float, np.generic)):
        raise CodecError(f"a dict key of type {type(key).__name__} has no place in a model file")
    return key
