"""Describe allowed values: the words in which `contents` describes a model, and their one interpreter.

A field checks one value against known facts: the values checked before it, and sizes, by their names. The first array
that has a size sets it; all others must agree.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy import sparse

from ...quoted import quoted
from .archive import InvalidError

Known = dict[str, Any]
Bound = float | str | None  # a number, or the name of a size that is above all
REAL = ("float64",)
REALS = ("float64", "float32")
WHOLE = ("int64", "int32")
MOST_COLUMNS = 2**31 - 1
EXACT = 2**62  # Whole numbers up to which sums of a few do not overflow.


class Field(ABC):
    """A description of the allowed values of one entry."""

    needed: bool = True

    @abstractmethod
    def suits(self, value: Any) -> bool:
        """Return whether a value is of the right type."""

    @abstractmethod
    def check(self, name: str, value: Any, known: Known) -> None:
        """Raise InvalidError if a value of the right type is not right."""

    @property
    @abstractmethod
    def kind(self) -> str:
        """Name of the values of the right type."""


def check_field(field: Field, name: str, value: Any, known: Known) -> None:
    """Check the type of a value, then the value."""
    if not field.suits(value):
        raise InvalidError(f"{name} must be {field.kind}; it is {_described(value)}")
    field.check(name, value, known)


def check_fields(fields: Fields, values: Mapping[str, Any], known: Known, where: str = "") -> None:
    """Check named values in the order of the fields, and add the values to ``known``.

    Raises
    ------
    InvalidError
        A value is missing, or is not as its field says.
    """
    for name, field in fields.items():
        if isinstance(field, Rule):
            field.apply(known)
        elif name in values:
            check_field(field, where + name, values[name], known)
            known[name] = values[name]
        elif field.needed:
            raise InvalidError(f"{where}{name} is missing")


@dataclass(frozen=True)
class Rule:
    """A condition that several values fulfil together.

    Parameters
    ----------
    of : callable
        Takes the known facts, and returns sizes that follow from them, or a fault in words.
    """

    of: Callable[[Known], dict[str, int] | str | None]

    def apply(self, known: Known) -> None:
        """Raise InvalidError if the condition does not hold."""
        found = self.of(known)
        if isinstance(found, str):
            raise InvalidError(found)
        known.update(found or {})


Fields = Mapping[str, Field | Rule]


@dataclass(frozen=True)
class Optional(Field):
    """A field that may be missing."""

    field: Field
    needed = False

    def suits(self, value: Any) -> bool:
        return self.field.suits(value)

    def check(self, name: str, value: Any, known: Known) -> None:
        self.field.check(name, value, known)

    @property
    def kind(self) -> str:
        return self.field.kind


class Either(Field):
    """The first field whose type suits."""

    def __init__(self, *fields: Field) -> None:
        self.fields = fields

    def suits(self, value: Any) -> bool:
        return any(field.suits(value) for field in self.fields)

    def check(self, name: str, value: Any, known: Known) -> None:
        next(field for field in self.fields if field.suits(value)).check(name, value, known)

    @property
    def kind(self) -> str:
        return " or ".join(field.kind for field in self.fields)


class OneOf(Field):
    """One of a few values."""

    def __init__(self, *values: Any) -> None:
        self.values = values

    def suits(self, value: Any) -> bool:
        return any(type(value) is type(one) and value == one for one in self.values)

    def check(self, name: str, value: Any, known: Known) -> None:
        """Check nothing more."""

    @property
    def kind(self) -> str:
        return " or ".join(map(repr, self.values))


@dataclass(frozen=True)
class Number(Field):
    """A number.

    Parameters
    ----------
    low, high : smallest and largest value
    whole : whether the number must be an integer
    finite : whether the number must be finite
    size : the size that the number sets
    """

    low: float = -math.inf
    high: float = math.inf
    whole: bool = False
    finite: bool = True
    size: str | None = None

    def suits(self, value: Any) -> bool:
        return isinstance(value, Integral if self.whole else Real) and not isinstance(value, (bool, np.bool_))

    def check(self, name: str, value: Any, known: Known) -> None:
        if self.whole and abs(int(value)) > EXACT:
            raise InvalidError(f"{name} is too large")
        if self.finite and not (math.isfinite(value) and self.low <= value <= self.high):
            raise InvalidError(f"{name} must be from {self.low:g} to {self.high:g}; it is {value}")
        if self.size is not None:
            _agree(name, self.size, int(value), known)

    @property
    def kind(self) -> str:
        return "a whole number" if self.whole else "a number"


@dataclass(frozen=True)
class Array(Field):
    """An array.

    Parameters
    ----------
    dtypes : names of the allowed types
    shape : sizes, or their names
    low, high : the smallest and largest value; if ``high`` is a name, the largest value is one less than this size
    finite : whether all values must be finite
    distinct : whether no value may come twice
    moderate : whether the sum of the squares of all values must be finite
    """

    dtypes: tuple[str, ...]
    shape: tuple[int | str, ...]
    low: float | None = None
    high: Bound = None
    finite: bool = True
    distinct: bool = False
    moderate: bool = False

    def suits(self, value: Any) -> bool:
        return type(value) is np.ndarray and value.ndim == len(self.shape) and _typed(value, self.dtypes)

    def check(self, name: str, value: Any, known: Known) -> None:
        _check_shape(name, self.shape, value.shape, known)
        _check_values(self, name, value, known)

    @property
    def kind(self) -> str:
        return f"an array of {len(self.shape)} dimensions of {' or '.join(self.dtypes)}"


@dataclass(frozen=True)
class Rows(Field):
    """A CSR matrix whose columns are in order, as compiled loops need them; parameters as in `Array`."""

    dtypes: tuple[str, ...]
    shape: tuple[int | str, int | str]
    low = high = None
    finite = True
    distinct = False
    moderate: bool = False

    def suits(self, value: Any) -> bool:
        kinds = sparse.csr_matrix, sparse.csr_array
        return isinstance(value, kinds) and value.ndim == 2 and _typed(value, self.dtypes)

    def check(self, name: str, value: Any, known: Known) -> None:
        _check_shape(name, self.shape, value.shape, known)
        if value.shape[1] > MOST_COLUMNS:
            raise InvalidError(f"{name} has more than {MOST_COLUMNS} columns")
        try:
            value.check_format(full_check=True)
        except ValueError as error:
            raise InvalidError(f"{name} is not a valid CSR matrix ({error})") from error
        if not value.has_canonical_format:
            raise InvalidError(f"{name} has columns that are not in order, or that come twice")
        _check_values(self, name, value.data, known)

    @property
    def kind(self) -> str:
        return f"a CSR matrix of {' or '.join(self.dtypes)}"


@dataclass(frozen=True)
class Listed(Field):
    """A list or tuple of values of one kind, as many as a size says."""

    of: Field
    size: int | str
    type: type = list

    def suits(self, value: Any) -> bool:
        return type(value) is self.type

    def check(self, name: str, value: Any, known: Known) -> None:
        _agree(name, self.size, len(value), known)
        for number, one in enumerate(value):
            check_field(self.of, f"{name}[{number}]", one, known)

    @property
    def kind(self) -> str:
        return f"a {self.type.__name__}, of {self.of.kind} each"


@dataclass(frozen=True)
class Named(Field):
    """A dict from names to values of one kind."""

    of: Field

    def suits(self, value: Any) -> bool:
        return type(value) is dict and all(type(key) is str for key in value)

    def check(self, name: str, value: Any, known: Known) -> None:
        for key, one in value.items():
            check_field(self.of, f"{name}[{key!r}]", one, known)

    @property
    def kind(self) -> str:
        return f"a dict, of {self.of.kind} each"


@dataclass(frozen=True)
class Record(Field):
    """A dict of fields.

    Parameters
    ----------
    fields : the fields that the dict must have
    more : a field for its other entries; None if it may have no others
    own : whether its sizes and values stay its own, or become known to later checks
    """

    fields: Fields
    more: Field | None = None
    own: bool = False

    def suits(self, value: Any) -> bool:
        return type(value) is dict

    def check(self, name: str, value: Any, known: Known) -> None:
        known = dict(known) if self.own else known
        for key in value.keys() - self.fields.keys():
            if self.more is None:
                raise InvalidError(f"{name} has no place for {str(key)[:50]!r}")
            check_field(self.more, f"{name}[{key!r}]", value[key], known)
        check_fields(self.fields, value, known, f"{name}.")

    @property
    def kind(self) -> str:
        return "a dict"


@dataclass(frozen=True)
class Instance(Field):
    """An object that checks itself, or that nothing depends on."""

    type: type[Any]

    def suits(self, value: Any) -> bool:
        return isinstance(value, self.type)

    def check(self, name: str, value: Any, known: Known) -> None:
        """Check nothing more."""

    @property
    def kind(self) -> str:
        return f"a {self.type.__name__}"


def _typed(value: Any, dtypes: tuple[str, ...]) -> bool:
    """Return whether the type is one of some names; 'str' is text of any length."""
    name = "str" if value.dtype.kind == "U" else value.dtype.name
    return name in dtypes and value.dtype.isnative


def _described(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape} of {value.dtype}"
    plain = isinstance(value, (str, int, float, np.generic, type(None)))
    return quoted(value)[:50] if plain else f"a {type(value).__name__}"


def _agree(name: str, size: int | str, found: int, known: Known) -> None:
    expected = size if isinstance(size, int) else known.setdefault(size, found)
    if found != expected:
        raise InvalidError(f"{name} has {found} {'entries' if isinstance(size, int) else size}, not {expected}")


def _check_shape(name: str, shape: tuple[int | str, ...], found: tuple[int, ...], known: Known) -> None:
    for size, length in zip(shape, found, strict=True):
        _agree(name, size, length, known)


def _check_values(field: Array | Rows, name: str, values: Any, known: Known) -> None:
    if values.dtype.kind in "fc" and field.finite and not np.isfinite(values).all():
        raise InvalidError(f"{name} holds NaN or infinity")
    if not values.size:
        return
    high = known[field.high] - 1 if isinstance(field.high, str) else field.high
    if (field.low is not None and values.min() < field.low) or (high is not None and values.max() > high):
        allowed = f"allowed are {field.low} to {'any' if high is None else high}"
        raise InvalidError(f"{name} holds {values.min()} to {values.max()}; {allowed}")
    if field.distinct and len(np.unique(values)) < values.size:
        raise InvalidError(f"{name} holds a value twice")
    limit = math.sqrt(np.finfo(np.float64).max / values.size)
    if field.moderate and max(float(values.max()), -float(values.min())) > limit:
        raise InvalidError(f"{name} holds numbers whose squares have no sum")
