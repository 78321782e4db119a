"""Many small programs of classifiers, made at once: for ten classes there are thousands of pairs in a search."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...fitting.problems import Ids, Problem, Problems
from ...problems import Dual

Vector = NDArray[np.float64]


class Beside(Problems):
    """Problems whose programs are parts of one.

    Parameters
    ----------
    segments : the segments of each problem
    whole : the programs side by side
    ends : (n,) where the variables of each end
    """

    def __init__(self, segments: Sequence[Sequence[int]], whole: Dual, ends: Ids) -> None:
        self.groups = np.concatenate([np.array(some, np.int64) for some in segments])
        self.first = np.concatenate([[0], np.cumsum([len(some) for some in segments])])
        self._whole, self._ends = whole, np.concatenate([[0], ends])
        self.joined = self._of

    def _of(self, some: range, ids: Ids) -> Dual:
        return self._whole.take(slice(self._ends[some.start], self._ends[some.stop]))

    def problem(self, number: int) -> Problem:
        return Problem(self.segments(number), lambda ids: self._of(range(number, number + 1), ids))

    def sides(self) -> Vector:
        """Return 0: every problem has samples on both sides."""
        return np.zeros(len(self))
