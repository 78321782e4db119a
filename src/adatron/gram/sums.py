"""Sums of kernel values for rows that come later, as predictions are.

Weighted sums are over points that are made ready once. Values of all pairs of classes come from kernel values and
scikit-learn's layout of coefficients: no table of pairs is made.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..compiled import lines
from ..compiled.cache.jit import jit
from ..compiled.cache.pointer import contents
from ..compiled.micro import rows_width
from ..compiled.panels import TILE, Dense, Sparse, pack, sparse_norms
from ..kernels.base import renumbered
from ..threads.pool import Pool
from .backends.segment import TileSegment, Workspace
from .backends.tile_loop import Storing, Weights, accumulate
from .backends.untiled import FUNCTION_ROWS, uncompiled
from .source import Points, Source


class Sums:
    """V.T @ K[points, ·] for weights V (m, p), from kernel values of one type; nothing depends on the rows.

    Several threads may use it at the same time.
    """

    def __init__(self, points: Source, V: NDArray[np.float64], dtype: Any, pool: Pool) -> None:
        self._careful = points.careful and np.dtype(dtype) == np.float64
        self.points = points = points.by_differences() if self._careful else points
        if not points.kernel.compiled:
            self._V = V
        else:
            self._workspace = Workspace(points.kernel, dtype)
            self._operand = points.as_points(dtype, pool)
            self._weights = Weights.of(np.arange(len(points)), V)
            nowhere = Storing(np.empty((0, TILE), dtype), np.full(len(points), -1))
            self._passed = tuple(self._weights), tuple(nowhere)  # plain tuples take less time to pass

    def add(self, out: NDArray[np.float64], rows: Source, pool: Pool) -> None:
        """Add the sums for n rows to out (n, p)."""
        rows = rows.by_differences() if self._careful else rows
        if self.points.kernel.compiled:
            TileSegment(rows, self._workspace, pool).add(out, self._operand, self._weights)
        else:
            uncompiled(rows, pool).accumulate(out, Points(self.points, np.arange(len(self.points))), self._V)

    def add_few(self, out: NDArray[np.float64], X: Any) -> None:
        """Add the same for a few rows on the calling thread, by compiled values; nothing is made beside their operand.

        X : dense rows, or CSR rows in order without stored zeros, as the points are
        """
        space, (weights, nowhere), n = self._workspace, self._passed, X.shape[0]
        width = rows_width(space.dtype)
        blocks = -(-n // width)
        norms = lines.zeros((max(blocks * width, -(-n // TILE) * TILE),), space.dtype)
        if isinstance(X, np.ndarray):
            panels = lines.zeros((blocks, X.shape[1], width), space.dtype)
            pack(X, np.arange(n), self.points.center, panels, norms, 0, blocks)
            rows = Dense(panels, norms, width, n)
        else:
            data, indices = X.data.astype(space.dtype), renumbered(X.indices, self.points.used)
            rows = Sparse(data, indices, X.indptr.astype(np.int64), norms, width, n)
            sparse_norms(rows.data, rows.indptr, norms)
        program, size = space.program(type(rows)), TILE // width
        accumulate(program, self._operand, rows, 0, blocks, size, weights, out, nowhere, space.stack)


class PairSums:
    """The decision values of all pairs of k classes.

    Parameters
    ----------
    points : m support vectors, class by class
    dual : (k - 1, m) for a pair (i, j), i < j: row j - 1 has the coefficients of class i's vectors, row i those of j's
    counts : (k,) vectors of each class
    """

    def __init__(self, points: Source, dual: NDArray[np.float64], counts: NDArray[np.int64]) -> None:
        self.points = points
        self._dual, self._ends = dual, np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        self._workspaces: dict[Any, Workspace] = {}

    def values(self, rows: Source, intercepts: NDArray[np.float64], dtype: Any, pool: Pool) -> NDArray[np.float64]:
        """Return the values of n rows, (n, n_pairs)."""
        out, nothing = np.empty((len(rows), len(intercepts))), np.empty((len(self._ends) - 1, 0))
        if len(rows):
            tally(self._kernel(rows, dtype, pool), self._dual, self._ends, intercepts, False, nothing, nothing, out)
        return out

    def tally(
        self, rows: Source, intercepts: NDArray[np.float64], zero_wins: bool, dtype: Any, pool: Pool
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return pairs that each class wins, and the sums of their values in its favour, (n, k) each."""
        votes, sums = np.zeros((2, len(self._ends) - 1, len(rows)))
        if len(rows):
            K, nothing = self._kernel(rows, dtype, pool), np.empty((0, 0))
            tally(K, self._dual, self._ends, intercepts, zero_wins, votes, sums, nothing)
        return votes.T, sums.T

    @property
    def classes(self) -> int:
        """The number of classes."""
        return len(self._ends) - 1

    def margins(
        self, rows: Source, classes: NDArray[np.int64], intercepts: NDArray[np.float64], pool: Pool
    ) -> NDArray[np.float64]:
        """Return by how much each row's class is preferred to each other one, (n, k - 1)."""
        out = np.empty((len(rows), self.classes - 1))
        if len(rows):
            prefer(self._kernel(rows, np.float64, pool), self._dual, self._ends, intercepts, classes, out)
        return out

    def _kernel(self, rows: Source, dtype: Any, pool: Pool) -> NDArray[Any]:
        """Return kernel values of the vectors with some rows, (m, n)."""
        points, kernel = self.points, self.points.kernel
        if kernel.compiled:
            space = self._workspaces.setdefault(dtype, Workspace(kernel, dtype))
            return TileSegment(rows, space, pool).values(Points(points, np.arange(len(points))))
        if points.columns is not None:
            return np.ascontiguousarray(rows.X[np.ix_(rows.ids, points.columns)].T, dtype=np.float64)
        given, starts = rows.given(), range(0, len(points), FUNCTION_ROWS)
        parts = [kernel(given, points.take(slice(a, a + FUNCTION_ROWS)).given()) for a in starts]
        return np.ascontiguousarray(np.concatenate(parts, axis=1).T, dtype=np.float64)


