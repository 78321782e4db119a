"""Python values as JSON plus named arrays, and back: exactly the values that a model file may hold.

JSON takes None, bool, int, str and finite floats as they are. Everything else becomes an object with the key "$", which
names its kind: array, scalar, float (infinite or NaN), tuple, dict, csr, kernel, solver, route, traces, estimator, or
one of the forms of steps in `own_values`. Nothing decoded can name code to run. An estimator is one of
`contents.MACHINE_CLASSES`, or a step of `steps`. Its state is checked before the estimator has it.
"""

from __future__ import annotations

import math
from collections import UserList
from collections.abc import Callable, Mapping
from functools import singledispatchmethod
from typing import Any, cast

import numpy as np
import sklearn
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator

from ...estimators.base.machine import KernelMachine
from ...estimators.incremental.machine import Incremental
from ...kernels import Kernel, from_spec
from ...solvers.base import Solver
from ...solvers.found import Traces
from ...solvers.route import Route
from ...solvers.table import SOLVERS
from .archive import TYPE, InvalidError
from .contents import MACHINE_CLASSES, check_machine, faults, lasting_state
from .own_values import FORMS, NAMED_TYPES, csr, form, route, solver, traces
from .requests import requests_of, restore_requests
from .steps import MODULES, PLAIN_STEPS, check_step, is_step, put_together, refusal, settled, state_of

Json = Any  # None, bool, int, float, str, or a list or dict of these
DEEPEST = 100  # Largest depth of values inside each other.
MOST_ENTRIES = 2**20  # Most values in all.
TOO_DEEP = f"values, such as sums of kernels, may be nested {DEEPEST} deep"
TOO_MANY = f"at most {MOST_ENTRIES} values besides those in arrays may be in a model file"


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
        if self.values > MOST_ENTRIES:
            raise CodecError(TOO_MANY)

    def __exit__(self, *_: object) -> None:
        self.depth -= 1


class Encoder:
    """Turn values into JSON; the arrays met on the way are collected by name.

    Attributes
    ----------
    arrays : dict of str to ndarray
        Arrays that the JSON refers to.
    steps : bool
        Whether there is a step whose state depends on scikit-learn's version.
    learning : list
        The fitted incremental models.
    """

    def __init__(self) -> None:
        self.arrays: dict[str, NDArray[Any]] = {}
        self.steps = False
        self.learning: list[Incremental] = []
        self._count = Count()
        self._exact = False  # whether arrays of objects stay what they are, as scikit-learn's estimators need it

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
                f"{value!r} is Python code, which has no place in a model file: use a named kernel or a Kernel object, "
                "no callback, and columns by their names or numbers"
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
        if self._exact and value.dtype.kind == "O":
            return self._form("objects", {"shape": list(value.shape), "items": list(value.flat)})
        if isinstance(value, np.ma.MaskedArray):
            raise CodecError("an array with a mask has no place in a model file")
        return {"$": "array", "name": self._keep(value)}

    @_encode.register
    def _(self, value: type) -> Json:
        names = [name for name, kind in NAMED_TYPES.items() if kind is value]
        if not names:
            raise CodecError(f"{value!r} has no place in a model file")
        return self._form("type", {"name": names[0]})

    @_encode.register
    def _(self, value: np.dtype) -> Json:
        return self._form("dtype", {"name": value.str})

    @_encode.register
    def _(self, value: slice) -> Json:
        return self._form("slice", {"start": value.start, "stop": value.stop, "step": value.step})

    @_encode.register
    def _(self, value: np.generic) -> Json:
        return {"$": "scalar", "name": self._keep(np.asarray(value))}

    @_encode.register(list)
    @_encode.register(UserList)  # the columns of a remainder, in scikit-learn before 1.9
    def _(self, value: Any) -> Json:
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
        name, step = type(value).__name__, is_step(value)
        if not (step or MACHINE_CLASSES.get(name) is type(value)):
            raise CodecError(refusal(value))
        state = state_of(value) if step else lasting_state(value)  # pyright: ignore[reportArgumentType]
        versioned = step and name not in PLAIN_STEPS
        before, self._exact, self.steps = self._exact, versioned, self.steps or versioned
        try:
            encoded = self._estimator(name, value, settled(value.get_params(deep=False)), state)
            self._check(value, state)
        except CodecError:
            raise
        except InvalidError as error:
            raise CodecError(f"this {name} cannot be stored: {error}") from error
        except ValueError as error:  # from scikit-learn, about a parameter
            raise CodecError(str(error)) from error
        finally:
            self._exact = before
        return encoded

    def _check(self, value: Any, state: dict[str, Any]) -> None:
        """Refuse what `load` would refuse."""
        if not isinstance(value, KernelMachine):
            check_step(value, state)
            return
        check_machine(value, {key: _without_objects(item) for key, item in state.items()})
        if fault := faults(value):
            raise InvalidError(fault)
        if isinstance(value, Incremental) and "_store" in state:
            self.learning.append(value)

    def _estimator(self, name: str, value: Any, params: dict[str, Any], state: dict[str, Any]) -> dict[str, Json]:
        params.pop("device", None)  # of this computer; another one may have none
        parts = {"params": self._named(params), "state": self._named(state)}
        requests = requests_of(value)
        return {"$": "estimator", "class": name, **parts, **({"requests": self.encode(requests)} if requests else {})}

    def _form(self, kind: str, parts: dict[str, Any]) -> dict[str, Json]:
        return {"$": kind, "parts": self._named(parts)}

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
    if not of_objects or not all(isinstance(item, str) for item in value.flat):
        return value
    if any(item.endswith("\0") for item in value.flat):
        raise CodecError("text that ends in a character 0 has no place in a model file")
    return value.astype(np.str_)


