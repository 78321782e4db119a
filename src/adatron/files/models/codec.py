"""A machine as JSON plus named arrays, and back: exactly the values that a model file may hold.

JSON takes None, bool, int, str and finite floats as they are. Everything else becomes an object with the key "$", which
names its kind: array, scalar, float (infinite or NaN), tuple, dict, csr, kernel, solver, route or traces. Nothing
decoded can name code to run. The machine is one of `contents.MACHINE_CLASSES`, and its state is checked before the
machine has it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ...estimators.base.machine import KernelMachine
from ...kernels import Kernel, from_spec
from ...solvers.base import Solver, Way
from ...solvers.found import Traces
from ...solvers.route import Route
from ...solvers.table import SOLVERS
from .archive import TYPE, InvalidError
from .contents import MACHINE_CLASSES, check_machine, faults, lasting_state, refusal
from .requests import requests_of, restore_requests

Json = Any  # None, bool, int, float, str, or a list or dict of these
DEEPEST = 100  # Largest depth of values inside each other.
TOO_DEEP = f"values, such as sums of kernels, may be nested {DEEPEST} deep"


class CodecError(InvalidError):
    """A value that a model file cannot hold, or an entry in one that describes no value."""


def encode_machine(machine: KernelMachine) -> tuple[dict[str, Json], dict[str, NDArray[Any]]]:
    """Return the entry of a machine, and the arrays that it refers to by name.

    Raises
    ------
    CodecError
        If a value has no place in a model file, or `load` would refuse the file.
    """
    if MACHINE_CLASSES.get(type(machine).__name__) is not type(machine):
        raise CodecError(refusal(machine))
    encoder, state = Encoder(), lasting_state(machine)
    params = {name: value for name, value in machine.get_params(deep=False).items() if name != "device"}
    entry: dict[str, Json] = {"class": type(machine).__name__}
    entry |= {"params": encoder.named(params), "state": encoder.named(state)}
    try:
        check_machine(machine, {name: _without_objects(value) for name, value in state.items()})
    except InvalidError as error:
        raise CodecError(f"this {type(machine).__name__} cannot be stored: {error}") from error
    except ValueError as error:  # from scikit-learn, about a parameter
        raise CodecError(str(error)) from error
    if fault := faults(machine):
        raise CodecError(f"this {type(machine).__name__} cannot be stored: {fault}")
    requests = requests_of(machine)
    return {**entry, **({"requests": requests} if requests else {})}, encoder.arrays


def decode_machine(entry: dict[str, Json], arrays: Mapping[str, NDArray[Any]]) -> KernelMachine:
    """Return the machine of an entry.

    Raises
    ------
    InvalidError
        If the entry describes no machine that `save` would write.
    """
    name, decoder = entry["class"], Decoder(arrays)
    if name not in MACHINE_CLASSES:
        raise CodecError(f"holds a {str(name)[:50]!r}, which this adatron does not know")
    params, state = decoder.named(entry["params"]), decoder.named(entry["state"])
    params.pop("device", None)  # of another computer
    try:
        machine = MACHINE_CLASSES[name](**params)
        check_machine(machine, state)
        machine.restore_state(state)
        restore_requests(machine, entry.get("requests", {}))
    except ValueError as error:
        raise CodecError(f"{name}: {str(error)[:1000]}") from error
    return machine


class Encoder:
    """Turn values into JSON; the arrays met on the way are collected by name.

    Attributes
    ----------
    arrays : dict of str to ndarray
        Arrays that the JSON refers to.
    """

    def __init__(self) -> None:
        self.arrays: dict[str, NDArray[Any]] = {}
        self._depth = 0

    def encode(self, value: object) -> Json:
        """Return the JSON for a value.

        Raises
        ------
        CodecError
            If the value, or one inside it, has no place in a model file.
        """
        self._depth += 1
        try:
            if self._depth > DEEPEST:
                raise CodecError(TOO_DEEP)
            return self._encode(value)
        finally:
            self._depth -= 1

    def _encode(self, value: Any) -> Json:
        if isinstance(value, np.generic):
            return {"$": "scalar", "name": self._keep(np.asarray(value))}
        if value is None or isinstance(value, (bool, int, str)):
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else {"$": "float", "value": str(value)}
        if isinstance(value, np.ndarray) and not isinstance(value, np.ma.MaskedArray):
            return {"$": "array", "name": self._keep(value)}
        if isinstance(value, (list, tuple)):
            items = [self.encode(item) for item in cast("list[Any]", value)]
            return items if isinstance(value, list) else {"$": "tuple", "items": items}
        if isinstance(value, dict):
            pairs = cast("dict[Any, Any]", value).items()
            return {"$": "dict", "items": [[self.encode(_key(key)), self.encode(item)] for key, item in pairs]}
        if isinstance(value, (sparse.csr_matrix, sparse.csr_array)):
            parts = {name: self._keep(getattr(value, name)) for name in ("data", "indices", "indptr")}
            container = "matrix" if sparse.isspmatrix(value) else "array"
            return {"$": "csr", "container": container, "shape": list(map(int, cast("Any", value).shape)), **parts}
        if isinstance(value, (Route, Traces)):
            return {"$": type(value).__name__.lower(), "parts": self.named(_parts(value))}
        if isinstance(value, Kernel):
            try:
                return {"$": "kernel", "spec": self.encode(value.spec())}
            except TypeError as error:  # a kernel that calls a Python function has no description
                raise CodecError(str(error)) from error
        if isinstance(value, Solver):
            name = next(name for name, kind in SOLVERS.items() if kind is type(value))
            return {"$": "solver", "solver": name, "params": self.named(vars(value))}
        if callable(value):
            raise CodecError(
                f"{value!r} is Python code, which has no place in a model file: use a named kernel or a Kernel object, "
                "and no callback"
            )
        raise CodecError(f"a value of type {type(value).__name__} has no place in a model file")

    def named(self, values: Mapping[str, Any]) -> dict[str, Json]:
        """Return the JSON of values by their names, which errors tell."""
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


def _parts(value: Route | Traces) -> dict[str, Any]:
    return (
        vars(value) if isinstance(value, Route) else {name: getattr(value, name) for name in ("names", "rows", "ends")}
    )


def _key(key: Any) -> Any:
    if not isinstance(key, (str, int, float, np.generic)):
        raise CodecError(f"a dict key of type {type(key).__name__} has no place in a model file")
    return key


class Decoder:
    """Turn JSON into values; each array can be used once, so that no entry is larger than its part of the file."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self._arrays, self._depth = dict(arrays), 0
        self._kinds: dict[str, Callable[[dict[str, Json]], Any]] = {
            "array": lambda value: self._array(value["name"]),
            "scalar": lambda value: self._array(value["name"], ndim=0)[()],
            "float": lambda value: {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}[value["value"]],
            "tuple": lambda value: tuple(self._listed(value["items"])),
            "dict": lambda value: {_key(self.decode(key)): self.decode(item) for key, item in value["items"]},
            "csr": self._csr,
            "traces": lambda value: _traces(**self.named(value["parts"])),
            "route": lambda value: _route(**self.named(value["parts"])),
            "kernel": lambda value: from_spec(self.decode(value["spec"])),
            "solver": lambda value: _solver(value["solver"], self.named(value["params"])),
        }

    def decode(self, value: Json) -> Any:
        """Return the value of an entry.

        Raises
        ------
        CodecError
            If the entry is of an unknown kind, names a missing array, or describes an invalid value.
        """
        self._depth += 1
        try:
            if self._depth > DEEPEST:
                raise CodecError(TOO_DEEP)
            if isinstance(value, list):
                return self._listed(value)
            return self._made(value) if isinstance(value, dict) else value
        finally:
            self._depth -= 1

    def _made(self, value: dict[str, Json]) -> Any:
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

    def _listed(self, values: Any) -> list[Any]:
        if not isinstance(values, list):
            raise TypeError("no list")
        return [self.decode(item) for item in cast("list[Json]", values)]

    def named(self, values: Any) -> dict[str, Any]:
        """Return values by their names."""
        return {name: self.decode(item) for name, item in values.items()}

    def _array(self, name: Any, ndim: int | None = None) -> NDArray[Any]:
        if not isinstance(name, str) or name not in self._arrays:
            raise CodecError(f"there is no array {str(name)[:50]!r}, or it is used twice")
        array = self._arrays.pop(name)
        if ndim is not None and array.ndim != ndim:
            raise CodecError(f"the array {name} must have {ndim} dimensions; it has {array.ndim}")
        return array

    def _csr(self, value: dict[str, Any]) -> Any:
        """Return a CSR matrix whose indices are known to be inside it."""
        container = {"matrix": sparse.csr_matrix, "array": sparse.csr_array}[value["container"]]
        data, indices, indptr = (self._array(value[name], 1) for name in ("data", "indices", "indptr"))
        shape = self._listed(value["shape"])
        whole = len(shape) == 2 and all(type(size) is int and 0 <= size < 2**63 for size in shape)
        if not whole or {indices.dtype.kind, indptr.dtype.kind} != {"i"} or len(indptr) != shape[0] + 1:
            raise InvalidError("a CSR matrix must have two sizes, and whole numbers of columns and ends of rows")
        matrix = container((data, indices, indptr), shape=tuple(shape))
        matrix.check_format(full_check=True)
        return matrix


