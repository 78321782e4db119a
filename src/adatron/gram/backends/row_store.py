"""Kept rows of kernel values; the least recently used goes first.

One store holds rows of K over one segment of the training set, for all problems that share the segment. A kernel
value depends on its pair alone, so a stored row equals a recomputed one to the last bit: the store changes the time
and nothing else.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...compiled import lines

Ids = NDArray[np.int64]


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
    """Up to ``capacity`` rows of ``columns`` kernel values, for rows numbered 0 to ``n_ids`` - 1."""

    def __init__(self, capacity: int, columns: int, dtype: Any, n_ids: int) -> None:
        self.values = lines.empty((capacity, columns), dtype)  # pages are taken from the system when first written
        self._slot_of = np.full(n_ids, -1, np.int64)
        self._id_of = np.full(capacity, -1, np.int64)
        self._used = np.zeros(capacity, np.int64)  # time of the last use
        self._pins = np.zeros(capacity, np.int64)  # leases that read or fill the slot
        self._clock = 0
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self.values)

    def lease(self, ids: Ids, again: NDArray[np.bool_] | None = None) -> Lease:
        """Return the stored rows among ``ids``, and room for the others, or for those ``again`` of them."""
        if not len(self.values):
            return Lease(ids, np.full(len(ids), -1, np.int64), np.full(len(ids), -1, np.int64))
        with self._lock:
            self._clock += 1
            found = self._slot_of[ids]
            hit = found[found >= 0]
            self._pins[hit] += 1
            self._used[hit] = self._clock
            slots = np.full(np.count_nonzero(found < 0), -1, np.int64)
            wanted = slice(None) if again is None else again[found < 0]
            slots[wanted] = self._free_slots(len(slots[wanted]))
            return Lease(ids, found, slots)

    def borrow(self, ids: Ids) -> Lease:
        """Return the stored rows among ``ids``, without room for others."""
        with self._lock:
            found = self._slot_of[ids]
            self._pins[found[found >= 0]] += 1
        return Lease(ids, found, np.empty(0, np.int64))

    def _free_slots(self, wanted: int) -> Ids:
        """Return up to ``wanted`` unpinned slots, the longest unused first, emptied and pinned; -1 for the rest.

        Slots that were never used go in order, so that memory is touched only as far as rows are kept.
        """
        if not wanted:
            return np.empty(0, np.int64)
        free = np.flatnonzero(self._pins == 0)
        free = free[np.argsort(self._used[free], kind="stable")[:wanted]]
        evicted = self._id_of[free]
        self._slot_of[evicted[evicted >= 0]] = -1
        self._id_of[free] = -1
        self._pins[free] = 1
        return np.concatenate([free, np.full(wanted - len(free), -1, np.int64)])

    def give_back(self, lease: Lease, filled: bool) -> None:
        """End a lease; ``filled`` says that the slots for missing rows now hold them."""
        if not len(self.values):
            return
        with self._lock:
            self._pins[lease.found[lease.found >= 0]] -= 1
            taken = lease.slots >= 0
            slots = lease.slots[taken]
            self._pins[slots] -= 1
            self._used[slots] = self._clock
            if filled:
                ids = lease.ids[lease.found < 0][taken]
                new = self._slot_of[ids] < 0  # another problem may have filled the same row meanwhile
                self._slot_of[ids[new]] = slots[new]
                self._id_of[slots[new]] = ids[new]
