"""Labels as they were read: whole numbers of up to 64 bits exactly, and names as text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .table import DataError, Path, text_labels, whole_if_possible

# Numbers of more digits do not fit into 64 bits.
_WHOLE_NUMBER = re.compile(r"[+-]?[0-9]{1,20}")
_SHORTEST = re.compile(r"0|-?[1-9][0-9]{0,19}")


def whole_numbers(values: Sequence[int]) -> NDArray[Any] | None:
    """Return Python's whole numbers as int64, or as uint64 if they need it; None if neither holds all of them."""
    low, high = min(values, default=0), max(values, default=0)
    if low >= -(2**63) and high < 2**63:
        return np.array(values, np.int64)
    return np.array(values, np.uint64) if low >= 0 and high < 2**64 else None


def exact_numbers(path: Path, texts: Sequence[str], lines: Sequence[int]) -> NDArray[Any]:
    """Return the numbers that texts stand for: whole ones exactly, else float64.

    Parameters
    ----------
    lines : sequence of int
        The line of each text, for the error.
    """
    if all(map(_WHOLE_NUMBER.fullmatch, texts)):
        found = whole_numbers(list(map(int, texts)))
        if found is None:
            raise DataError(path, "labels are whole numbers of more than 64 bits, but 64 are the most")
        return found
    values = np.empty(len(texts))
    for index, text in enumerate(texts):
        try:
            values[index] = float(text)
        except ValueError:
            values[index] = np.nan
        if not np.isfinite(values[index]):
            raise DataError(path, f"the label {text!r} is not a finite number", lines[index])
    return whole_if_possible(values)


def as_targets(y: NDArray[Any]) -> NDArray[np.float64] | None:
    """Return labels as real numbers, also those that are text as classes (007, 12E3); None if one is no number."""
    if y.dtype.kind == "U":
        try:
            y = np.array([float(text) for text in y.tolist()])
        except ValueError:
            return None
    return y.astype(np.float64) if y.dtype.kind in "iuf" and np.isfinite(y).all() else None


def named_labels(path: Path, texts: Sequence[str], most: int) -> NDArray[Any]:
    """Return names of classes as text, or as whole numbers if each is written as its number is: 7, not 07 or 7.0."""
    if all(map(_SHORTEST.fullmatch, set(texts))):
        found = whole_numbers(list(map(int, texts)))
        if found is not None:
            return found
    return text_labels(path, texts, most)


def joined_labels(path: Path, first: NDArray[Any], second: NDArray[Any]) -> NDArray[Any]:
    """Return the labels of two files, one after the other.

    Raises
    ------
    DataError
        If they are of different kinds, or no type holds all of them exactly. The message names the second file.
    """
    kinds = kind_of(first), kind_of(second)
    if kinds[0] != kinds[1]:
        raise DataError(path, f"it has {kinds[1]}, and the file before it {kinds[0]}")
    if {first.dtype.kind, second.dtype.kind} <= {"i", "u"} and first.dtype != second.dtype:
        found = whole_numbers(first.tolist() + second.tolist())
    elif first.dtype.kind == second.dtype.kind:
        return np.concatenate([first, second])
    else:  # whole numbers and others
        parts = [first.astype(np.float64), second.astype(np.float64)]
        exact = all(a.tolist() == b.tolist() for a, b in zip(parts, (first, second), strict=True))
        found = np.concatenate(parts) if exact else None
    if found is None:
        raise DataError(path, "no type of 64 bits holds its labels and those of the file before it exactly")
    return found


def kind_of(y: NDArray[Any] | None) -> str:
    """Return the kind of some labels in words."""
    if y is None:
        return "no labels"
    return {"U": "text for labels", "b": "truth values for labels"}.get(y.dtype.kind, "numbers for labels")
