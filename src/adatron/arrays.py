"""The types of arrays, and their memory: in the form that compiled code takes, copied only if necessary."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Ids = NDArray[np.int64]  # Numbers of rows, samples, variables or problems.
Vector = NDArray[np.float64]  # Numbers in double precision, of any shape.
Matrix = NDArray[np.float64]  # The same, of two dimensions.

MOST_COLUMNS = 2**31 - 1  # Most columns of samples: columns have 32-bit numbers in compiled code.


def is_sparse(X: Any) -> bool:
    """Return what SciPy's ``issparse`` does, which takes a third of a microsecond more for an array."""
    return type(X) is not np.ndarray and sparse.issparse(X)


class _Memory:
    """The memory of an array; numpy keeps this object, and with it the array, as long as it uses the memory."""

    def __init__(self, array: NDArray[Any]) -> None:
        self.array = array
        self.__array_interface__ = {**array.__array_interface__, "data": (array.ctypes.data, False)}


def writable(array: NDArray[Any]) -> NDArray[Any]:
    """Return a view of the array's memory without the read-only mark; a mark set later does not reach the view.

    Nothing writes to the view. An array with the mark (a memmap, a pandas frame's) is another type for numba, which
    would compile the tile loops once more.
    """
    return array.view() if array.flags.writeable else np.asarray(_Memory(array))


def dense_rows(X: Any) -> NDArray[np.float64]:
    """Return rows as a C-ordered array of float64 without the read-only mark; such an array is not copied."""
    return writable(np.ascontiguousarray(X.toarray() if is_sparse(X) else X, dtype=np.float64))


def canonical_csr(X: Any) -> Any:
    """Return CSR rows with sorted columns, without repeated ones and stored zeros; tidy rows are not copied."""
    if X.shape[1] > MOST_COLUMNS:
        raise ValueError(f"Sparse X may have at most {MOST_COLUMNS} features. Got {X.shape[1]}; drop empty columns.")
    X = sparse.csr_matrix(X)
    X.data, X.indices, X.indptr = writable(X.data), writable(X.indices), writable(X.indptr)
    if not is_tidy(X):
        X = X.copy()
        X.sum_duplicates()
        X.eliminate_zeros()
    return X


def is_tidy(X: Any) -> bool:
    """Return whether CSR rows have sorted columns, no repeated ones and no stored zeros."""
    return bool(X.has_canonical_format and X.data.all())


def for_reading(vectors: Any, own: bool = False) -> Any:
    """Make the numbers of support vectors read-only from now on, unless an array of somebody else has them, too.

    own : whether that is known
    """
    parts = parts_of(vectors)
    if own or all(map(_alone, parts)):
        for array in parts:
            _freeze(array)
    return vectors


def parts_of(values: Any) -> tuple[NDArray[Any], ...]:
    """Return the arrays that hold the values."""
    return (values,) if isinstance(values, np.ndarray) else (values.data, values.indices, values.indptr)


def _alone(array: NDArray[Any]) -> bool:
    """Return whether an array is all of the memory behind it, not a part of somebody's array."""
    base = array.base
    return not isinstance(base, np.ndarray) or (base.nbytes == array.nbytes and _alone(base))


def _freeze(array: NDArray[Any]) -> None:
    """Make an array, and its base, read-only; without its base it cannot become writable again."""
    array.flags.writeable = False
    if isinstance(array.base, np.ndarray):
        _freeze(array.base)
