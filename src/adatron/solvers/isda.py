"""ISDA: the iterative single data algorithm.

Problem   any program of ``problems.dual``, all forms of the bias: penalised, 1/k = lambda^2 added to K (eq. 12); none,
          k = infinity; explicit, by the secant rule (eq. 14). Classification and regression.
Update    the worst violator i of the KKT conditions takes the exact step
          beta_i <- clip(soft(beta_i - (g_i + b) / K_ii, epsilon / K_ii), l_i, u_i); g += d K_i.
          Rows of K are kept, the least recently used ones go. The search for the violator is among the samples in
          play: the support vectors and the worst violators of all data, without those that sit firmly at a bound
          (shrinking). Once these are solved all data are checked, and the worst violators of them join.
          An epoch, after which the secant rule moves b, ends at an optimum for this b.
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
FEW = 2000  # samples that can be in play from the start, or an eighth of all
PART = 0.1  # of the worst violation of all is left among the samples in play before all are looked at
GOLDEN = 0.6180339887498949  # its multiples spread evenly
KEEP = 0.7  # leave samples out if no more than this part remains


@dataclass(frozen=True)
class ISDA(Solver):
    """ISDA.

    Parameters
    ----------
    shrinking : bool, default=True
        Keep only a part of the samples in play, until all data are checked.
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
def _scores(n: int, g: Any, d: float, row: Any, shift: float, grow: Any, shrink: Any, score: Any) -> None:
    """g += d row + shift; score = violation of every sample."""
    for t in range(n):
        g[t] += d * row[t] + shift
        up, down = grow[t] - g[t], shrink[t] + g[t]
        score[t] = up if up > down else down


@jit(finite=True)
def updates(
    rows: Any,
    slot: Any,
    used: Any,
    arrays: Any,
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
    g is h = g + b here, and ``score`` holds the violations. ``arrays`` are those of _Active, padded to whole CHUNKs.
    """  # fmt: skip
    beta, g, lower, upper = arrays[0], arrays[1], arrays[2], arrays[3]
    inverse, grow, shrink, score = arrays[4], arrays[5], arrays[6], arrays[7]
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
        _scores(len(slot), g, d, rows[slot[i]], d * lambda2, grow, shrink, score)
    return steps, path, gain, -1


class _Active:
    """The samples in play: copies of their part of the problem, h = g + b in place of g."""

    def __init__(self, ids: Ids, rows: Rows, dual: Dual, diagonal: NDArray[np.float64]) -> None:
        self.ids, self.rows = ids, rows
        n, size = len(ids), -(-len(ids) // CHUNK) * CHUNK
        self.arrays = np.zeros((8, size))
        self.arrays[5:] = -FAR
        self.beta, self.h, self.lower, self.upper, self.inverse, self.grow, self.shrink, self.score = self.arrays
        self.lower[:n], self.upper[:n] = dual.lower[ids], dual.upper[ids]
        self.inverse[:n] = 1.0 / np.maximum(diagonal[ids], 1e-15 * diagonal.max())

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
        """Solve for a fixed bias among the samples in play, check all data, and take in those that violate."""
        while True:
            before, score = self.beta.copy(), self._score(b)
            active = self._chosen(score, b)
            aim = max(tol, PART * float(score.max())) if len(active.ids) < len(self.g) else tol
            self._value = self.dual.objective(self.beta, self.g)
            while True:
                worst = max(0.0, float(active.score.max()))
                status = self.pause(worst, aim, b, len(active.ids))
                if status is not None:
                    break
                self._move(active, b, aim)
                active = self._shrunk(active, worst)
            self._take(active, b, before)
            left_out = len(active.ids) < len(self.g)
            if status is not Status.CONVERGED or not left_out or self._score(b).max() <= tol:
                return status

    def _chosen(self, score: NDArray[np.float64], b: float) -> _Active:
        """The support vectors and the worst violators, of equal ones a spread; those held firmly at a bound are out."""
        n = len(score)
        most = max(FEW, n // 8, 2 * int(np.count_nonzero(self.beta)))
        ids = np.arange(n)
        if self.how.shrinking and most < KEEP * n:
            spread = np.argsort((ids * GOLDEN) % 1.0)
            order = spread[np.argsort(-np.where(self.beta != 0, np.maximum(score, 0.0), score)[spread], kind="stable")]
            ids = np.sort(order[:most])
            ids = ids[(score[ids] > -score.max()) | (self.beta[ids] != 0)]
        whole = len(ids) == n
        rows = self.rows if whole else self.rows.among(ids, 0.5 * self.options.memory)
        active = _Active(ids, rows, self.dual, self.diagonal)
        active.start(self.beta, self.g + b, self.dual)
        return active

    def _move(self, active: _Active, b: float, tol: float) -> None:
        """Up to STEPS updates, with the rows that are wanted first."""
        rows = active.rows
        steps = min(STEPS, self.options.max_iter - self.n_iter)
        while steps > 0:
            done, path, gain, missing = updates(
                rows.values, rows.slot, rows.used, active.arrays, self.dual.epsilon, self.dual.lambda2, b, tol, steps,
                rows.clock(), self.watch.flag,
            )  # fmt: skip
            self.n_iter += done
            self._value += gain
            self.round(done, path)
            if missing < 0 or self.stopped():
                break
            steps -= done
            likely = np.argsort(-active.score[: len(active.ids)])[: 4 * AHEAD]
            rows.fetch(rows.missing(np.concatenate([[missing], likely[likely != missing]])))

    def _shrunk(self, active: _Active, worst: float) -> _Active:
        """Without the samples at a bound whose gradient holds them there more strongly than the worst one is pulled."""
        ids = active.ids
        keep = np.flatnonzero(active.score[: len(ids)] > -worst)
        if not self.how.shrinking or len(keep) > KEEP * len(ids):
            return active
        part = _Active(ids[keep], active.rows.among(keep, 0.5 * self.options.memory), self.dual, self.diagonal)
        part.arrays[:, : len(keep)] = active.arrays[:, keep]
        self.beta[ids] = active.beta[: len(ids)]
        return part

    def _take(self, active: _Active, b: float, before: NDArray[np.float64]) -> None:
        """Bring beta and g up to date; g of the samples left out needs the change of beta, all in one product."""
        n, ids = len(active.ids), active.ids
        self.beta[ids] = active.beta[:n]
        if n == len(self.g):
            self.g[:] = active.h[:n] - b
        else:
            self._add(self.beta - before)

    def objective(self) -> float:
        return self._value

    def relative_gap(self) -> float:
        """Only the check of all data tells."""
        return np.nan

    def _score(self, b: float) -> NDArray[np.float64]:
        """The violation of every sample at the bias b; negative where there is none."""
        h = self.g + b
        return np.maximum(self.dual.growth(self.beta, h), self.dual.shrinkage(self.beta, h))
