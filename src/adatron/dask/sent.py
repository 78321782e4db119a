"""Rows that have travelled and are kept: points of changes on the slabs, and rows that came from the cluster here.

Points stay on the slabs, so that each travels once; each has a place, the same on all slabs. The coordinator gives the
places. With every change it says where new points go, so a slab notices if it lacks earlier points. If there is no room
for more, or if a slab was lost, all slabs begin again without points. Of rows here, the least recently used go.
"""

from __future__ import annotations

from collections.abc import Sequence
from threading import RLock
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..arrays import Ids


def compact(numbers: NDArray[Any]) -> NDArray[Any]:
    """Return numbers >= 0 in as few bytes as the largest one needs."""
    return numbers.astype(np.min_scalar_type(int(numbers.max(initial=0))))


class Sent:
    """The coordinator's list of places: where each point is on the slabs.

    n : all points have numbers below this
    most : how many points slabs keep; more only while one change needs more
    """

    def __init__(self, n: int, most: int) -> None:
        self._place, self._most, self.count = np.full(n, -1, np.int32), most, 0

    def forget(self) -> None:
        """Begin again without points."""
        self._place[:], self.count = -1, 0

    def new(self, ids: Ids) -> Ids:
        """Return the points that have to travel; all of them if there is no room for more."""
        found = ids[self._place[ids] < 0]
        if self.count + len(found) > self._most and self.count:
            self.forget()
            return ids
        return found

    def put(self, ids: Ids) -> None:
        """Give new points the next places, in this order."""
        self._place[ids] = self.count + np.arange(len(ids))
        self.count += len(ids)

    def places(self, ids: Ids) -> NDArray[Any]:
        """Return the places of some points."""
        return compact(self._place[ids])


class KeptPoints:
    """The points of a slab: rows at their places."""

    def __init__(self) -> None:
        self._rows: Any = None
        self.count = 0

    def add(self, before: int, parts: Sequence[Any]) -> None:
        """Put new rows behind the first ``before`` ones."""
        rows = stacked(parts)
        self.count = before + rows.shape[0]
        if not before:
            self._rows = rows
        elif sparse.issparse(rows):
            self._rows = sparse.vstack([self._rows[:before], rows], format="csr")
        else:
            if self.count > len(self._rows):
                room = np.empty((2 * self.count, rows.shape[1]), rows.dtype)
                room[:before] = self._rows[:before]
                self._rows = room
            self._rows[before : self.count] = rows

    def take(self, places: NDArray[Any]) -> Any:
        """Return the rows at some places."""
        return self._rows[places]


def stacked(parts: Sequence[Any]) -> Any:
    """Return rows below one another."""
    if len(parts) == 1:
        return parts[0]
    return sparse.vstack(parts, format="csr") if sparse.issparse(parts[0]) else np.concatenate(parts)


class Fetched:
    """Rows of some of n samples.

    empty : no rows, of the kind that will come
    most : how many rows are kept; more only while one request asks for more
    """

    def __init__(self, n: int, empty: Any, most: int) -> None:
        self._slot, self._most = np.full(n, -1, np.int64), most
        self._rows: Any = empty
        self._sparse = bool(sparse.issparse(empty))
        self._ids = np.zeros(0, np.int64)  # the sample in each slot
        self._requested, self._clock = np.zeros(0, np.int64), 0  # when each slot was asked for
        self._lock = RLock()  # problems that are solved side by side share these rows

    def missing(self, ids: Ids) -> Ids:
        """Return the samples that are not here."""
        with self._lock:
            return np.unique(ids[self._slot[ids] < 0])

    def exchanged(self, ids: Ids, missing: Ids, come: Any) -> Any:
        """Keep rows that have come, and return those of ids; None if another problem has made some of these go."""
        with self._lock:
            if len(missing):
                self.keep(missing, come, ids)
            return None if len(self.missing(ids)) else self.rows(ids)

    def rows(self, ids: Ids) -> Any:
        """Return the rows of samples that are here."""
        self._clock += 1
        self._requested[self._slot[ids]] = self._clock
        return self._rows[self._slot[ids]]

    def keep(self, ids: Ids, rows: Any, wanted: Ids) -> None:
        """Keep rows that have come, each once; rows of wanted samples stay."""
        new = self._slot[ids] < 0
        if not new.all():
            ids, rows = ids[new], rows[new]
        count = len(self._ids)
        if count + len(ids) > self._most:
            count = self._trim(wanted, len(ids))
        self._slot[ids] = count + np.arange(len(ids))
        self._ids = np.concatenate([self._ids, ids])
        self._requested = np.concatenate([self._requested, np.zeros(len(ids), np.int64)])
        if self._sparse:
            self._rows = sparse.vstack([self._rows[:count], rows], format="csr")
            return
        if len(self._ids) > len(self._rows):
            room = np.empty((max(len(self._ids), min(2 * len(self._ids), self._most)), rows.shape[1]), rows.dtype)
            room[:count] = self._rows[:count]
            self._rows = room
        self._rows[count : len(self._ids)] = rows

    def _trim(self, wanted: Ids, new: int) -> int:
        """Forget the rows asked for longest ago, half of all if that is enough; return how many are left."""
        needed = np.zeros(len(self._ids), bool)
        slots = self._slot[wanted]
        needed[slots[slots >= 0]] = True
        order = np.lexsort((self._requested, needed))[::-1]  # needed rows first, then those asked for last
        left = max(int(needed.sum()), min(len(order) // 2, self._most - new))
        stay = np.sort(order[:left])
        self._slot[self._ids] = -1
        self._ids, self._requested = self._ids[stay], self._requested[stay]
        self._slot[self._ids] = np.arange(left)
        self._rows = self._rows[stay]
        return left