def _traces(names: Any, rows: Any, ends: Any) -> Traces:
    lines = np.concatenate([[0], ends, [len(rows)]])
    if rows.dtype != np.float64 or rows.ndim != 2 or ends.dtype != np.int64 or (np.diff(lines) < 0).any():
        raise InvalidError("traces must be float64 lines, and their ends in order")
    if not all(isinstance(name, str) for name in names) or rows.shape[1] != len(names):
        raise InvalidError("traces must have a name for each column")
    return Traces(names, rows, ends)


def _route(ways: Any, then: Any, **plain: Any) -> Route:
    kinds = {"bool": bool, "str": str, "int": int, "float": float}
    wanted = {field.name: kinds[str(field.type)] for field in fields(Route) if field.name not in ("ways", "then")}
    if {name: type(item) for name, item in plain.items()} != wanted:
        raise InvalidError("a route must have its own values, each of its type")
    numbers = [item for item in plain.values() if type(item) is not str]
    both = np.concatenate([ways, then])
    known = both.ndim == 1 and both.dtype == np.int8 and len(ways) == len(then) > 0
    known = known and bool(np.isin(both, list(Way)).all())
    if not known or not all(0 <= item < math.inf for item in numbers):
        raise InvalidError("a route must have ways that are known, and no negative numbers")
    return Route(ways=ways, then=then, **plain)


def _solver(name: str, params: dict[str, Any]) -> Solver:
    kind = SOLVERS[name]
    of_dataclass: Any = kind
    defaults: dict[str, Any] = {field.name: field.default for field in fields(of_dataclass)}
    for param, given in params.items():
        # A number with the default None is chosen by the solver.
        allowed: Any = {bool: (bool,), int: (int,), str: (str, int)}.get(
            type(defaults[param]), (float, int, type(None))
        )
        if type(given) not in allowed:
            raise InvalidError(f"the {param!r} of the solver {name!r} is {given!r}")
    return kind(**params)
