"""Decision values of a fitted model, row by row: a row's value does not depend on the rows beside it.

Memory beyond the result is bounded: blocks of rows are made ready, evaluated and turned into the result one after the
other, and X is never copied as a whole.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..gram import Gram, Points, Pool, Source, allowed_threads
from ..kernels import Kernel
from .inputs import tidy

Values = NDArray[np.float64]
BLOCK_BYTES = 32 * 2**20  # for the rows of a block in float64, their decision values and what is made of them
FEWEST_ROWS, MOST_ROWS = 256, 4096
LIGHT = 1e7  # multiply-adds below which threads cost more than they give
FAR = 4.0  # times the largest support vector's squared norm: up to there rows get float32 kernel values


def decision_values(
    X: Any,
    vectors: Any,
    support: NDArray[np.int64],
    coefficients: Values,
    intercepts: Values,
    kernel: Kernel,
    precision: str,
    n_jobs: int | None,
    finish: Callable[[Values], NDArray[Any]],
) -> NDArray[Any]:
    """What ``finish`` makes of sum_i coefficients[i] k(vectors_i, x) + intercepts, for every row x of X.

    Parameters
    ----------
    X : ndarray or CSR matrix (n, d); kernel values (n, n training samples) if they are given
    vectors : ndarray or CSR matrix (m, d), the support vectors; unused if kernel values are given
    support : (m,) column of each support vector if kernel values are given
    coefficients : (m, p)
    intercepts : (p,)
    precision : that of the kernel values, 'single', 'double', or 'auto': single for the rows where it is enough
    finish : takes the values of a block of rows, (rows, p), and returns an array with as many rows
    """
    n, m = X.shape[0], len(support)
    given = any(leaf.product == "gather" for leaf in kernel.leaves())
    points = Source.of(X if given else vectors, np.arange(m), kernel, support)
    work = n * max(1, m) * max(1.0, points.features)
    threads = allowed_threads(n_jobs) if work > LIGHT and kernel.compiled else 1
    step, limit = _rows_of_a_block(X, len(intercepts)), _single_up_to(points, precision)
    out: Any = None
    with Pool(threads) as pool:
        expansion = cache(lambda dtype: _Expansion(points, coefficients, dtype, pool))
        for start in range(0, max(1, n), step):
            block = _ready(X[start : start + step], vectors)
            rows = np.arange(block.shape[0])
            values = np.tile(intercepts, (len(rows), 1))
            source = replace(points, X=block, ids=rows, columns=0 * rows if given else None)
            near = np.full(len(rows), limit > 0) if np.isinf(limit) else source.sizes <= limit
            for dtype, which in ((np.float32, near), (np.float64, ~near)):
                if which.any():
                    values[which] = expansion(dtype).added(values[which], source.take(which))
            part = finish(values)
            if out is None:
                out = np.empty((n, *part.shape[1:]), part.dtype)
            out[start : start + len(rows)] = part
    return out


class _Expansion:
    """The support vectors as an operand of the tiles, made once for all blocks, and their coefficients."""

    def __init__(self, points: Source, coefficients: Values, dtype: Any, pool: Pool) -> None:
        self.gram, self.coefficients = Gram(points, dtype, [], pool), coefficients
        operand = points.as_points(dtype, pool) if points.kernel.compiled else None
        self.points = Points(points, np.arange(len(points)), operand)

    def added(self, values: Values, rows: Source) -> Values:
        """``values`` (rows, p), and the expansion's at some rows added to them."""
        self.gram.segment(rows).accumulate(values, self.points, self.coefficients)
        return values


def _rows_of_a_block(X: Any, outputs: int) -> int:
    features = X.nnz / max(1, X.shape[0]) if sparse.issparse(X) else X.shape[1]
    return int(np.clip(BLOCK_BYTES / (8 * (features + 4 * outputs)), FEWEST_ROWS, MOST_ROWS))


def _single_up_to(points: Source, precision: str) -> float:
    """The squared norm up to which a row gets float32 kernel values; inf or -inf if it does not depend on the row."""
    if precision == "double" or not points.kernel.compiled:
        return -np.inf
    if precision == "single" or points.columns is not None:
        return np.inf
    limit = FAR * points.largest
    return limit if points.suits_single(limit) else -np.inf


def _ready(rows: Any, vectors: Any) -> Any:
    """Rows in the storage of the support vectors."""
    return tidy(rows) if sparse.issparse(vectors) else np.ascontiguousarray(rows)
