"""A machine as JSON plus named arrays, and back: exactly the values that a model file may hold.

JSON takes None, bool, int, str and finite floats as they are. Everything else becomes an object with the key "$", which
names its kind: array, float (infinite or NaN), tuple, dict, csr, kernel, solver, route or traces. Nothing decoded can
name code to run. The machine is one of `contents.MACHINE_CLASSES`, and its state is checked before the machine has it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ...estimators.base.machine import KernelMachine
from ...kernels import Kernel, from_spec
from ...solvers.base import Solver, Way
from ...solvers.results import Traces
from ...solvers.route import Route
from ...solvers.table import SOLVERS
from .archive import TYPE, InvalidError, taken
from .contents import MACHINE_CLASSES, check_machine, lasting_state, refusal, requests_of, restore_requests

Json = Any  # None, bool, int, float, str, or a list or dict of these
DEEPEST = 100  # Largest depth of values inside each other.
TOO_DEEP = f"values, such as sums of kernels, may be nested {DEEPEST} deep"
INFINITE = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}  # The floats that JSON has no words for.
CSR_PARTS = ("data", "indices", "indptr")
CONTAINERS = {"matrix": sparse.csr_matrix, "array": sparse.csr_array}


def encode_machine(
    machine: KernelMachine, arrays: Mapping[str, NDArray[Any]]
) -> tuple[dict[str, Json], dict[str, NDArray[Any]]]:
    """Return the entry of a machine; and given arrays, with those that the entry refers to by name.

    A ValueError says that a value has no place in a model file, or that `load` would refuse the file.
    """
    kind = type(machine)
    if MACHINE_CLASSES.get(kind.__name__) is not kind:
        raise InvalidError(refusal(machine))
    codec, state = Codec(arrays), lasting_state(machine)
    params = {name: value for name, value in machine.get_params(deep=False).items() if name != "device"}
    entry = {"class": kind.__name__, "params": codec.encode_all(params), "state": codec.encode_all(state)}
    try:
        check_machine(machine, {name: _without_objects(value) for name, value in state.items()})
    except InvalidError as error:
        raise InvalidError(f"this {kind.__name__} cannot be stored: {error}") from error
    if requests := requests_of(machine):
        entry["requests"] = requests
    return entry, codec.arrays


def decode_machine(entry: dict[str, Json], arrays: Mapping[str, NDArray[Any]]) -> KernelMachine:
    """Return the machine of an entry; a ValueError says that `save` would write no such machine."""
    name, codec = entry["class"], Codec(arrays)
    if name not in MACHINE_CLASSES:
        raise InvalidError(f"holds a {str(name)[:50]!r}, which this adatron does not know")
    params, state = codec.decode_all(entry["params"]), codec.decode_all(entry["state"])
    params.pop("device", None)  # of another computer
    try:
        machine = MACHINE_CLASSES[name](**params)
        check_machine(machine, state)
        machine.restore_state(state)
        restore_requests(machine, entry.get("requests", {}))
    except ValueError as error:
        raise InvalidError(f"{name}: {error}") from error
    return machine


class Codec:
    """Turn values into JSON and back; an InvalidError says that a value, or an entry, has no place in a model file.

    The JSON refers to ``arrays`` by their names. Each can be decoded once: no entry is larger than its part of the
    file. A value has a depth: it lies within ``depth - 1`` others.
    """

    def __init__(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self.arrays = dict(arrays)

    def encode(self, value: Any, depth: int = 1) -> Json:
        """Return the JSON for a value."""
        deeper = _deeper(depth)
        inner = partial(self.encode, depth=deeper)
        if isinstance(value, (np.ndarray, np.generic)) and not isinstance(value, np.ma.MaskedArray):
            return {"$": "array", "name": self._keep(np.asarray(value))}
        if isinstance(value, float) and not math.isfinite(value):
            return {"$": "float", "value": str(value)}
        if value is None or isinstance(value, (bool, int, str, float)):
            return value
        if isinstance(value, (list, tuple)):
            items = [inner(item) for item in value]
            return items if isinstance(value, list) else {"$": "tuple", "items": items}
        if isinstance(value, dict):
            return {"$": "dict", "items": [[inner(_key(key)), inner(item)] for key, item in value.items()]}
        if isinstance(value, (sparse.csr_matrix, sparse.csr_array)):
            parts, shape = {name: self._keep(getattr(value, name)) for name in CSR_PARTS}, value.shape
            container = "matrix" if sparse.isspmatrix(value) else "array"
            return {"$": "csr", "container": container, "shape": list(map(int, shape)), **parts}  # pyright: ignore
        if isinstance(value, (Route, Traces)):
            parts = {name: getattr(value, name) for name in ("names", "rows", "ends") if isinstance(value, Traces)}
            return {"$": type(value).__name__.lower(), "parts": self.encode_all(parts or vars(value), deeper)}
        if isinstance(value, Kernel):
            try:
                return {"$": "kernel", "spec": inner(value.spec())}
            except TypeError as error:  # a kernel that calls a Python function has no description
                raise InvalidError(str(error)) from error
        if isinstance(value, Solver):
            name = next(name for name, kind in SOLVERS.items() if kind is type(value))
            return {"$": "solver", "solver": name, "params": self.encode_all(vars(value), deeper)}
        if callable(value):
            raise InvalidError(
                f"{value!r} is Python code, which has no place in a model file: use a named kernel or a Kernel object, "
                "and no callback"
            )
        raise InvalidError(f"a value of type {type(value).__name__} has no place in a model file")

    def encode_all(self, values: Mapping[str, Any], depth: int = 1) -> dict[str, Json]:
        """Return the JSON of values by their names, which errors tell."""
        encoded: dict[str, Json] = {}
        for name, value in values.items():
            try:
                encoded[name] = self.encode(value, depth)
            except InvalidError as error:
                raise InvalidError(f"{name}: {error}") from error
        return encoded

    def _keep(self, array: NDArray[Any]) -> str:
        array, name = _without_objects(array), f"{len(self.arrays)}.npy"
        if not TYPE.fullmatch(array.dtype.str):
            raise InvalidError(
                f"an array of {array.dtype} has no place in a model file: numbers, truth values or text only"
            )
        self.arrays[name] = array
        return name

    def decode(self, value: Json, depth: int = 1) -> Any:
        """Return the value of an entry."""
        deeper = _deeper(depth)
        if isinstance(value, list):
            return [self.decode(item, deeper) for item in value]
        if not isinstance(value, dict):
            return value
        try:
            return self._made(value, deeper)
        except InvalidError:
            raise
        except (TypeError, AttributeError, LookupError, ValueError, ArithmeticError) as error:
            raise InvalidError(
                f"an entry of kind {str(value.get('$'))[:50]!r} is wrong: {str(error)[:1000]}"
            ) from error

    def _made(self, entry: dict[str, Json], depth: int) -> Any:
        inner, named = partial(self.decode, depth=depth), partial(self.decode_all, depth=depth)
        match entry.get("$"):
            case "array":
                array = taken(self.arrays, entry["name"])
                return array if array.ndim else array[()]
            case "float":
                return INFINITE[entry["value"]]
            case "tuple":
                return tuple(map(inner, entry["items"]))
            case "dict":
                return {_key(inner(key)): inner(item) for key, item in entry["items"]}
            case "csr":
                return self._csr(**entry)
            case "traces":
                return _traces(**named(entry["parts"]))
            case "route":
                return _route(**named(entry["parts"]))
            case "kernel":
                return from_spec(inner(entry["spec"]))
            case "solver":
                return _solver(entry["solver"], named(entry["params"]))
            case _:
                raise TypeError("the kind is not known")

    def decode_all(self, values: dict[str, Json], depth: int = 1) -> dict[str, Any]:
        """Return values by their names."""
        return {name: self.decode(item, depth) for name, item in values.items()}

    def _csr(self, container: str, shape: list[int], **names: str) -> Any:
        """Return a CSR matrix whose indices are known to be inside it."""
        data, indices, indptr = (taken(self.arrays, names[name]) for name in CSR_PARTS)
        if len(shape) != 2 or {indices.dtype.kind, indptr.dtype.kind} != {"i"}:
            raise InvalidError("a CSR matrix must have two sizes, and whole numbers of columns and ends of rows")
        matrix = CONTAINERS[container]((data, indices, indptr), shape=tuple(shape))
        matrix.check_format(full_check=True)
        return matrix


def _deeper(depth: int) -> int:
    if depth > DEEPEST:
        raise InvalidError(TOO_DEEP)
    return depth + 1


def _without_objects(value: Any) -> Any:
    """Return an array of Python's texts as an array of text; all else as it is."""
    of_objects = isinstance(value, np.ndarray) and value.dtype.kind in "OT"
    if not of_objects or not all(isinstance(item, str) for item in value.flat):
        return value
    if any(item.endswith("\0") for item in value.flat):
        raise InvalidError("text that ends in a character 0 has no place in a model file")
    return value.astype(np.str_)


