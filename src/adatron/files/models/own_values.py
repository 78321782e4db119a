"""Make values of their entries in a model file: CSR rows, traces, routes and solvers of machines; what steps hold.

A step of scikit-learn also holds slices, types and arrays of Python's objects. Types come from a table, never from a
file.
"""

from __future__ import annotations

import math
from dataclasses import fields
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ...solvers.base import Solver, Way
from ...solvers.found import Traces
from ...solvers.route import Route
from ...solvers.table import SOLVERS
from .archive import TYPE, InvalidError

NUMPY_TYPES = (
    "float64", "float32", "float16", "int64", "int32", "int16", "int8", "uint64", "uint32", "uint16", "uint8", "bool",
)  # fmt: skip
NAMED_TYPES: dict[str, type[Any]] = {
    **{kind.__name__: kind for kind in (float, int, bool, str, object)},
    **{f"numpy.{name}": getattr(np, name) for name in NUMPY_TYPES},
}
#: Parts of the values that steps hold.
FORMS = {"type": ("name",), "dtype": ("name",), "slice": ("start", "stop", "step"), "objects": ("shape", "items")}


class Decoder(Protocol):
    """Makes values of the parts of an entry."""

    def array(self, name: Any, ndim: int | None = None) -> NDArray[Any]:
        """Return an array of the file."""
        ...

    def listed(self, values: Any) -> list[Any]:
        """Return the values of a list."""
        ...

    def named(self, values: Any) -> dict[str, Any]:
        """Return named values."""
        ...


def csr(decoder: Decoder, value: dict[str, Any]) -> Any:
    """Return the CSR matrix of an entry, whose indices are known to be inside it."""
    container = {"matrix": sparse.csr_matrix, "array": sparse.csr_array}[value["container"]]
    data, indices, indptr = (decoder.array(value[name], 1) for name in ("data", "indices", "indptr"))
    shape = decoder.listed(value["shape"])
    whole = len(shape) == 2 and all(type(size) is int and 0 <= size < 2**63 for size in shape)
    if not whole or {indices.dtype.kind, indptr.dtype.kind} != {"i"} or len(indptr) != shape[0] + 1:
        raise InvalidError("a CSR matrix must have two sizes, and whole numbers of columns and ends of rows")
    matrix = container((data, indices, indptr), shape=tuple(shape))
    matrix.check_format(full_check=True)
    return matrix


def traces(decoder: Decoder, value: dict[str, Any]) -> Traces:
    """Return the traces of an entry."""
    names = decoder.listed(value["names"])
    rows, ends = decoder.array(value["rows"], 2), decoder.array(value["ends"], 1)
    lines = np.concatenate([[0], ends, [len(rows)]])
    if rows.dtype != np.float64 or ends.dtype != np.int64 or (np.diff(lines) < 0).any():
        raise InvalidError("traces must be float64 lines, and their ends in order")
    if not all(isinstance(name, str) for name in names) or rows.shape[1] != len(names):
        raise InvalidError("traces must have a name for each column")
    return Traces(names, rows, ends)


def route(decoder: Decoder, value: dict[str, Any]) -> Route:
    """Return the route of an entry."""
    ways, then = (decoder.array(value[name], 1) for name in ("ways", "then"))
    plain = decoder.named(value["plain"])
    kinds = {"bool": bool, "str": str, "int": int, "float": float}
    wanted = {field.name: kinds[str(field.type)] for field in fields(Route) if field.name not in ("ways", "then")}
    if {name: type(item) for name, item in plain.items()} != wanted:
        raise InvalidError("a route must have its own values, each of its type")
    numbers = [item for item in plain.values() if type(item) is not str]
    both = np.concatenate([ways, then])
    known = both.dtype == np.int8 and len(ways) == len(then) > 0 and bool(np.isin(both, list(Way)).all())
    if not known or not all(0 <= item < math.inf for item in numbers):
        raise InvalidError("a route must have ways that are known, and no negative numbers")
    return Route(ways=ways, then=then, **plain)


def solver(decoder: Decoder, value: dict[str, Any]) -> Solver:
    """Return the solver of an entry."""
    kind, params = SOLVERS[value["solver"]], decoder.named(value["params"])
    of_dataclass: Any = kind
    defaults: dict[str, Any] = {field.name: field.default for field in fields(of_dataclass)}
    for name, given in params.items():
        # A number with the default None is chosen by the solver.
        allowed: Any = {bool: (bool,), int: (int,), str: (str, int)}.get(type(defaults[name]), (float, int, type(None)))
        if type(given) not in allowed:
            raise InvalidError(f"the {name!r} of the solver {value['solver']!r} is {given!r}")
    return kind(**params)


def form(decoder: Decoder, value: dict[str, Any]) -> Any:
    """Return a value of a step."""
    kind, parts = value["$"], decoder.named(value["parts"])
    if parts.keys() != set(FORMS[kind]):
        raise InvalidError(f"an entry of kind {kind!r} must have {', '.join(FORMS[kind])}")
    if kind == "type":
        return NAMED_TYPES[parts["name"]]
    if kind == "dtype":
        return _dtype(parts["name"])
    return slice(*(parts[name] for name in FORMS[kind])) if kind == "slice" else _objects(**parts)


def _dtype(name: Any) -> np.dtype[Any]:
    if name != "|O" and not TYPE.fullmatch(name):
        raise InvalidError(f"the type {name[:50]!r} has no place in a model file")
    return np.dtype(name)


def _objects(shape: Any, items: Any) -> NDArray[Any]:
    sizes = shape if isinstance(shape, list) and all(type(size) is int and size >= 0 for size in shape) else None
    if sizes is None or len(sizes) > 32 or type(items) is not list or math.prod(sizes) != len(items):
        raise InvalidError("an array of objects is not as long as its shape says")
    array = np.empty(len(items), object)
    for place, item in enumerate(items):
        array[place] = item
    return array.reshape(sizes)
