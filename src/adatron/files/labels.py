"""Labels as they were read: truth values, whole numbers of up to 64 bits, other numbers in float64, or text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .table import MISSING_LABELS, DataError, Path, check_size, whole_if_possible


def whole_numbers(values: Sequence[int]) -> NDArray[Any] | None:
    """Return Python's whole numbers as int64, or as uint64 if they need it; None if neither holds all of them."""
    low, high = min(values, default=0), max(values, default=0)
    if low >= -(2**63) and high < 2**63:
        return np.array(values, np.int64)
    return np.array(values, np.uint64) if low >= 0 and high < 2**64 else None


def as_targets(y: NDArray[Any]) -> NDArray[np.float64] | None:
    """Return labels as real numbers, also those that are text as classes (007, 12E3); None if one is not a number."""
    if y.dtype.kind == "U":
        try:
            y = np.array([float(text) for text in y.tolist()])
        except ValueError:
            return None
    return y.astype(np.float64) if y.dtype.kind in "iuf" and np.isfinite(y).all() else None


def checked_labels(path: Path, y: NDArray[Any], most: int) -> NDArray[Any]:
    """Return the labels of an array in one of the types above; they may take ``most`` bytes.

    Whole numbers in float64 become int64, so that a class is printed as 1, not as 1.0.
    """
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if y.ndim != 1:
        raise DataError(path, f"labels of shape {y.shape}; there must be one label for each sample")
    if y.dtype.kind in "OSU":
        return _texts(path, y, most)
    if y.dtype.kind not in "biuf":
        raise DataError(path, f"labels of type {y.dtype}, neither numbers nor text")
    check_size(path, "labels", 8 * len(y), most)
    if y.dtype.kind == "b":
        return y.copy()
    if y.dtype.kind in "iu":
        return y.astype(np.uint64 if y.dtype.kind == "u" and y.max(initial=0) >= 2**63 else np.int64)
    with np.errstate(over="ignore"):  # an extended number may be beyond float64
        values = y.astype(np.float64)
    if not np.isfinite(values).all():
        at = int(np.argmin(np.isfinite(values)))
        fault = "beyond float64" if np.isfinite(y[at]) else "not a finite number"
        raise DataError(path, f"the label of sample {at} is {fault}")
    return whole_if_possible(values)


def _texts(path: Path, y: NDArray[Any], most: int) -> NDArray[np.str_]:
    """Return labels of text, of bytes in UTF-8, or of objects that are either, as text."""
    try:
        if y.dtype.kind == "S":
            check_size(path, "labels", 4 * y.nbytes, most)
            y = np.char.decode(y, "utf-8")
        if y.dtype.kind == "O":
            other = next((type(one) for one in y if not isinstance(one, (str, bytes))), None)
            if other is not None:
                raise DataError(path, f"a label is of type {other.__name__}: all must be text, or numbers of 64 bits")
            listed = [one.decode() if isinstance(one, bytes) else one for one in y]
            check_size(path, "labels", 4 * len(listed) * max(map(len, listed), default=0), most)
            y = np.array(listed, np.str_)
    except UnicodeDecodeError as error:
        raise DataError(path, f"a label is not text (byte 0x{error.object[error.start]:02x} is not UTF-8)") from error
    gaps = np.flatnonzero(np.isin(y, MISSING_LABELS))
    if len(gaps):
        raise DataError(path, f"the label of sample {gaps[0]} is missing")
    return y


def joined_labels(path: Path, first: NDArray[Any] | None, second: NDArray[Any] | None) -> NDArray[Any] | None:
    """Return the labels of two files, one after the other; None if neither has any.

    A DataError, which names the second file, says that the labels are of different kinds, or that no type holds all of
    them exactly.
    """
    kinds = _kind_of(first), _kind_of(second)
    if kinds[0] != kinds[1]:
        raise DataError(path, f"it has {kinds[1]}, and the file before it {kinds[0]}")
    if first is None or second is None:
        return None
    if first.dtype.kind == second.dtype.kind:  # which has one size, except that of text
        return np.concatenate([first, second])
    both = first.tolist() + second.tolist()
    found = np.array(both, np.float64) if "f" in (first.dtype.kind, second.dtype.kind) else whole_numbers(both)
    if found is None or found.tolist() != both:
        raise DataError(path, "no type of 64 bits holds its labels and those of the file before it exactly")
    return found


def _kind_of(y: NDArray[Any] | None) -> str:
    if y is None:
        return "no labels"
    return {"U": "text for labels", "b": "truth values for labels"}.get(y.dtype.kind, "numbers for labels")