def _key(key: Any) -> Any:
    if not isinstance(key, (str, int, float, np.generic)):
        raise InvalidError(f"a dict key of type {type(key).__name__} has no place in a model file")
    return key


def _traces(names: Any, rows: Any, ends: Any) -> Traces:
    lines = np.concatenate([[0], ends, [len(rows)]])
    if rows.dtype != np.float64 or rows.ndim != 2 or ends.dtype != np.int64 or (np.diff(lines) < 0).any():
        raise InvalidError("traces must be float64 lines, and their ends in order")
    if not all(isinstance(name, str) for name in names) or rows.shape[1] != len(names):
        raise InvalidError("traces must have a name for each column")
    return Traces(names, rows, ends)


def _route(ways: Any, then: Any, **plain: Any) -> Route:
    wanted = {field.name: field.type for field in fields(Route) if field.name not in ("ways", "then")}
    if {name: type(item).__name__ for name, item in plain.items()} != wanted:
        raise InvalidError("a route must have its own values, each of its type")
    both = np.concatenate([ways, then])
    known = both.ndim == 1 and both.dtype == np.int8 and len(ways) == len(then) > 0
    known = known and bool(np.isin(both, list(Way)).all())
    if not known or not all(0 <= item < math.inf for item in plain.values() if type(item) is not str):
        raise InvalidError("a route must have ways that are known, and no negative numbers")
    return Route(ways=ways, then=then, **plain)


def _solver(name: str, params: dict[str, Any]) -> Solver:
    kind: Any = SOLVERS[name]
    for field in fields(kind):
        # A number with the default None is chosen by the solver.
        kinds: Any = {bool: (bool,), int: (int,), str: (str, int)}
        allowed = kinds.get(type(field.default), (float, int, type(None)))
        if type(params.get(field.name, field.default)) not in allowed:
            raise InvalidError(f"the {field.name!r} of the solver {name!r} is {params[field.name]!r}")
    return kind(**params)
