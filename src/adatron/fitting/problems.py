"""The problems of a fit, over segments of the samples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np

from ..arrays import Ids, Vector
from ..problems import Dual


@dataclass(frozen=True)
class Problem:
    """One program of a ``Formulation`` with its samples: their segments (classes), and what makes the program of them.

    ``copies``: variables of each sample; the program has all first ones, then all second ones.
    """

    segments: list[int]
    program: Callable[[Ids], Dual]
    copies: int = 1


class Problems(Sequence[Problem]):
    """The problems of a fit, made on request.

    Attributes
    ----------
    groups, first : the segments of all problems, one problem after the other, and where those of each begin
    joined : makes one program that has a range of programs as its parts, given their samples; None if impossible
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
        """Return one problem."""
        raise NotImplementedError

    def sides(self) -> Vector:
        """Return 1 or -1 for problems with all samples on that side, else 0; only for problems that can be joined."""
        raise NotImplementedError

    def segments(self, number: int) -> list[int]:
        """Return the segments of a problem."""
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
    """Return the numbers first[0], ..., stop[0] - 1, first[1], ..., stop[1] - 1 and so on."""
    counts = stop - first
    before = np.cumsum(counts) - counts
    return np.arange(int(counts.sum())) + np.repeat(first - before, counts)
