"""A cache of rows of K for loops that walk through single samples; the least recently used row goes first."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..compiled import lines
from . import View
from .backends.segment import whole_tiles

Ids = NDArray[np.int64]
AHEAD = 64  # Rows made at a time: one row alone would read all of X for a few multiplications.


class Rows:
    """Rows of the kernel matrix over a view, as many as fit in memory.

    Row i is ``values[slot[i]]``, or missing if ``slot[i]`` is negative. A compiled loop stops at a missing row. It says
    which row that is, and which rows it will probably want next; ``fetch`` then makes these rows together.

    Attributes
    ----------
    values : (capacity, n up to whole tiles) kernel values in the type of the tiles
    slot : (n,) the slot of each row, or -1
    used : (capacity,) when the loop last read a slot, by its own clock
    """

    def __init__(self, view: View, memory: float) -> None:
        n = len(view)
        width = whole_tiles(n)
        fit = int(memory // (max(1, width) * view.gram.dtype.itemsize))
        self.view = view
        self.values = lines.empty((min(n, max(2, fit)), width), view.gram.dtype)
        self.slot = np.full(n, -1, np.int64)
        self.used = np.zeros(len(self.values), np.int64)
        self._owner = np.full(len(self.values), -1, np.int64)
        self._spare = 0  # slots from here on were never filled
        if view.gram.whole is not None and len(self.values) == n:
            self.fetch(np.arange(n))

    def __len__(self) -> int:
        return len(self.values)

    def missing(self, ids: Ids) -> Ids:
        """Return the missing rows among ``ids``: the first AHEAD, or half of what there is room for."""
        return ids[self.slot[ids] < 0][: max(1, min(AHEAD, len(self) // 2))]

    def fetch(self, ids: Ids) -> None:
        """Make the missing rows ``ids`` in place of the longest unused."""
        slots = self._slots(len(ids))
        evicted = self._owner[slots]
        self.slot[evicted[evicted >= 0]] = -1
        self.view.fill(self.values, slots, ids)
        self._owner[slots], self.slot[ids] = ids, slots
        self.used[slots] = self.clock()

    def clock(self) -> int:
        """Return the next time."""
        return int(self.used.max(initial=0)) + 1

    def row(self, i: int) -> NDArray[np.floating]:
        """Return row i, and make it if need be."""
        if self.slot[i] < 0:
            self.fetch(np.array([i]))
        self.used[self.slot[i]] = self.clock()
        return self.values[self.slot[i], : len(self.slot)]

    def among(self, rows: Ids, memory: float) -> Rows:
        """Return the cache for a part of the samples; rows that are here already are copied."""
        part = Rows(self.view.narrowed(rows), memory)
        here = np.flatnonzero(self.slot[rows] >= 0)[: len(part)]
        slots = np.arange(len(here))
        for new, old in zip(slots, self.slot[rows[here]], strict=True):
            part.values[new, : len(rows)] = self.values[old, rows]
        part._owner[slots], part.slot[here], part._spare = here, slots, len(here)
        return part

    def _slots(self, count: int) -> Ids:
        """Return unused slots while there are any, then the longest unused ones."""
        fresh = np.arange(self._spare, min(len(self.values), self._spare + count))
        self._spare += len(fresh)
        rest = count - len(fresh)
        if not rest:
            return fresh
        old = np.argpartition(self.used[: self._spare - len(fresh)], rest - 1)[:rest]
        return np.concatenate([fresh, old])
