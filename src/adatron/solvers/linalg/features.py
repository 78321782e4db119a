"""Sums over rows of few features: with a linear kernel K = XX' has the rank of X.

For weights E >= 0 the system (I + E K) x = h, with n unknowns, is one of d: x = h - E X (I + X'EX)^-1 X'h. X gets one
more column for lambda^2. X'EX is summed over tiles of a fixed size, in parts of a fixed number, each at one BLAS
thread, and the parts are added in their order. So the bits do not depend on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from math import fsum
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse import issparse

from ...arrays import Matrix, Vector, is_sparse
from ...gram import View
from ...gram.features import weights_of
from ...threads.gate import one_blas_thread
from ..plan import FEATURE_PARTS as PARTS
from .factor import Stopped

TILE_ROWS = 1024
STEPS, PASSES, FASTER = 40.0, 10.0, 4.0  # Steps of a solution; passes over X in each; how much faster a product is.
SPARSE = 0.25  # Fraction of the numbers of CSR rows below which they stay so.
COPIED = 2.5e8  # Bytes up to which the rows are copied once; larger ones are copied tile by tile in every pass.


def price_by_features(n: int, d: int) -> float:
    """Return the multiply-adds of a whole solution by interior points, in those of kernel values: products are fast."""
    return STEPS * n * d * (0.5 * d + PASSES) / FASTER


class Features:
    """The rows of a view, each with its features, in float64 tiles."""

    def __init__(self, view: View, lambda2: float, memory: float = COPIED) -> None:
        self.source, self.pool, self.border = view.gram.source.take(view.ids), view.gram.pool, lambda2**0.5
        self.n, self.d = len(self.source), self.source.X.shape[1] + (lambda2 > 0.0)
        self.ends = np.linspace(0, self.n, min(PARTS, -(-self.n // TILE_ROWS)) + 1).astype(np.int64).tolist()
        self.X: Any = None
        if is_sparse(self.source.X) and self.source.features < SPARSE * self.d:
            self.X = self._tile(slice(None), dense=False)
        elif 8.0 * self.n * self.d <= memory:
            X = np.empty((self.n, self.d))
            self._over(lambda rows, tile, part: X.__setitem__(rows, tile))
            self.X = X

    @property
    def numbers(self) -> int:
        """The numbers that a pass over the rows reads."""
        return self.X.nnz if issparse(self.X) else self.n * self.d

    def _tile(self, rows: slice, dense: bool = True) -> Any:
        """Return some rows with the border; they are dense, or as they are given."""
        near = self.X[rows] if self.X is not None else self.source.take(rows).centered()
        near = near.toarray() if dense and issparse(near) else near
        if self.X is not None or not self.border:
            return near
        border = np.full((near.shape[0], 1), self.border)
        return sparse.hstack([near, border], format="csr") if issparse(near) else np.column_stack([near, border])

    def _over(self, each: Callable[[slice, Matrix, int], object]) -> None:
        """Call ``each`` with the rows of a tile, the tile, and the number of its part."""

        def part(number: int) -> None:
            self.pool.check_time()
            end = self.ends[number + 1]
            for start in range(self.ends[number], end, TILE_ROWS):
                rows = slice(start, min(start + TILE_ROWS, end))
                each(rows, self._tile(rows), number)

        with one_blas_thread():
            self.pool.run(part, len(self.ends) - 1)

    def times(self, P: Matrix) -> Matrix:
        """Return X P."""
        if issparse(self.X):
            return self.X @ P
        out = np.empty((self.n, P.shape[1]))
        self._over(lambda rows, tile, part: np.matmul(tile, P, out=out[rows]))
        return out

    def sums(self, H: Matrix) -> Matrix:
        """Return X'H."""
        if issparse(self.X):
            return self.X.T @ H
        out = np.zeros((len(self.ends) - 1, self.d, H.shape[1]))

        def add(rows: slice, tile: Matrix, part: int) -> None:
            out[part] += tile.T @ H[rows]

        self._over(add)
        return out.sum(axis=0)

    def sharp(self, v: Vector) -> Vector:
        """Return X'v summed in twice the precision."""
        w = weights_of(self.source, v, self.pool)[0]
        return np.append(w, self.border * fsum(v)) if self.border else w

    def squares(self, E: Vector) -> Matrix:
        """Return X'EX."""
        out, roots = np.zeros((len(self.ends) - 1, self.d, self.d)), np.sqrt(E)[:, None]

        def add(rows: slice, tile: Matrix, part: int) -> None:
            some = np.flatnonzero(roots[rows])
            scaled = roots[rows] * tile if 2 * len(some) > len(tile) else roots[rows][some] * tile[some]
            out[part] += scaled.T @ scaled

        self._over(add)
        return out.sum(axis=0)


class ByFeatures:
    """Systems of a linear kernel with few features.

    steps : most of them; as a rule an interior point method ends earlier, when rounding lets nothing improve
    central : whether it begins in the middle between the bounds, for most variables end on one of them
    noise : fraction of the largest possible |w|^2 that is rounding; sums over features are far more accurate
    share : share of residuals in what is to become small: late in a solution they are rounding
    """

    steps, central, noise, share = 100, True, 0.0, 1e-4

    def __init__(self, view: View, lambda2: float, stopped: Callable[[], bool]) -> None:
        self.features, self.stopped = Features(view, lambda2), stopped

    def __len__(self) -> int:
        return self.features.n

    def times(self, w: Vector) -> Vector:
        """Return (K + lambda^2 11') w."""
        return self.features.times(self.features.sums(w[:, None]))[:, 0]

    def factor(self, E: Vector) -> Callable[[Matrix], Matrix]:
        """Return what solves (I + E (K + lambda^2 11')) x = h for every column h."""
        if self.stopped():
            raise Stopped
        features = self.features
        with one_blas_thread():
            M = features.squares(E)
            M.flat[:: len(M) + 1] += 1.0
            factor = cho_factor(M, overwrite_a=True, check_finite=False)

        def solve(h: Matrix) -> Matrix:
            with one_blas_thread():
                p = cho_solve(factor, features.sums(h), check_finite=False)
            return h - E[:, None] * features.times(p)

        return solve
