"""A shard: some variables of a problem with their part of beta and of the gradient.

The block solver asks three things of a shard: its worst violators, the points behind them, and to apply a change of
beta that happened somewhere. Only q points and q numbers travel, so a shard may be this machine, a GPU or a worker.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..gram.gram import Points, View
from ..problems import Dual
from ..problems.dual import Vector

Ids = NDArray[np.int64]


class Violators(NamedTuple):
    """Variables of one direction, worst first: number in the whole problem and violation."""

    ids: Ids
    values: Vector

    def joined(self, other: Violators) -> Violators:
        return Violators(np.concatenate([self.ids, other.ids]), np.concatenate([self.values, other.values]))


class Ends(NamedTuple):
    """The worst violators in both directions among the variables that an equality ties together."""

    grow: Violators
    shrink: Violators

    def joined(self, other: Ends, most: int) -> Ends:
        """The worst of both."""
        return Ends(worst(self.grow.joined(other.grow), most), worst(self.shrink.joined(other.shrink), most))

    @property
    def first(self) -> tuple[float, float]:
        """The largest values; -inf where there are none."""
        grow, shrink = (float(v.values[0]) if len(v.values) else -np.inf for v in self)
        return grow, shrink


class Shard:
    """Variables ``first`` to ``first + len(view)`` of a problem."""

    def __init__(self, view: View, first: int, dual: Dual, beta: Vector, g: Vector) -> None:
        self.view, self.first = view, first
        self.dual, self.beta, self.g = dual, beta, g

    def violators(self, most: int) -> list[Ends]:
        """For every equality (or for all) the ``most`` variables that gain most by growing and by shrinking."""
        grow, shrink = self.dual.growth(self.beta, self.g), self.dual.shrinkage(self.beta, self.g)
        if len(self.dual.totals) < 2:
            return [Ends(self._worst(grow, most), self._worst(shrink, most))]
        ties = [self.dual.row == r for r in range(len(self.dual.totals))]
        return [Ends(*(self._worst(np.where(tie, v, -np.inf), most) for v in (grow, shrink))) for tie in ties]

    def _worst(self, values: Vector, most: int) -> Violators:
        ids = np.flatnonzero(values > -np.inf)  # equal values, as these are, take a partition ten times as long
        if most < len(ids):
            some = values[ids]
            ids = ids[some >= np.partition(some, -most)[-most]]
        return worst(Violators(ids + self.first, values[ids]), most)

    def owns(self, ids: Ids) -> NDArray[np.bool_]:
        return (ids >= self.first) & (ids < self.first + len(self.view))

    def points(self, ids: Ids) -> Points:
        return self.view.points(ids - self.first)

    def set_beta(self, ids: Ids, beta: Vector) -> None:
        mine = self.owns(ids)
        self.beta[ids[mine] - self.first] = beta[mine]

    def apply(self, points: Points, change: Vector, constant: float) -> None:
        """g += K[:, points] @ change + constant."""
        self.view.accumulate(self.g[:, None], points, change[:, None])
        if constant:
            self.g += constant


def worst(candidates: Violators, most: int) -> Violators:
    """The worst candidates; equal ones in the order of their numbers, so that shards cannot change the choice."""
    order = np.lexsort((candidates.ids, -candidates.values))[:most]
    return Violators(candidates.ids[order], candidates.values[order])
