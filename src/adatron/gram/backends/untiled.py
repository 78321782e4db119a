"""Kernel values that no tile computes: of a given matrix, of a user's function, of a matrix held in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...compiled.submatrix import take
from ...compiled.sums import add_dots, add_products
from ...threads.cost import CALL, GATHERED, threads_worth
from ...threads.pool import Pool
from ..source import Points, Source
from .segment import Segment
from .tile_loop import Weights

GIVEN_ROWS = 256  # Rows, or points, of a task: its sums and numbers stay in the first-level cache.
FUNCTION_ROWS = 1024  # Rows, and points, for which a function is asked at a time.


class Untiled(Segment):
    """A segment of ``n`` rows whose values are float64."""

    n: int

    def values(self, P: Points) -> NDArray[Any]:
        out = np.empty((len(P), self.n))
        self.fill(P, out, np.arange(len(P)))
        return out


class HeldSegment(Untiled):
    """Columns of a kernel matrix that is held in memory, for small problems."""

    def __init__(self, columns: NDArray[np.float64]) -> None:
        self.n, self._columns = columns.shape[1], columns

    def accumulate(self, out: NDArray[np.float64], P: Points, V: NDArray[np.float64]) -> None:
        rows = self._columns[P.ids]
        for j, v in enumerate(V.T):
            out[:, j] += np.add.reduce(rows * v[:, None], axis=0)

    def values(self, P: Points) -> NDArray[Any]:
        return self._columns[P.ids]

    def fill(self, P: Points, store: NDArray[Any], slots: NDArray[np.int64]) -> None:
        store[slots, : self.n] = self._columns[P.ids]


def uncompiled(source: Source, pool: Pool) -> Segment:
    """Return the segment for kernel values from outside: the user's matrix or the user's function."""
    return FunctionSegment(source) if source.kernel.called else PrecomputedSegment(source, pool)


class PrecomputedSegment(Untiled):
    """Rows behind a matrix of kernel values with training samples.

    The values of a point with training samples come from the point's own row, where they are neighbours. New samples
    have rows of their own, in another matrix.
    """

    def __init__(self, source: Source, pool: Pool) -> None:
        assert source.columns is not None  # noqa: S101 (for the type checker)
        self.n, self._source, self._columns, self._pool = len(source), source, source.columns, pool

    def accumulate(self, out: NDArray[np.float64], P: Points, V: NDArray[np.float64]) -> None:
        X, weights = self._source.X, Weights.of(np.arange(len(P)), V)
        if self._source.new:
            add, points, rows = add_dots, P.source.columns, self._source.ids
        else:
            add, points, rows = add_products, P.source.ids, self._columns
        self._run(lambda part: add(X, points, rows[part], *weights, out[part]), len(out), len(P))

    def fill(self, P: Points, store: NDArray[Any], slots: NDArray[np.int64]) -> None:
        X, ids, columns = self._source.X, P.source.ids, self._columns
        self._run(lambda part: take(X, ids[part], columns, store, slots[part]), len(P), self.n)

    def _run(self, task: Callable[[slice], None], n: int, each: int) -> None:
        """Run the task over n elements in parts; an element costs ``each``."""
        step = GIVEN_ROWS if threads_worth(GATHERED * n * each, CALL) > 1 else max(1, n)

        def one(number: int) -> None:
            self._pool.check_time()
            task(slice(number * step, (number + 1) * step))

        self._pool.run(one, -(-n // step))


class FunctionSegment(Untiled):
    """Kernel values from a Python function, called on the calling thread with blocks of rows."""

    def __init__(self, source: Source) -> None:
        self.n, self._source, self._kernel = len(source), source, source.kernel

    def accumulate(self, out: NDArray[np.float64], P: Points, V: NDArray[np.float64]) -> None:
        for start in range(0, len(P), FUNCTION_ROWS):
            some = slice(start, start + FUNCTION_ROWS)
            points, weights = P.source.take(some).given(), Weights.of(np.arange(len(V[some])), V[some])
            for first in range(0, len(out), FUNCTION_ROWS):
                part = slice(first, first + FUNCTION_ROWS)
                K = self._kernel(self._source.take(part).given(), points)  # BLAS' bits depend on its number of threads
                add_dots(K, np.arange(K.shape[1]), np.arange(len(K)), *weights, out[part])

    def fill(self, P: Points, store: NDArray[Any], slots: NDArray[np.int64]) -> None:
        for start in range(0, len(P), FUNCTION_ROWS):
            some = slice(start, start + FUNCTION_ROWS)
            points = P.source.take(some).given()
            for first in range(0, self.n, FUNCTION_ROWS):
                part = slice(first, first + FUNCTION_ROWS)
                K = self._kernel(points, self._source.take(part).given())
                store[slots[some], first : first + K.shape[1]] = K
