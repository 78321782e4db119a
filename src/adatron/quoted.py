"""Values in messages."""

from __future__ import annotations

from contextlib import AbstractContextManager
from decimal import ROUND_CEILING, Context, Decimal
from typing import Any

import numpy as np


def plain_numbers() -> AbstractContextManager[Any]:
    """Let NumPy's numbers look like numbers in messages made inside: np.int64(2) is 2."""
    return np.printoptions(legacy="1.25")


def quoted(value: Any) -> str:
    """Return the representation of a value in which NumPy's numbers look like numbers, also within lists and dicts."""
    with plain_numbers():
        return repr(value)


def _raised(bound: float, digits: int) -> Decimal:
    return Context(digits, ROUND_CEILING).create_decimal_from_float(float(bound))


def raised(bound: float, digits: int = 2) -> float:
    """Return an upper bound that has this many digits, and is no smaller; a lower bound is -raised(-bound)."""
    return float(_raised(bound, digits))


def upward(bound: float, digits: int = 2) -> str:
    """Return an upper bound in words: it is rounded up, so that the words are also proven."""
    found = _raised(bound, digits)  # not a float, whose digits may be rounded down again
    if not found or not found.is_finite():
        return f"{float(found):.{digits - 1}e}"
    mantissa, exponent = f"{found:.{digits - 1}e}".split("e")
    return f"{mantissa}e{int(exponent):+03d}"
