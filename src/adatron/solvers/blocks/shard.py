"""A shard: some variables of a problem with their part of beta and of the gradient; and parts, solved first.

The block solver asks a shard for a survey with its worst violators. A shard may be all variables, or those of a worker
of a cluster. A part is solved as a program of its own while the other variables stay: a block over all variables asks
for whole rows of K, although most variables are certain to stay at a bound, and a block of a part for rows over the
part. Whole rows are needed once, at the end, for the variables that the part has changed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ...arrays import Ids, Vector
from ...certificates import best_multipliers
from ...compiled.optimality import scan
from ...gram import View
from ...problems import Dual

STRIPE = 65536  # Consecutive variables that one task scans.
SAMPLE = 1024  # Fewest variables from which the size of the worst violators is estimated.
MORE, SPARE = 1.3, 8  # The estimate aims at this multiple of the wanted variables, plus this many.


class Violators(NamedTuple):
    """Variables of one direction in the order of their numbers in the whole problem, and what they gain."""

    ids: Ids
    values: Vector

    def joined(self, other: Violators) -> Violators:
        return Violators(np.concatenate([self.ids, other.ids]), np.concatenate([self.values, other.values]))

    @property
    def largest(self) -> float:
        """The largest gain; -inf if there are no variables."""
        return float(self.values.max(initial=-np.inf))


class Ends(NamedTuple):
    """The worst violators, and others, in both directions among the variables that an equality ties together."""

    grow: Violators
    shrink: Violators


class Survey(NamedTuple):
    """The state of a problem, or of the part that a shard holds.

    ends : for every equality, or for all variables without one, the worst violators
    free : the variables on no bound
    objective : its part of D
    """

    ends: list[Ends]
    free: Ids
    objective: float


class Shard:
    """The variables of a view with their part of beta and g."""

    def __init__(self, view: View, dual: Dual, beta: Vector, g: Vector) -> None:
        self.view = view
        self.dual, self.beta, self.g = dual, beta, g
        self._ids, self._values = np.empty((3, len(dual)), np.int64), np.empty((2, len(dual)))  # room for a scan

    def survey(self, most: int) -> Survey:
        """Return the shard's state, with at least the ``most`` variables that gain most by growing and by shrinking."""
        everything = np.full((max(1, len(self.dual.totals)), 2), -np.inf)
        step = len(self.dual) // max(SAMPLE, most)
        least = everything if step < 2 else self._guess(everything, most, step)
        lists, free, objective = self._scan(least)
        if any(len(v.ids) < most and bound > -np.inf for v, bound in zip(lists, least.flat, strict=True)):
            lists, free, objective = self._scan(everything)
        return Survey([Ends(*pair) for pair in zip(lists[::2], lists[1::2], strict=True)], free, objective)

    def _guess(self, everything: Vector, most: int, step: int) -> Vector:
        """Estimate, from every ``step``-th variable, the gain that somewhat more than ``most`` of a list reach."""
        place = int(MORE * most / step) + SPARE
        values = [v.values for v in self._scan(everything, step)[0]]
        least = [np.partition(v, -place)[-place] if len(v) >= place else -np.inf for v in values]
        return np.reshape(least, everything.shape)

    def _scan(self, least: Vector, step: int = 1) -> tuple[list[Violators], Ids, float]:
        """Return those that gain at least ``least``, by equality and direction; the free variables; the objective."""
        dual, n = self.dual, len(self.dual)
        row, sign = dual.membership
        terms = dual.t, dual.lower, dual.upper, dual.epsilon, row, sign
        length = n if step > 1 else STRIPE
        tasks = max(1, -(-n // length))
        counts, sums = np.zeros((tasks, 3), np.int64), np.zeros((tasks, 2))

        def task(number: int) -> None:
            place = number * length, min(n, (number + 1) * length), step
            scan(self.beta, self.g, terms, least, *place, (self._ids, self._values, counts[number], sums[number]))

        if tasks == 1:  # a single task is faster without the pool
            task(0)
        else:
            self.view.gram.pool.run(task, tasks)
        parts = [[slice(i * length, i * length + count) for i, count in enumerate(kind)] for kind in counts.T]
        grow, shrink, free = (np.concatenate([v[p] for p in some]) for v, some in zip(self._ids, parts, strict=True))
        both = [(ids, np.concatenate([v[p] for p in some]))
                for ids, v, some in zip((grow, shrink), self._values, parts, strict=False)]  # fmt: skip
        lists = []
        for r in range(len(least)):
            for ids, values in both:
                mine = slice(None) if len(least) == 1 else row[ids] == r
                lists.append(Violators(ids[mine], values[mine]))
        product, size = sums.sum(axis=0).tolist()
        return lists, free, 0.5 * product + dual.epsilon * size


def worst(candidates: Violators, most: int) -> Violators:
    """Return the worst candidates in their order; of equal ones the first, so that shards cannot change the choice."""
    ids, values = candidates
    if most >= len(ids):
        return candidates
    if most <= 0:
        return Violators(ids[:0], values[:0])
    last = np.partition(values, -most)[-most]
    chosen = values > last
    chosen[np.flatnonzero(values == last)[: most - np.count_nonzero(chosen)]] = True
    return Violators(ids[chosen], values[chosen])


FIRST_PART = 8  # The first part has one variable in this many.
LARGEST_PART = 3  # A part has at most one in this many of all variables.
AROUND = 2.0  # Size of a part, as a multiple of the variables that violate or are free.
CLOSE_TO = 0.9  # Fraction of the largest part; if more variables violate or are free, no part is made.


def near(dual: Dual, beta: Vector, g: Vector, tol: float, least: int) -> Ids:
    """Return the variables that violate or are free, and as many again that come next; none if they are too many."""
    inward = dual.inward(beta, g + dual.push(best_multipliers(dual, beta, g)))
    move, most = (inward > tol) | dual.free(beta), len(dual) // LARGEST_PART
    moving = int(np.count_nonzero(move))
    if moving > CLOSE_TO * most:
        return np.empty(0, np.int64)
    inward[move] = np.inf
    return worst(Violators(np.arange(len(dual)), inward), min(max(int(AROUND * moving), least), most)).ids


def restricted(dual: Dual, ids: Ids, beta: Vector) -> Dual:
    """Return the program of some variables, now at ``beta``, while the others stay."""
    part = dual.take(ids)
    return replace(part, totals=tuple(part.sums(beta).tolist()))