@jit
def tally(K: Any, dual: Any, ends: Any, intercepts: Any, zero_wins: bool, votes: Any, sums: Any, out: Any) -> None:
    """Write the values of the pairs for n rows, or count what they say.

    K : (m, n) kernel values of the support vectors with the rows
    dual : (k - 1, m) for a pair (i, j), i < j: row j - 1 has the coefficients of class i's vectors, row i those of j's
    ends : (k + 1,) where the vectors of each class begin
    zero_wins : whether a value of 0 counts for the first class
    votes, sums : (k, n) pairs that each class wins, and the sum of their values in its favour
    out : (n, n_pairs) the values; if it is empty, votes and sums are counted
    """
    K, dual, votes, sums = contents(K), contents(dual), contents(votes), contents(sums)
    n, pair, total = K.shape[1], 0, np.empty(K.shape[1])
    for i in range(len(ends) - 1):
        for j in range(i + 1, len(ends) - 1):
            total[:] = 0.0
            _add(K, dual[j - 1], ends[i], ends[i + 1], total)
            _add(K, dual[i], ends[j], ends[j + 1], total)
            b = intercepts[pair]
            if len(out):
                for t in range(n):
                    out[t, pair] = b + total[t]
            else:
                own, other, mine, theirs = votes[i], votes[j], sums[i], sums[j]
                for t in range(n):
                    value = b + total[t]
                    won = 1.0 if value > 0.0 or (zero_wins and value == 0.0) else 0.0
                    own[t] += won
                    other[t] += 1.0 - won
                    mine[t] += value
                    theirs[t] -= value
            pair += 1


@jit
def prefer(K: Any, dual: Any, ends: Any, intercepts: Any, classes: Any, out: Any) -> None:
    """Set out (n, k - 1) to the values of the pairs of each row's class, with the sign that is positive for it.

    K, dual, ends : as in ``tally``
    classes : (n,) class of each row
    """
    k, total = len(ends) - 1, np.empty(1)
    for t in range(K.shape[1]):
        c, at = classes[t], 0
        for other in range(k):
            if other == c:
                continue
            i, j = min(c, other), max(c, other)
            total[0] = intercepts[i * k - i * (i + 1) // 2 + j - i - 1]
            _add(K[:, t : t + 1], dual[j - 1], ends[i], ends[i + 1], total)
            _add(K[:, t : t + 1], dual[i], ends[j], ends[j + 1], total)
            out[t, at] = total[0] if c == i else -total[0]
            at += 1


@jit
def _add(K: Any, weights: Any, first: int, last: int, total: Any) -> None:
    """Add the sum of the rows first:last of K, by their weights, to total."""
    for s in range(first, last):
        weight, row = weights[s], K[s]
        if weight != 0.0:
            for t in range(len(total)):
                total[t] += weight * row[t]
