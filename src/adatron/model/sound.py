"""Faults of numbers from elsewhere: compiled code trusts their types, sizes and ends."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from scipy import sparse


def is_flag(value: Any) -> bool:
    """Return whether a value is true or false, not a number that is equal to one of them."""
    return isinstance(value, bool)


def is_distance(value: Any) -> bool:
    """Return whether a value is a number from 0 on, or there is none."""
    return value is None or (not isinstance(value, bool) and isinstance(value, Real) and 0.0 <= float(value) < np.inf)


def is_vector(values: Any, kinds: str) -> bool:
    """Return whether a value is a vector of whole numbers ('i', 'u') or of float64 ('d')."""
    if not isinstance(values, np.ndarray) or values.ndim != 1 or not values.dtype.isnative:
        return False
    return values.dtype.kind in kinds or ("d" in kinds and values.dtype.char == "d")


def unreadable(matrix: Any, kinds: str) -> str:
    """Return what is wrong with a table of numbers of some types, or nothing."""
    if sparse.issparse(matrix):
        fault = invalid_csr(matrix)
        if fault:
            return fault
    elif not isinstance(matrix, np.ndarray):
        return "is no array"
    real = matrix.ndim == 2 and matrix.dtype.char in kinds and matrix.dtype.isnative
    return "" if real else "is no table of real numbers"


def invalid_csr(matrix: Any) -> str:
    """Return what is wrong with the columns and the ends of the rows of a sparse matrix, or nothing."""
    if matrix.format != "csr" or matrix.ndim != 2:
        return f"is a sparse matrix of another form ({matrix.format})"
    ends, columns = matrix.indptr, matrix.indices
    if not (is_vector(ends, "i") and is_vector(columns, "i") and len(ends) == matrix.shape[0] + 1):
        return "has no whole numbers of columns and ends of rows"
    if ends[0] != 0 or (ends[1:] < ends[:-1]).any() or ends[-1] > min(len(columns), len(matrix.data)):
        return "has rows that end outside of its values"
    inside = not len(columns) or 0 <= columns.min() <= columns.max() < matrix.shape[1]
    return "" if inside else f"has columns beyond its {matrix.shape[1]}"


def meaningless(values: Any, bounded: bool = False) -> str:
    """Return what is wrong with the numbers of a table that can be read, or nothing.

    bounded : whether the sum of the squares must be finite
    """
    if sparse.issparse(values) and not values.has_canonical_format:
        return "has columns that are not in order, or that come twice"
    numbers = values.data if sparse.issparse(values) else values
    if not np.isfinite(numbers).all():
        return "holds NaN or infinity"
    largest = max(float(numbers.max(initial=0.0)), -float(numbers.min(initial=0.0)))
    too_large = bounded and largest > np.sqrt(np.finfo(np.float64).max / max(1, numbers.size))
    return "holds numbers whose squares have no sum" if too_large else ""
