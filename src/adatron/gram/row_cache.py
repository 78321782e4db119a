"""Rows of K for loops that walk through single samples."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import Ids
from . import View
from .backends.row_store import RowStore
from .backends.segment import whole_tiles

ROWS_AHEAD = 64  # Rows made at a time: one row alone would read all of X for a few multiplications.


class CachedRows(NamedTuple):
    """Values, slots and times of use, as the compiled loops take them, see ``RowStore``."""

    values: NDArray[Any]
    slot: Ids
    used: Ids


class RowCache:
    """Rows of the kernel matrix over a view, as many as fit in memory, and at least two.

    A compiled loop stops at a row that is not in the store. It says which row that is, and which rows it will probably
    want next; ``fetch`` then makes these rows together.
    """

    def __init__(self, view: View, memory: float) -> None:
        n, width = len(view), whole_tiles(len(view))
        fit = int(memory // (max(1, width) * view.gram.dtype.itemsize))
        self.view, self.store = view, RowStore(min(n, max(2, fit)), width, view.gram.dtype, n)
        if view.gram.whole is not None and len(self.store) == n:
            self.fetch(np.arange(n))

    @property
    def arrays(self) -> CachedRows:
        """Its arrays."""
        return CachedRows(self.store.values, self.store.slot, self.store.used)

    def clock(self) -> int:
        """Return the next time."""
        return self.store.clock()

    def missing(self, ids: Ids) -> Ids:
        """Return the missing rows among ``ids``: the first ROWS_AHEAD, or half of what there is room for."""
        return ids[self.store.slot[ids] < 0][: max(1, min(ROWS_AHEAD, len(self.store) // 2))]

    def fetch(self, ids: Ids) -> None:
        """Make the missing rows ``ids`` in place of the longest unused."""
        with self.store.leased(ids) as lease:
            self.view.fill(self.store.values, lease.slots, ids)

    def row(self, i: int) -> NDArray[np.floating]:
        """Return row i, and make it if need be."""
        if self.store.slot[i] < 0:
            self.fetch(np.array([i]))
        slot = self.store.slot[i]
        self.store.used[slot] = self.clock()
        return self.store.values[slot, : len(self.view)]

    def among(self, rows: Ids, memory: float) -> RowCache:
        """Return the cache for a part of the samples; rows that are here already are copied."""
        part = RowCache(self.view.narrowed(rows), memory)
        here = np.flatnonzero(self.store.slot[rows] >= 0)[: len(part.store)]
        with part.store.leased(here) as lease:
            for new, old in zip(lease.slots, self.store.slot[rows[here]], strict=True):
                part.store.values[new, : len(rows)] = self.store.values[old, rows]
        return part
