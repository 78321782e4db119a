"""ISDA: the iterative single data algorithm.

Problem   any program of ``problems.dual``, all forms of the bias: penalised, 1/k = lambda^2 added to K (eq. 12); none,
          k = infinity; explicit, by the secant rule (eq. 14). Classification and regression.
Update    the worst violator i of the KKT conditions takes the exact step
          beta_i <- clip(soft(beta_i - (g_i + b) / K_ii, epsilon / K_ii), l_i, u_i); g += d K_i.
          Rows of K are kept, the least recently used ones go. Samples that sit firmly at a bound are left out (shrunk)
          until the rest is solved; then all data are checked, and the search goes on among all if any sample violates.
          An epoch, after which the secant rule moves b, is n updates or an optimum for this b.
Stop      no sample violates the KKT conditions by more than tol.
Source    T.-M. Huang, V. Kecman, Bias term b in SVMs again, ESANN (2004). Its second bias of the secant rule is not
          given: here b starts at 0, then +-mu by the sign of sum(beta).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..compiled._jit import jit
from ..compiled.search import CHUNK, argmax
from ..gram import View
from ..gram.rows import AHEAD, Rows
from ..problems import Dual, intercept
from .ascent import Ascent
from .base import Options, Solution, Solver, State, Status, Watch
from .secant import Secant
from .subproblem.pairs import FAR, slopes
from .subproblem.singles import proximal

Ids = NDArray[np.int64]
STEPS = 1000  # between looks at the clock, and at what can be left out
KEEP = 0.7  # leave samples out if no more than this part remains


@dataclass(frozen=True)
class ISDA(Solver):
    """ISDA.

    Parameters
    ----------
    shrinking : bool, default=True
        Leave out samples that sit firmly at a bound, until the final check.
    mu : float, default=0.1
        Size of the first change of an explicit bias.
    """

    shrinking: bool = True
    mu: float = 0.1
    unit: ClassVar[str] = "single updates"
    traced: ClassVar[tuple[str, ...]] = ("bias", "active")

    def accepts(self, dual: Dual) -> bool:
        return True

    def most(self, n: int) -> int:
        return max(20_000_000, 2000 * n)

    def solve(self, view: View, dual: Dual, options: Options, state: State | None, watch: Watch) -> Solution:
        return _ISDA(self, view, dual, options, state, watch).solve()


@jit(finite=True)
def _scores(g: Any, d: float, row: Any, shift: float, grow: Any, shrink: Any, score: Any) -> None:
    """g += d row + shift; score = violation of every sample."""
    for t in range(len(row)):
        g[t] += d * row[t] + shift
        up, down = grow[t] - g[t], shrink[t] + g[t]
        score[t] = up if up > down else down


@jit(finite=True)
def updates(
    rows: Any,
    slot: Any,
    used: Any,
    beta: Any,
    g: Any,
    lower: Any,
    upper: Any,
    grow: Any,
    shrink: Any,
    inverse: Any,
    score: Any,
    epsilon: float,
    lambda2: float,
    b: float,
    tol: float,
    steps: int,
    clock: int,
    flag: Any,
) -> Any:
    """Move the worst violator up to ``steps`` times.

    Returns the number of moves, the sum of their sizes, what they add to the objective, and a missing row or -1.
    g is h = g + b here, and ``score`` holds the violations. Arrays over the samples are padded to whole CHUNKs.
    """  # fmt: skip
    path = gain = 0.0
    for step in range(steps):
        i = argmax(score, len(score))
        if score[i] <= tol or flag[0] != 0:
            return step, path, gain, -1
        if slot[i] < 0:
            return step, path, gain, i
        used[slot[i]] = clock + step
        value = proximal(beta[i], g[i], inverse[i], lower[i], upper[i], epsilon)
        d = value - beta[i]
        gain += d * (g[i] - b + 0.5 * d / inverse[i]) + epsilon * (abs(value) - abs(beta[i]))
        beta[i] = value
        path += abs(d)
        grow[i], shrink[i] = slopes(value, lower[i], upper[i], epsilon)
        _scores(g, d, rows[slot[i]], d * lambda2, grow, shrink, score)
    return steps, path, gain, -1


class _Active:
    """The samples in play: copies of their part of the problem, h = g + b in place of g."""

    def __init__(self, ids: Ids, rows: Rows, dual: Dual, diagonal: NDArray[np.float64]) -> None:
        self.ids, self.rows = ids, rows
        n, size = len(ids), -(-len(ids) // CHUNK) * CHUNK
        self.beta, self.h, self.lower, self.upper, self.inverse = np.zeros((5, size))
        self.grow, self.shrink = np.full((2, size), -FAR)
        self.lower[:n], self.upper[:n] = dual.lower[ids], dual.upper[ids]
        self.inverse[:n] = 1.0 / np.maximum(diagonal[ids], 1e-15 * diagonal.max())
        self.score = np.full(size, -FAR)

    def start(self, beta: NDArray[np.float64], h: NDArray[np.float64], dual: Dual) -> None:
        """Take over where the solver is."""
        n = len(self.ids)
        self.beta[:n], self.h[:n] = beta[self.ids], h[self.ids]
        sign = np.where(self.beta[:n] >= 0, -dual.epsilon, dual.epsilon)
        self.grow[:n] = np.where(self.beta[:n] < self.upper[:n], sign, -FAR)
        sign = np.where(self.beta[:n] > 0, dual.epsilon, -dual.epsilon)
        self.shrink[:n] = np.where(self.beta[:n] > self.lower[:n], sign, -FAR)
        self.score[:n] = np.maximum(self.grow[:n] - self.h[:n], self.shrink[:n] + self.h[:n])


class _ISDA(Ascent):
    def __init__(self, how: ISDA, view: View, dual: Dual, options: Options, state: State | None, watch: Watch) -> None:
        self.how = how
        super().__init__(view, dual, options, state, watch)
        explicit = dual.total is not None
        first = intercept(dual, self.beta, self.g) if explicit and self.beta.any() else 0.0
        self.secant = Secant(first, how.mu, careful=True)

    def prepare(self) -> None:
        self.rows = Rows(self.view, 0.5 * self.options.memory)
        self.diagonal = self.view.diagonal() + self.dual.lambda2
        self.everything = np.arange(len(self.g))

    def ascend(self, tol: float) -> Status:
        secant, explicit = self.secant, self.dual.total is not None
        secant.restart()
        while True:
            status = self._settle(secant.b, 0.25 * tol if explicit else tol)
            if not explicit or status is not Status.CONVERGED:
                self.restore(secant.b, self.beta)
                return status
            omega = float(self.beta.sum()) - float(self.dual.total or 0.0)
            if min(abs(omega) * self.view.magnitude, secant.width) <= 0.25 * tol:
                self.restore(secant.b, secant.blend(self.beta, 0.25 * tol))
                return self.pause(0.0, tol, secant.b, len(self.g)) or Status.CONVERGED
            secant.advance(omega, self.beta)

    def _settle(self, b: float, tol: float) -> Status:
        """Solve for a fixed bias, checking all data at the end."""
        while True:
            active = _Active(self.everything, self.rows, self.dual, self.diagonal)
            active.start(self.beta, self.g + b, self.dual)
            self._value = self.dual.objective(self.beta, self.g)
            while True:
                worst = max(0.0, float(active.score.max()))
                status = self.pause(worst, tol, b, len(active.ids))
                if status is not None:
                    break
                self._move(active, b, tol)
                active = self._shrunk(active, worst, b)
            self._take(active, b)
            left_out = len(active.ids) < len(self.g)
            if status is not Status.CONVERGED or not left_out or self._violation(b) <= tol:
                return status

    def _move(self, active: _Active, b: float, tol: float) -> None:
        """Up to STEPS updates, with the rows that are wanted first."""
        rows, epsilon = active.rows, self.dual.epsilon
        steps = min(STEPS, self.options.max_iter - self.n_iter)
        while steps > 0:
            done, path, gain, missing = updates(
                rows.values, rows.slot, rows.used, active.beta, active.h, active.lower, active.upper, active.grow,
                active.shrink, active.inverse, active.score, epsilon, self.dual.lambda2, b, tol, steps, rows.clock(),
                self.watch.flag,
            )  # fmt: skip
            self.n_iter += done
            self._value += gain
            self.round(done, path)
            if missing < 0 or self.stopped():
                break
            steps -= done
            likely = np.argsort(-active.score[: len(active.ids)])[: 4 * AHEAD]
            rows.fetch(rows.missing(np.concatenate([[missing], likely[likely != missing]])))

    def _shrunk(self, active: _Active, worst: float, b: float) -> _Active:
        """Without the samples at a bound whose gradient holds them there more strongly than the worst one is pulled."""
        ids = active.ids
        keep = np.flatnonzero(active.score[: len(ids)] > -worst)
        if not self.how.shrinking or len(keep) > KEEP * len(ids):
            return active
        self._take(active, b, complete=False)
        part = _Active(ids[keep], active.rows.among(keep, 0.5 * self.options.memory), self.dual, self.diagonal)
        part.start(self.beta, self.g + b, self.dual)
        return part

    def _take(self, active: _Active, b: float, complete: bool = True) -> None:
        """Bring beta and g up to date; g of the samples left out needs the change of beta, all in one product."""
        n, ids = len(active.ids), active.ids
        self.beta[ids], self.g[ids] = active.beta[:n], active.h[:n] - b
        if complete and n < len(self.g):
            self.g = -self.dual.t.copy()
            self.rounding = 0.0
            self._add(self.beta)

    def objective(self) -> float:
        return self._value

    def relative_gap(self) -> float:
        """Only the check of all data tells."""
        return np.nan

    def _violation(self, b: float) -> float:
        h = self.g + b
        return float(np.maximum(self.dual.growth(self.beta, h), self.dual.shrinkage(self.beta, h)).max())
