"""Greedy: a toy solver, as CONTRIBUTING says: one file, and one line of the table of solvers.

Problem   programs of ``problems.dual`` without an equality and without a kink: classification, bias augmented or none.
Update    the variable that gains most per unit goes to the best point of its box, the others held.
Stop      no slope into the box is above tol.
Source    none; it is the first thing that one would try.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...gram import View
from ...gram.view import RowCache
from ...problems import Dual
from ..ascent import Ascent
from ..base import Options, Solver, Watch
from ..results import Solution, Status
from ..tasks import State


@dataclass(frozen=True)
class Greedy(Solver):
    """Single variables, the steepest first."""

    unit: ClassVar[str] = "steps"

    def accepts(self, dual: Dual) -> bool:
        return not dual.totals and not dual.epsilon

    def most(self, n: int) -> int:
        return max(1_000_000, 1000 * n)

    def solve(self, view: View, dual: Dual, options: Options, state: State | None, watch: Watch) -> Solution:
        return _Greedy(self, view, dual, options, state, watch).solve()


class _Greedy(Ascent[Greedy]):
    def prepare(self) -> None:
        self.rows = RowCache(self.view, self.options.memory)
        self.diagonal = self.view.diagonal() + self.dual.lambda2

    def ascend(self, tol: float) -> Status:
        while True:
            status = self.pause(self.violation(), tol)
            if status is not None:
                return status
            self._step(int(np.argmax(self.inward(0.0))))

    def _step(self, i: int) -> None:
        best = self.beta[i] - self.g[i] / self.diagonal[i]
        change = float(np.clip(best, self.dual.lower[i], self.dual.upper[i]) - self.beta[i])
        row = self.rows.row(i) + self.dual.lambda2  # before beta moves: the time may end here
        self.beta[i] += change
        self.g += change * row
        self.n_iter += 1
        self.count_rounding(1, 1, abs(change))
