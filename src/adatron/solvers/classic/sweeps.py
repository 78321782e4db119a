"""Visits to every sample in order: the part that Kernel-Adatron and SVMseq share.

A visit to sample i moves beta_i along its gradient, beta_i <- clip(soft(beta_i - eta_i h_i, epsilon eta_i), l_i, u_i)
with h = g + b, and carries the change over to g. For eta_i < 2 / (K_ii + lambda^2) no visit makes D larger.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...compiled.cache.jit import jit
from ...gram.row_cache import RowCache
from ..ascent import Ascent, How
from ..dense.singles import proximal
from ..status import STOP


@jit
def sweep(
    first: int,
    rows: Any,
    slot: Any,
    used: Any,
    beta: Any,
    g: Any,
    b: float,
    lower: Any,
    upper: Any,
    epsilon: float,
    lambda2: float,
    rate: Any,
    diagonal: Any,
    clock: int,
    told: Any,
    flag: Any,
) -> int:
    """Visit the samples from ``first`` on; return the one whose row is missing, or n.

    ``told`` collects the gain of the Lagrangian (eq. 40 of SVMseq), the largest change, their sum and their number.
    """
    for i in range(first, len(g)):
        if flag[STOP] != 0:
            break
        h = g[i] + b
        value = proximal(beta[i], h, rate[i], lower[i], upper[i], epsilon)
        d = value - beta[i]
        if d == 0.0:
            continue
        if slot[i] < 0:
            return i
        row = rows[slot[i]]
        used[slot[i]] = clock
        for t in range(len(g)):
            g[t] += d * (row[t] + lambda2)
        told[0] -= d * (h + 0.5 * d * diagonal[i]) + epsilon * (abs(value) - abs(beta[i]))
        told[1] = max(told[1], abs(d))
        told[2] += abs(d)
        told[3] += 1.0
        beta[i] = value
    return len(g)


class Sweeps(Ascent[How]):
    """A solver that makes sweeps; ``rate`` is set by the algorithm."""

    def prepare(self) -> None:
        self.rows = RowCache(self.view, self.options.memory)
        self.diagonal = self.view.diagonal() + self.dual.lambda2
        self.rate = np.zeros(len(self.g))

    def epoch(self, b: float) -> tuple[float, float]:
        """Visit every sample once; return the gain of the Lagrangian and the largest change of a coefficient."""
        dual, told, i = self.dual, np.zeros(4), 0
        self.n_iter += 1
        while True:
            i = sweep(
                i, *self.rows.arrays, self.beta, self.g, b, dual.lower, dual.upper,
                dual.epsilon, dual.lambda2, self.rate, self.diagonal, self.rows.clock(), told, self.watch.flag,
            )  # fmt: skip
            if i == len(self.g) or self.stopped():
                break
            likely = i + 1 + np.flatnonzero(self.inward(b)[i + 1 :] > 0)
            self.rows.fetch(self.rows.missing(np.concatenate([[i], likely])))
        self.round(int(told[3]), 1, float(told[2]))
        return float(told[0]), float(told[1])
