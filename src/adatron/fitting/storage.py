"""The memory of arrays and CSR matrices: in the form that compiled code takes, copied only where it must be."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

MOST_COLUMNS = 2**31 - 1  # columns have 32-bit numbers in compiled code


class _Memory:
    """The memory of an array; numpy keeps this object, and so the array, as long as it uses it."""

    def __init__(self, array: NDArray[Any]) -> None:
        self.array = array
        self.__array_interface__ = {**array.__array_interface__, "data": (array.ctypes.data, False)}


def opened(array: NDArray[Any]) -> NDArray[Any]:
    """The same memory without the mark that it may only be read: a view, which a mark set later does not reach.

    Nothing writes to it, but for numba an array with the mark (a memmap, a pandas frame's) is another type, for which
    it would compile the tile loops once more.
    """
    return array.view() if array.flags.writeable else np.asarray(_Memory(array))


def tidy(X: Any) -> Any:
    """CSR rows with sorted columns, no repeated ones and no stored zeros; what has all this is not copied."""
    if X.shape[1] > MOST_COLUMNS:
        raise ValueError(f"Sparse X may have at most {MOST_COLUMNS} features. Got {X.shape[1]}; drop empty columns.")
    X = sparse.csr_matrix(X)
    X.data, X.indices, X.indptr = opened(X.data), opened(X.indices), opened(X.indptr)
    if not (X.has_canonical_format and X.data.all()):
        X = X.copy()
        X.sum_duplicates()
        X.eliminate_zeros()
    return X


def for_reading(vectors: Any, own: bool = False) -> Any:
    """Support vectors whose numbers may only be read from now on, if no array of somebody else's has them, too.

    own : whether that is known
    """
    parts = list(parts_of(vectors))
    if own or all(map(_alone, parts)):
        for array in parts:
            _freeze(array)
    return vectors


def parts_of(values: Any) -> Iterator[NDArray[Any]]:
    """The arrays of one."""
    yield from (values.data, values.indices, values.indptr) if sparse.issparse(values) else (values,)


def _alone(array: NDArray[Any]) -> bool:
    """Whether it is all of the memory behind it, not a part of somebody's array."""
    base = array.base
    return not isinstance(base, np.ndarray) or (base.nbytes == array.nbytes and _alone(base))


def _freeze(array: NDArray[Any]) -> None:
    """So that it can no longer be written to, nor made writable without its base."""
    array.flags.writeable = False
    if isinstance(array.base, np.ndarray):
        _freeze(array.base)
