"""Exact sums of a linear kernel: sum_j v_j (x_j - m)·(x_i - m) = w·(x_i - m) by w = sum_j v_j (x_j - m).

Coefficients of large sizes leave little of w where their terms cancel, as at every optimum with a large C. So w is
summed in twice the precision (T. Ogita, S. M. Rump, S. Oishi, Accurate sum and dot product, SIAM J. Sci. Comput. 26,
2005, Proposition 5.5), of the rows as given; the centre m is subtracted last. The errors that remain are roundings of
w and of its products with the rows: they do not grow with the sizes of the coefficients.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..arrays import Vector, is_sparse
from ..compiled.precision import UNIT
from ..compiled.products import ABREAST, gather_csr, gather_rows, spread_csr, spread_rows
from ..threads.pool import Pool
from .source import Source

ROWS = 4096  # Rows between two looks at the clock, and of a task.
ROUNDED_UP = 1.0 + 1e-7  # Factor for the rounding of bounds that are summed in float64 themselves.
TINY = 2.0**-1060  # More than products lose where they are too small for float64.


def weights_of(source: Source, v: Vector, pool: Pool) -> tuple[Vector, Vector]:
    """Return w = sum_j v_j (x_j - m) of the rows of a source, and bounds of its errors."""
    d, n = source.X.shape[1], len(source)
    w, low, mass = np.zeros((3, d + 1))
    for start in range(0, n, ROWS):
        pool.check_time()
        part = slice(start, min(n, start + ROWS))
        if is_sparse(source.X):
            X = source.X[source.ids[part]]
            spread_csr(X.data, X.indices, X.indptr, v[part], w, low, mass)
        else:
            spread_rows(source.X, source.ids, v, part.start, part.stop, w, low, mass)
    center = source.center if len(source.center) else np.zeros(d)
    grain = np.square((2.0 * n + 16.0) * UNIT)
    total = (w[:d] - center * w[d]) + (low[:d] - center * low[d])
    errors = 4.0 * UNIT * (np.abs(total) + np.abs(center * w[d])) + grain * (mass[:d] + np.abs(center) * mass[d])
    return total, ROUNDED_UP * errors + n * TINY


def by_features(rows: Source, points: Source, v: Vector, pool: Pool) -> tuple[Vector, Vector]:
    """Return K[rows, points] @ v of a linear kernel in double precision, and bounds of the errors."""
    w, errors = weights_of(points, v, pool)
    out, bounds, n = np.empty(len(rows)), np.empty(len(rows)), len(rows)
    terms = float(rows.terms) if is_sparse(rows.X) else len(w) / ABREAST + 2.0 * ABREAST
    off = (terms + 8.0) * UNIT * np.abs(w) + (1.0 + 2.0**-20) * errors
    center: NDArray[np.float64] = rows.center if len(rows.center) else np.zeros(len(w))

    def some(number: int) -> None:
        pool.check_time()
        part = slice(number * ROWS, min(n, (number + 1) * ROWS))
        if is_sparse(rows.X):
            X = rows.take(part).centered()
            gather_csr(X.data, X.indices, X.indptr, w, off, out[part], bounds[part])
        else:
            gather_rows(rows.X, rows.ids, center, w, off, part.start, part.stop, out, bounds)

    pool.run(some, -(-n // ROWS))
    bounds = ROUNDED_UP * bounds + len(w) * TINY
    return out, np.where(np.isfinite(bounds) & np.isfinite(out), bounds, np.inf)
