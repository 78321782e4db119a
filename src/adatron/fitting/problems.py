"""The problems of a fit, over segments of the samples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from ..problems import Dual

Ids = NDArray[np.int64]
Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Problem:
    """One program of a fit: the segments of the samples (their classes) it is about, and the program of these samples.

    ``copies``: variables that a sample has; the program's are all first ones, then all second ones.
    """

    segments: list[int]
    program: Callable[[Ids], Dual]
    copies: int = 1


class Problems(Sequence[Problem]):
    """Problems that are made when they are asked for.

    Attributes
    ----------
    groups, first : the segments of all problems, one problem after the other, and where those of each begin
    joined : the programs of a range as one, whose parts they are, given their samples; None if they cannot be joined
    """

    groups: Ids
    first: Ids
    joined: Callable[[range, Ids], Dual] | None = None

    def __len__(self) -> int:
        return len(self.first) - 1

    @overload
    def __getitem__(self, index: int) -> Problem: ...
    @overload
    def __getitem__(self, index: slice) -> list[Problem]: ...
    def __getitem__(self, index: int | slice) -> Problem | list[Problem]:
        if isinstance(index, slice):
            return [self.problem(i) for i in range(*index.indices(len(self)))]
        return self.problem(range(len(self))[index])

    def problem(self, number: int) -> Problem:
        """One of them."""
        raise NotImplementedError

    def sides(self) -> Vector:
        """1 or -1 for problems all of whose samples are on that side, 0 for the others; of those that can be joined."""
        raise NotImplementedError

    def segments(self, number: int) -> list[int]:
        """Those of a problem."""
        return self.groups[self.first[number] : self.first[number + 1]].tolist()


class Listed(Problems):
    """Problems from a list."""

    def __init__(self, problems: list[Problem]) -> None:
        self._problems = problems
        self.groups = np.concatenate([np.array(one.segments, np.int64) for one in problems])
        self.first = np.concatenate([[0], np.cumsum([len(one.segments) for one in problems])])

    def problem(self, number: int) -> Problem:
        return self._problems[number]


def ranges(first: Any, stop: Any) -> Ids:
    """The numbers first[0], ..., stop[0] - 1, first[1], ..., stop[1] - 1 and so on."""
    counts = stop - first
    before = np.cumsum(counts) - counts
    return np.arange(int(counts.sum())) + np.repeat(first - before, counts)
