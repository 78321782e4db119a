"""Rows that travel from one view, or shard, to another."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Ids
from .source import Source


@dataclass(frozen=True)
class Points:
    """Rows that travel, with all that another view needs to evaluate the kernel against them.

    ids : numbers of the rows in the training set, the key under which their kernel values are stored
    again : whether each row's kernel values will probably be asked for again, so that storing pays; None for all
    """

    source: Source
    ids: Ids
    again: NDArray[np.bool_] | None = None

    def __len__(self) -> int:
        return len(self.ids)

    def take(self, which: Any) -> Points:
        return Points(self.source.take(which), self.ids[which], None if self.again is None else self.again[which])

    def merged(self, V: NDArray[np.float64]) -> tuple[Points, NDArray[np.float64]]:
        """Return each point once, with the sum of its lines of V (|P|, p); unchanged if no point comes twice."""
        if (np.diff(self.ids) > 0).all():
            return self, V
        ids, first, number = np.unique(self.ids, return_index=True, return_inverse=True)
        if len(ids) == len(self):
            return self, V
        total = np.zeros((len(ids), V.shape[1]))
        np.add.at(total, number, V)
        used = total.any(axis=1)
        merged = self.take(first[used])
        if self.again is None:
            return merged, total[used]
        again = np.zeros(len(ids), bool)
        np.logical_or.at(again, number, self.again)
        return replace(merged, again=again[used]), total[used]