def decode(value: Json, arrays: Mapping[str, NDArray[Any]], version: str = sklearn.__version__) -> Any:
    """Return the value that `Encoder.encode` wrote as this JSON, with this version of scikit-learn.

    Raises
    ------
    CodecError
        If the JSON names an unknown kind or a missing array, or describes an invalid kernel, sparse matrix or
        estimator; if an array is used twice, or never.
    """
    decoder = _Decoder(arrays, version)
    found = decoder.decode(value)
    if decoder.arrays:
        raise CodecError(f"nothing uses the array {min(decoder.arrays)}")
    return found


class _Decoder:
    """Turn JSON into values; each array can be used once, so that no entry is larger than its part of the file."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]], version: str) -> None:
        self.arrays, self._version = dict(arrays), version
        self._count = Count()
        self._kinds: dict[str, Callable[[dict[str, Json]], Any]] = {
            "array": lambda value: self.array(value["name"]),
            "scalar": lambda value: self.array(value["name"], ndim=0)[()],
            "float": lambda value: {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}[value["value"]],
            "tuple": lambda value: tuple(self.listed(value["items"])),
            "dict": lambda value: {_key(self.decode(key)): self.decode(item) for key, item in value["items"]},
            "csr": lambda value: csr(self, value),
            "estimator": self._estimator,
            "traces": lambda value: traces(self, value),
            "route": lambda value: route(self, value),
            "kernel": lambda value: from_spec(self.decode(value["spec"])),
            "solver": lambda value: solver(self, value),
            **dict.fromkeys(FORMS, lambda value: form(self, value)),
        }

    def decode(self, value: Json) -> Any:
        """Return the value of an entry."""
        with self._count:
            if isinstance(value, list):
                return self.listed(value)
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

    def listed(self, values: Any) -> list[Any]:
        if not isinstance(values, list):
            raise TypeError("no list")
        return [self.decode(item) for item in cast("list[Json]", values)]

    def named(self, values: Any) -> dict[str, Any]:
        return {name: self.decode(item) for name, item in values.items()}

    def array(self, name: Any, ndim: int | None = None) -> NDArray[Any]:
        if not isinstance(name, str) or name not in self.arrays:
            raise CodecError(f"there is no array {str(name)[:50]!r}, or it is used twice")
        array = self.arrays.pop(name)
        if ndim is not None and array.ndim != ndim:
            raise CodecError(f"the array {name} must have {ndim} dimensions; it has {array.ndim}")
        return array

    def _estimator(self, value: dict[str, Json]) -> Any:
        name = value["class"]
        if name not in MACHINE_CLASSES and name not in MODULES:
            raise CodecError(f"holds a {str(name)[:50]!r}, which this adatron does not know")
        params, state = self.named(value["params"]), self.named(value["state"])
        try:
            if name in MODULES:
                estimator: Any = put_together(name, params, state, self._version)
            else:
                params.pop("device", None)
                estimator = MACHINE_CLASSES[name](**params)
                check_machine(estimator, state)
                estimator.restore_state(state)
            restore_requests(estimator, self.decode(value.get("requests", {"$": "dict", "items": []})))
        except ValueError as error:
            raise CodecError(f"{name}: {str(error)[:1000]}") from error
        return estimator


def _key(key: Any) -> Any:
    if not isinstance(key, (str, int, float, np.generic)):
        raise CodecError(f"a dict key of type {type(key).__name__} has no place in a model file")
    return key
