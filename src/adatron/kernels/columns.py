"""The numbers of the columns that CSR rows use.

Hashed words use few of very many columns. SciPy and compiled code take time or memory for all columns, so rows with far
more columns than values get new numbers. Their order stays, and with it the order of every sum.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..compiled.panels import PASS_COLUMNS


def used_columns(*rows: Any) -> NDArray[Any] | None:
    """Return the sorted columns that some rows use; None if one is dense, or has not far more columns than values."""
    if not all(map(sparse.issparse, rows)) or rows[0].shape[1] <= max(PASS_COLUMNS, 2 * sum(X.nnz for X in rows)):
        return None
    return np.unique(np.concatenate([X.indices for X in rows]))


def renumbered(indices: NDArray[Any], used: NDArray[Any] | None) -> NDArray[np.int32]:
    """Return new numbers of columns that rows which come later may have, too.

    Used column j becomes 2j + 1. Columns between two used ones share the even number between theirs: no used column has
    that number.
    """
    if used is None:
        return indices.astype(np.int32)
    place = np.searchsorted(used, indices.astype(used.dtype, copy=False))
    found = place < len(used)
    found[found] = used[place[found]] == indices[found]
    return (2 * place + found).astype(np.int32)


def narrow(X: Any, used: NDArray[Any] | None) -> Any:
    """Return CSR rows with their used columns only."""
    if used is None:
        return X
    return type(X)((X.data, np.searchsorted(used, X.indices), X.indptr), (X.shape[0], len(used)))
