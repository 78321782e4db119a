"""Points of changes stay on the slabs, so that each travels once; each has a place, the same on all slabs.

The coordinator gives the places. With every change it says where new points go, so a slab notices if it lacks earlier
points. If there is no room for more, or if a slab was lost, all slabs begin again without points.
"""

from __future__ import annotations

from collections.abc import Sequence
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
        rows = below(parts)
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


def below(parts: Sequence[Any]) -> Any:
    """Return rows below one another."""
    if len(parts) == 1:
        return parts[0]
    return sparse.vstack(parts, format="csr") if sparse.issparse(parts[0]) else np.concatenate(parts)
