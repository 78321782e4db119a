"""Rows that came from the cluster; if there is no room for all, the least recently used go."""

from __future__ import annotations

from threading import RLock
from typing import Any

import numpy as np
from scipy import sparse

from .partition import Ids


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
        self._asked, self._clock = np.zeros(0, np.int64), 0  # when each slot was asked for
        self._turn = RLock()  # problems that are solved side by side share these rows

    def missing(self, ids: Ids) -> Ids:
        """Return the samples that are not here."""
        with self._turn:
            return np.unique(ids[self._slot[ids] < 0])

    def exchanged(self, ids: Ids, missing: Ids, come: Any) -> Any:
        """Keep rows that have come, and return those of ids; None if another problem has made some of these go."""
        with self._turn:
            if len(missing):
                self.keep(missing, come, ids)
            return None if len(self.missing(ids)) else self.rows(ids)

    def rows(self, ids: Ids) -> Any:
        """Return the rows of samples that are here."""
        self._clock += 1
        self._asked[self._slot[ids]] = self._clock
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
        self._asked = np.concatenate([self._asked, np.zeros(len(ids), np.int64)])
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
        order = np.lexsort((self._asked, needed))[::-1]  # needed rows first, then those asked for last
        left = max(int(needed.sum()), min(len(order) // 2, self._most - new))
        stay = np.sort(order[:left])
        self._slot[self._ids] = -1
        self._ids, self._asked = self._ids[stay], self._asked[stay]
        self._slot[self._ids] = np.arange(left)
        self._rows = self._rows[stay]
        return left
