"""SMO: sequential minimal optimisation, two variables at a time, in closed form.

Problem   any program of ``problems.dual``: classification and regression, all forms of the bias.
Update    beta_i += d, beta_j -= d keeps sum(beta). Along this direction the program is a parabola of curvature
          eta = K_ii + K_jj - 2 K_ij (15.48) on a segment (15.50). If epsilon > 0 it has kinks where beta_i or beta_j
          passes 0. d is the best of its vertices, its kinks and its ends (only the ends if eta <= 0).
          If an equality has signs s_i, s_i beta_i stands for beta_i and s_i s_j K_ij for K_ij.
Pairs     First choice: every sample that violates the KKT conditions, in passes over all samples and, until they are
          solved, over the free ones. Second choice: the free sample with the largest |E_i - E_j|, E = g + b (with the
          slope of epsilon |beta| on the side to which each would move). If that pair gives no progress, any free
          sample is tried, then any sample, both from a random place on. If a pass over all changes nothing and the
          conditions still fail (b was wrong), the maximal violating pair moves.
          ``second_order`` takes the maximal violator and the partner with the largest gain at every step instead.
Singles   Without an equality no partner is needed: the first choice moves alone, to its best place (Vogt). That is the
          Gauss-Seidel step of Kernel-Adatron and ISDA. ``second_order`` moves the sample whose step gains most.
Stop      max(-g) over those that can grow - min(-g) over those that can shrink <= tol.
Source    J. C. Platt, Fast training of SVMs using sequential minimal optimization (1999); Handbook of Computational
          Statistics, section 15.5.2; second order: R.-E. Fan, P.-H. Chen, C.-J. Lin, JMLR 6 (2005). Singles: M. Vogt,
          SMO algorithms for support vector machines without bias (2002).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ...arrays import Vector
from ...certificates import multipliers
from ...gram import View
from ...gram.view import RowCache
from ...problems import Dual
from ..ascent import Ascent
from ..base import Options, Solver, Watch
from ..dense.pairs import settled
from ..results import NEGATIVE_CURVATURE, Solution, Status
from ..tasks import State

LOOK = 64  # Steps between reports of the second-order choice.
NO_PROGRESS = 1e-14  # Fraction of the variables' size below which a step is no progress.


@dataclass(frozen=True)
class SMO(Solver):
    """Sequential minimal optimisation.

    Parameters
    ----------
    second_order : bool, default=False
        Choose pairs by their gain rather than by Platt's heuristics.

    Examples
    --------
    >>> from adatron import SVC
    >>> from adatron.solvers import SMO
    >>> SVC(solver=SMO(second_order=True)).fit([[0.0], [1.0]], [0, 1]).predict([[0.2]])
    array([0])
    """

    second_order: bool = False
    unit: ClassVar[str] = "pairs, or single samples without an explicit bias"

    def accepts(self, dual: Dual) -> bool:
        return True

    def most(self, n: int) -> int:
        return max(10_000_000, 1000 * n)

    def solve(self, view: View, dual: Dual, options: Options, state: State | None, watch: Watch) -> Solution:
        return _SMO(self, view, dual, options, state, watch).solve()


class _SMO(Ascent[SMO]):
    def prepare(self) -> None:
        self.random = np.random.default_rng(0)
        self.rows = RowCache(self.view, self.options.memory)
        self.diagonal = self.view.diagonal() + self.dual.lambda2
        self.sign = np.ones(len(self.g)) if self.dual.sign is None else self.dual.sign
        self.tied = np.zeros(len(self.g), np.int64) if self.dual.row is None else self.dual.row
        self.ties = [np.arange(len(self.g))[tie] for tie in self.dual.ties()]
        self.plain = self.dual.unsigned()
        self.mu = np.zeros(len(self.ties))

    def ascend(self, tol: float) -> Status:
        for moved in self._by_gain() if self.how.second_order else self._by_turns(0.5 * tol):
            status = self.pause(self.violation(), tol)
            if status is not None:
                return status
            if not moved:
                break
        return Status.STUCK

    def _by_gain(self) -> Iterator[bool]:
        """Take the maximal violator with the partner of the largest gain."""
        yield True
        while True:
            moved = False
            for _ in range(LOOK):
                if not self.dual.totals:
                    if self.n_iter >= self.options.max_iter or not self._single(self._most_gain()):
                        break
                    moved = True
                    continue
                i, _ = self._worst_pair()
                grow, shrink = self._ends()
                violation = np.where(self.tied == self.tied[i], np.maximum(grow[i] + shrink, 0.0), 0.0)
                eta = np.maximum(self.diagonal[i] + self.diagonal - 2.0 * self._row(i), 1e-12)
                if self.n_iter >= self.options.max_iter or not self._step(i, int(np.argmax(violation**2 / eta))):
                    break
                moved = True
            yield moved

    def _by_turns(self, tol: float) -> Iterator[bool]:
        """Make Platt's passes: over all samples, then over the free ones while that changes anything, and again."""
        yield True
        everything = np.arange(len(self.g))
        while True:
            self.mu = multipliers(self.dual, self.beta, self.g)
            moved = self._pass(everything, tol)
            yield True
            while self._pass(np.flatnonzero(self.dual.free(self.beta)), tol):
                moved = True
                yield True
            if not moved:
                yield bool(self.dual.totals) and self._step(*self._worst_pair())

    def _pass(self, samples: np.ndarray, tol: float) -> bool:
        """Examine samples; return whether any pair moved."""
        moved = False
        for j in samples:
            if self.n_iter >= self.options.max_iter or self.stopped():
                break
            h = self.g[j] + (self.sign[j] * self.mu[self.tied[j]] if self.dual.totals else 0.0)
            only = slice(j, j + 1)
            part = self.dual.take(only)
            pull = max(part.growth(self.beta[only], h)[0], part.shrinkage(self.beta[only], h)[0])
            moved |= bool(pull > tol) and (self._examine(int(j)) if self.dual.totals else self._single(int(j)))
        return moved

    def _examine(self, j: int) -> bool:
        """Move j with the first partner that gives progress."""
        free = np.flatnonzero(self.dual.free(self.beta) & (self.tied == self.tied[j]))
        grow, shrink = self._ends()
        gain = np.where(self.tied == self.tied[j], np.maximum(grow + shrink[j], shrink + grow[j]), -np.inf)
        if len(free) > 1 and self._step(int(free[np.argmax(gain[free])]), j):
            return True
        for group in (free, np.arange(len(self.g))):
            partners = group[gain[group] > 0]
            start = self.random.integers(len(partners)) if len(partners) else 0
            if any(self._step(int(i), j) for i in np.roll(partners, -start)):
                return True
        return False

    def _step(self, i: int, j: int) -> bool:
        """Take the best step along e_i - e_j, with the signs of an equality; return False if no step helps."""
        if i == j:
            return False
        Kj = self._row(j)
        d = self._best(i, j, self.diagonal[i] + self.diagonal[j] - 2.0 * float(Kj[i]))
        if abs(d) <= NO_PROGRESS * (abs(self.beta[i]) + abs(self.beta[j])):
            return False
        Ki = self._row(i)
        for k, row, change in ((i, Ki, d), (j, Kj, -d)):
            old = self.beta[k]
            self.beta[k] = settled(old, self.sign[k] * change, self.dual.lower[k], self.dual.upper[k])
            self.g += self.sign * (self.sign[k] * (self.beta[k] - old)) * row
        self.n_iter += 1
        self.count_rounding(2, 1, 2.0 * abs(d))
        self._threshold(i, j)
        return True

    def _single(self, i: int) -> bool:
        """Move one variable to its best place; return False if it does not move."""
        dual, old, rate = self.dual, float(self.beta[i]), 1.0 / max(float(self.diagonal[i]), 1e-300)
        free = old - rate * float(self.g[i])
        value = float(np.copysign(max(abs(free) - rate * dual.epsilon, 0.0), free))  # soft(beta - g / K_ii)
        value = min(max(value, float(dual.lower[i])), float(dual.upper[i]))
        if abs(value - old) <= NO_PROGRESS * abs(old):
            return False
        row = self._row(i)  # before anything moves: the time may be over while it is made
        self.beta[i] = value
        self.g += (value - old) * row
        self.n_iter += 1
        self.count_rounding(1, 1, abs(value - old))
        return True

    def _most_gain(self) -> int:
        """Return the variable whose step would gain most, if it met no bound."""
        pull = np.maximum(self.dual.inward(self.beta, self.g), 0.0)
        return int(np.argmax(pull**2 / np.maximum(self.diagonal, 1e-300)))

    def _best(self, i: int, j: int, eta: float) -> float:
        """Return the d that minimises the program along e_i - e_j."""
        dual, epsilon = self.plain, self.dual.epsilon
        a, c = self.sign[i] * self.beta[i], self.sign[j] * self.beta[j]
        low = max(dual.lower[i] - a, c - dual.upper[j])
        high = min(dual.upper[i] - a, c - dual.lower[j])
        slope = self.sign[i] * self.g[i] - self.sign[j] * self.g[j]
        if eta <= 0.0 and self.view.gram.kernel.convex:
            eta = 1e-12 * max(1.0, self.diagonal[i])  # rounding
        elif eta < 0.0:
            self.watch.flag[NEGATIVE_CURVATURE] = 1
        candidates = [d for d in (low, high, -a, c) if low <= d <= high and np.isfinite(d)]
        if eta > 0.0:
            tilts = (-2.0 * epsilon, 0.0, 2.0 * epsilon) if epsilon else (0.0,)
            candidates += [min(max(-(slope + tilt) / eta, low), high) for tilt in tilts]

        def value(d: float) -> float:
            kinks = abs(a + d) - abs(a) + abs(c - d) - abs(c)
            return d * (slope + 0.5 * eta * d) + epsilon * kinks

        best = min(candidates, key=value)
        return best if value(best) < 0.0 else 0.0

    def _row(self, i: int) -> Vector:
        """Return row i of the program: K + lambda^2, with the signs of the equality."""
        return self.sign[i] * self.sign * (self.rows.row(i) + self.dual.lambda2)

    def _ends(self) -> tuple[Vector, Vector]:
        return self.dual.growth(self.beta, self.g), self.dual.shrinkage(self.beta, self.g)

    def _worst_pair(self) -> tuple[int, int]:
        """Return the maximal violating pair of all equalities."""
        grow, shrink = self._ends()
        pairs = [(int(tie[np.argmax(grow[tie])]), int(tie[np.argmax(shrink[tie])])) for tie in self.ties]
        return max(pairs, key=lambda pair: grow[pair[0]] + shrink[pair[1]])

    def _threshold(self, i: int, j: int) -> None:
        """Set mu (which is b) from the pair: from one that is free, else between both (Platt, section 2.3)."""
        pair = np.array([i, j])
        at = self.tied[i]
        part = replace(self.dual.take(pair), totals=self.dual.totals[at : at + 1], row=None)
        self.mu[at] = multipliers(part, self.beta[pair], self.g[pair])[0]
