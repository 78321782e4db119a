"""Kernel values that the user computed: entries of a matrix in double precision, read in place."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...compiled.submatrix import add_dots, add_products, take
from ...threads.cost import CALL, GATHERED, threads_worth
from ...threads.pool import Pool
from ..source import Source
from .tile_loop import Weights

if TYPE_CHECKING:
    from ..points import Points

GIVEN_ROWS = 256  # Rows, or points, of a task: its sums and numbers stay in the first-level cache.


class GivenSegment:
    """Rows behind a matrix of kernel values with training samples.

    The values of a point with training samples come from the point's own row, where they are neighbours. New samples
    have rows of their own, in another matrix.
    """

    def __init__(self, source: Source, pool: Pool) -> None:
        assert source.columns is not None  # noqa: S101 (for the type checker)
        self._source, self._columns, self._pool = source, source.columns, pool

    def accumulate(self, out: NDArray[np.float64], P: Points, V: NDArray[np.float64]) -> None:
        X, weights = self._source.X, Weights.of(np.arange(len(P)), V)
        if self._source.new:
            add, points, rows = add_dots, P.source.columns, self._source.ids
        else:
            add, points, rows = add_products, P.source.ids, self._columns
        self._run(lambda part: add(X, points, rows[part], *weights, out[part]), len(out), len(P))

    def values(self, P: Points) -> NDArray[Any]:
        out = np.empty((len(P), len(self._source)))
        self.fill(P, out, np.arange(len(P)))
        return out

    def fill(self, P: Points, store: NDArray[Any], slots: NDArray[np.int64]) -> None:
        X, ids, columns = self._source.X, P.source.ids, self._columns
        self._run(lambda part: take(X, ids[part], columns, store, slots[part]), len(P), len(self._source))

    def _run(self, task: Callable[[slice], None], n: int, each: int) -> None:
        """Run the task over n elements in parts; an element costs ``each``."""
        step = GIVEN_ROWS if threads_worth(GATHERED * n * each, CALL) > 1 else max(1, n)

        def one(number: int) -> None:
            self._pool.check_time()
            task(slice(number * step, (number + 1) * step))

        self._pool.run(one, -(-n // step))
