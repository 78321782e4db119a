"""Visits to every sample, one after the other: the part that Kernel-Adatron and SVMseq share.

A visit to sample i moves beta_i along its gradient, beta_i <- clip(soft(beta_i - eta_i h_i, epsilon eta_i), l_i, u_i)
with h = g + b, and carries the change over to g. For eta_i < 2 / (K_ii + lambda^2) no visit makes D larger.

The papers visit samples in the order of the data. By default the order is that of the library, by class and content:
the solution then has the same bits for any order of the data.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...arrays import Ids
from ...compiled.cache.jit import jit
from ...gram import View
from ...gram.view import CachedRows, RowCache
from ...quoted import quoted
from ..ascent import Ascent, How
from ..dense.singles import proximal
from ..results import STOP


class Visited(NamedTuple):
    """The program of a sweep, see ``Dual``, with the rate and the entry of K + lambda^2 of each variable."""

    lower: Any
    upper: Any
    epsilon: float
    lambda2: float
    rate: Any
    diagonal: Any


def visits(order: str | int, view: View) -> Ids:
    """Return the samples of a view in the order of their visits.

    order : 'content', the order of the view; 'given', that of the rows of X; or the seed of a random order
    """
    if order == "content":
        return np.arange(len(view))
    if order == "given":
        return np.argsort(view.samples, kind="stable")
    if isinstance(order, str) or order < 0:
        raise ValueError(f"The 'order' parameter must be 'content', 'given' or a seed. Got {quoted(order)} instead.")
    return np.random.default_rng(order).permutation(len(view))


@jit
def sweep(
    first: int, order: Any, cache: CachedRows, beta: Any, g: Any, b: float, dual: Visited, clock: int, tally: Any,
    flag: Any,
) -> int:  # fmt: skip
    """Visit the samples from place ``first`` on; return the place of the one whose row is missing, or n.

    ``tally`` collects the gain of the Lagrangian (eq. 40 of SVMseq), the largest change, their sum and their number.
    """
    slot = cache.slot
    for place in range(first, len(order)):
        i = order[place]
        if flag[STOP] != 0:
            break
        h = g[i] + b
        value = proximal(beta[i], h, dual.rate[i], dual.lower[i], dual.upper[i], dual.epsilon)
        d = value - beta[i]
        if d == 0.0:
            continue
        if slot[i] < 0:
            return place
        row = cache.values[slot[i]]
        cache.used[slot[i]] = clock
        for t in range(len(g)):
            g[t] += d * (row[t] + dual.lambda2)
        tally[0] -= d * (h + 0.5 * d * dual.diagonal[i]) + dual.epsilon * (abs(value) - abs(beta[i]))
        tally[1] = max(tally[1], abs(d))
        tally[2] += abs(d)
        tally[3] += 1.0
        beta[i] = value
    return len(order)


class Sweeps(Ascent[How]):
    """A solver that makes sweeps; ``rate`` and ``order`` are set by the algorithm."""

    order: Ids

    def prepare(self) -> None:
        self.rows = RowCache(self.view, self.options.memory)
        self.diagonal = self.view.diagonal() + self.dual.lambda2
        self.rate = np.zeros(len(self.g))

    def epoch(self, b: float) -> tuple[float, float]:
        """Visit every sample once; return the gain of the Lagrangian and the largest change of a coefficient."""
        dual, tally, place = self.dual, np.zeros(4), 0
        visited = Visited(dual.lower, dual.upper, dual.epsilon, dual.lambda2, self.rate, self.diagonal)
        self.n_iter += 1
        while True:
            clock, arrays = self.rows.clock(), (self.rows.arrays, self.beta, self.g, b, visited)
            place = sweep(place, self.order, *arrays, clock, tally, self.watch.flag)
            if place == len(self.g) or self.stopped():
                break
            later = self.order[place + 1 :]
            likely = later[self.inward(b)[later] > 0]
            self.rows.fetch(self.rows.missing(np.concatenate([self.order[place : place + 1], likely])))
        self.count_rounding(int(tally[3]), 1, float(tally[2]))
        return float(tally[0]), float(tally[1])
