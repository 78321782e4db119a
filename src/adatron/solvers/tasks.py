"""The programs of a fit, each made on request: hundreds of classes have a hundred thousand programs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..compiled.cache.uninterrupted import cached_property
from ..gram import Gram, View
from ..problems import Dual
from ..problems.dual import Ids, Vector, dot


@dataclass
class State:
    """A point to go on from. ``g`` is the gradient by the view's tiles; if it is None, it must be computed."""

    beta: Vector
    g: Vector | None = None
    n_iter: int = 0
    seconds: float = 0.0


class Origin(NamedTuple):
    """The start of a part: its variables, their gradient, and the objective of the whole program."""

    beta: Vector
    g: Vector
    objective: float

    def followed(self, beta: Vector, g: Vector, epsilon: float) -> float:
        """Return the objective of the whole program when the part is at beta; the part's targets do not tell it."""
        sizes = float(np.abs(beta).sum() - np.abs(self.beta).sum())
        return self.objective + 0.5 * dot(beta - self.beta, g + self.g) + epsilon * sizes


@dataclass(frozen=True)
class Task:
    """One of ``Tasks``: a program, its rows of the kernel matrix, and where to start."""

    view: View
    dual: Dual
    state: State | None = None


@dataclass(frozen=True)
class Tasks:
    """Programs over segments of one Gram matrix, and where each starts.

    Parameters
    ----------
    gram : Gram
    groups, first : the segments of all programs, one after the other, and where those of each begin
    dual : returns the program of a number
    open : (n,) whether there is anything to solve
    begin : returns where to start with the programs of a range, one after the other; None: at 0
    joined : returns the programs of a range as one program that they are parts of; None: they may differ in kind
    before : (n,) the smaller number of the program whose solution each starts from, or -1; None: all are alone
    view_of : makes the view of some segments
    last : whether no programs over this Gram matrix come after these
    """

    gram: Gram
    groups: Ids
    first: Ids
    dual: Callable[[int], Dual]
    open: NDArray[np.bool_]
    begin: Callable[[range], Vector] | None = None
    joined: Callable[[range], Dual] | None = None
    before: Ids | None = None
    view_of: Callable[[Gram, list[int]], View] = View.of
    last: bool = False

    def __len__(self) -> int:
        return len(self.open)

    def __getitem__(self, number: int) -> Task:
        return Task(self.view(number), self.dual(number), self.start(number))

    def view(self, number: int) -> View:
        """Return the rows of a program."""
        return self.view_of(self.gram, self.groups_of(number))

    def groups_of(self, number: int) -> list[int]:
        """Return the segments of a program."""
        return self.groups[self.first[number] : self.first[number + 1]].tolist()

    def start(self, number: int) -> State | None:
        """Return the start for a program."""
        begun = self.starts(range(number, number + 1))
        return None if begun is None else State(begun)

    def starts(self, some: range) -> Vector | None:
        """Return the starts for the programs of a range, one after the other."""
        return None if self.begin is None else self.begin(some)

    def some(self, numbers: Ids, begin: Callable[[Ids], Vector] | None) -> Tasks:
        """Return some of the programs; ``begin`` returns where to start with the programs of these numbers."""
        counts = np.diff(self.first)[numbers]
        first = np.concatenate([[0], np.cumsum(counts)])
        places = np.arange(first[-1]) + np.repeat(self.first[numbers] - first[:-1], counts)
        return Tasks(
            self.gram,
            self.groups[places],
            first,
            lambda k: self.dual(int(numbers[k])),
            self.open[numbers],
            None if begin is None else lambda some: begin(numbers[some.start : some.stop]),
        )

    @cached_property
    def sizes(self) -> Ids:
        """The number of variables of each program."""
        return np.add.reduceat(np.diff(self.gram.starts)[self.groups], self.first[:-1])
