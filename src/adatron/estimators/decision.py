"""Decision values of a fitted model, row by row: a row's value does not depend on the rows beside it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..gram import Gram, Points, Pool, Source, allowed_threads
from ..kernels import Kernel

CHUNK = 4096  # rows of X made ready at a time


def decision_values(
    X: Any,
    vectors: Any,
    support: NDArray[np.int64],
    coefficients: NDArray[np.float64],
    intercepts: NDArray[np.float64],
    kernel: Kernel,
    dtype: Any,
    n_jobs: int | None,
) -> NDArray[np.float64]:
    """sum_i coefficients[i] k(vectors_i, x) + intercepts for every row x of X.

    Parameters
    ----------
    X : ndarray or CSR matrix (n, d); kernel values (n, n training samples) if they are given
    vectors : ndarray or CSR matrix (m, d), the support vectors; unused if kernel values are given
    support : (m,) column of each support vector if kernel values are given
    coefficients : (m, p)
    intercepts : (p,)
    """
    n = X.shape[0]
    given = any(leaf.product == "gather" for leaf in kernel.leaves())
    if given:
        points = Source(X, support, kernel, np.zeros(0), support)
    else:
        points = Source.of(vectors, np.arange(len(support)), kernel)
    work = n * max(1, len(support)) * max(1.0, points.features)
    threads = allowed_threads(n_jobs) if work > 1e7 and kernel.compiled else 1
    out = np.tile(intercepts, (n, 1))
    with Pool(threads) as pool:
        gram = Gram(points, dtype, [], pool)
        for start in range(0, n, CHUNK):
            rows = np.arange(start, min(n, start + CHUNK))
            segment = gram.segment(
                replace(points, X=X, ids=rows, columns=np.zeros(len(rows), np.int64) if given else None)
            )
            segment.accumulate(out[rows[0] : rows[-1] + 1], Points(points, np.arange(len(support))), coefficients)
    return out


def as_csr_like(X: Any, vectors: Any) -> Any:
    """X in the storage of the support vectors."""
    if sparse.issparse(vectors):
        return sparse.csr_matrix(X)
    return X.toarray() if sparse.issparse(X) else X
