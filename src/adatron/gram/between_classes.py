"""Values of all pairs of classes, from kernel values and scikit-learn's layout of coefficients: no table of pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..compiled.cache.jit import jit
from ..compiled.cache.pointer import contents
from ..threads.pool import Pool
from .backends.segment import FUNCTION_ROWS, TileSegment, Workspace
from .points import Points
from .source import Source


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
