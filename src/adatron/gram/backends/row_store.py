"""Kept rows of kernel values; the least recently used goes first.

A store holds rows of K over one segment of the training set, for all problems that share the segment, or over one view,
for a loop that walks through single samples (``view.RowCache``). A kernel value depends on its pair alone, so a stored
row equals a recomputed one to the last bit: the store changes the time and nothing else.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arrays import Ids
from ...compiled import lines
from ...compiled.panels import TILE


def whole_tiles(n: int) -> int:
    """Round n up to a whole tile."""
    return -(-n // TILE) * TILE


@dataclass(frozen=True)
class Lease:
    """Slots that a problem may use until it returns the lease.

    ``found[i]`` is the slot of the i-th asked row or -1. ``slots[k]`` is the slot to fill with the k-th missing row, or
    -1 if there is no room.
    """

    ids: Ids
    found: Ids
    slots: Ids


class RowStore:
    """Up to ``capacity`` rows of ``columns`` kernel values, for rows numbered 0 to ``n_ids`` - 1.

    Attributes
    ----------
    values : (capacity, columns) kernel values; pages are taken from the system when they are first written
    slot : (n_ids,) the slot of each row, or -1
    used : (capacity,) time of the last use of each slot; compiled loops that read the values set it, too
    """

    def __init__(self, capacity: int, columns: int, dtype: Any, n_ids: int) -> None:
        self.values = lines.empty((capacity, columns), dtype)
        self.slot = np.full(n_ids, -1, np.int64)
        self.used = np.zeros(capacity, np.int64)
        self._owner = np.full(capacity, -1, np.int64)  # the row in each slot, or -1
        self._pins = np.zeros(capacity, np.int64)  # leases that read or fill the slot
        self._spare = 0  # slots from here on were never used
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self.values)

    def clock(self) -> int:
        """Return the next time."""
        return int(self.used.max(initial=0)) + 1

    @contextmanager
    def leased(self, ids: Ids, again: NDArray[np.bool_] | None = None) -> Iterator[Lease]:
        """Lease slots while the caller fills those for missing rows; after an error these slots hold nothing."""
        lease, filled = self.lease(ids, again), False
        try:
            yield lease
            filled = True
        finally:
            self.give_back(lease, filled)

    def lease(self, ids: Ids, again: NDArray[np.bool_] | None = None) -> Lease:
        """Return the stored rows among ``ids``, and room for the others, or for those ``again`` of them."""
        with self._lock:
            if not len(self.values):
                return Lease(ids, np.full(len(ids), -1, np.int64), np.full(len(ids), -1, np.int64))
            now, found = self.clock(), self.slot[ids]
            hit = found[found >= 0]
            self._pins[hit] += 1
            self.used[hit] = now
            slots = np.full(np.count_nonzero(found < 0), -1, np.int64)
            wanted = slice(None) if again is None else again[found < 0]
            room = self._room(len(slots[wanted]))
            self._pins[room] = 1
            self.used[room] = now
            slots[np.arange(len(slots))[wanted][: len(room)]] = room
            return Lease(ids, found, slots)

    def give_back(self, lease: Lease, filled: bool) -> None:
        """End a lease; ``filled`` says that the slots for missing rows now hold them."""
        if not len(self.values):
            return
        with self._lock:
            self._pins[lease.found[lease.found >= 0]] -= 1
            taken = lease.slots >= 0
            slots = lease.slots[taken]
            self._pins[slots] -= 1
            if filled:
                ids = lease.ids[lease.found < 0][taken]
                new = self.slot[ids] < 0  # another problem may have filled the same row meanwhile
                self.slot[ids[new]] = slots[new]
                self._owner[slots[new]] = ids[new]

    def drop(self, first: int, stop: int) -> None:
        """Empty the slots of rows first to stop - 1: no lease has them, and nobody asks for them again."""
        with self._lock:
            kept = self.slot[first:stop]
            self._owner[kept[kept >= 0]] = -1
            kept[:] = -1

    def close(self) -> None:
        """Give the memory back: no lease has a row, and from now on there is no room."""
        with self._lock:
            self.values = self.values[:0].copy()
            self.slot[:] = -1

    def _room(self, wanted: int) -> Ids:
        """Return up to ``wanted`` empty slots: emptied ones, then unused ones in their order, then the longest unused.

        So memory is touched only as far as rows are kept. No slot of a lease is taken.
        """
        free = self._pins[: self._spare] == 0
        empty = np.flatnonzero(free & (self._owner[: self._spare] < 0))[:wanted]
        fresh = np.arange(self._spare, min(len(self.values), self._spare + wanted - len(empty)))
        rest = wanted - len(empty) - len(fresh)
        if not rest:
            self._spare += len(fresh)
            return np.concatenate([empty, fresh])
        old = np.flatnonzero(free & (self._owner[: self._spare] >= 0))
        if rest < len(old):
            old = old[np.argpartition(self.used[old], rest - 1)[:rest]]
        self.slot[self._owner[old]] = -1
        self._owner[old] = -1
        self._spare += len(fresh)
        return np.concatenate([empty, fresh, old])
