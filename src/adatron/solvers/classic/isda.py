"""ISDA: the iterative single data algorithm.

Problem   any program of ``problems.dual``: classification and regression. All forms of the bias: penalised,
          1/k = lambda^2 added to K (eq. 12); none, k = infinity; explicit, by the secant rule (eq. 14).
Update    the worst violator i of the KKT conditions takes the exact step
          beta_i <- clip(soft(beta_i - (g_i + b) / K_ii, epsilon / K_ii), l_i, u_i); g += d K_i.
          With ``omega`` the step is omega / K_ii: over-relaxation.
          The solver keeps rows of K and drops the least recently used. It looks for the violator among the samples
          in play. These are the support vectors and the worst violators of all data, without samples that sit firmly
          at a bound (shrinking). Once they are solved, all data are checked, and the worst violators of them join.
          An epoch, after which the secant rule moves b, ends at an optimum for this b.
Stop      no sample violates the KKT conditions by more than tol.
Source    T.-M. Huang, V. Kecman, Bias term b in SVMs again, ESANN (2004). b starts at 0; the second value is not
          given: +-mu here, by the sign of sum(beta).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ...arrays import Ids, Vector
from ...certificates import intercept
from ...compiled.cache.jit import jit
from ...compiled.optimality import inward, slopes
from ...compiled.search import CHUNK, argmax
from ...gram import View
from ...gram.view import ROWS_AHEAD, CachedRows, RowCache
from ...problems import Dual
from ..ascent import Ascent
from ..base import Options, Solver, Watch
from ..dense.pairs import FORBIDDEN
from ..dense.singles import proximal
from ..results import STOP, Solution, Status
from ..tasks import State
from .kernel_adatron import legal_rate
from .secant import Secant

UPDATES_AT_ONCE = 1000  # Updates between looks at the clock, and at samples that can be left out.
ALL_IN_PLAY = 2000  # Samples that can be in play from the start, or an eighth of all.
LEFT_IN_PLAY = 0.1  # Fraction of the worst violation of all data; below it among those in play, all data are checked.
KEEP = 0.7  # Fraction of the samples in play; samples are left out if no more than this remains.


@dataclass(frozen=True)
class ISDA(Solver):
    """ISDA.

    Parameters
    ----------
    shrinking : bool, default=True
        Keep only a part of the samples in play, until all data are checked.
    mu : float, default=0.1
        Size of the first change of an explicit bias.
    omega : float, default=1.0
        Over-relaxation of the steps, in (0, 2).

    Examples
    --------
    >>> from adatron import SVC
    >>> from adatron.solvers import ISDA
    >>> SVC(solver=ISDA(shrinking=False)).fit([[0.0], [1.0]], [0, 1]).predict([[0.2]])
    array([0])
    """

    shrinking: bool = True
    mu: float = 0.1
    omega: float = 1.0
    unit: ClassVar[str] = "single updates"
    traced: ClassVar[tuple[str, ...]] = ("bias", "active")

    def accepts(self, dual: Dual) -> bool:
        return dual.one_sum or not dual.totals

    def most(self, n: int) -> int:
        return max(20_000_000, 2000 * n)

    def solve(self, view: View, dual: Dual, options: Options, state: State | None, watch: Watch) -> Solution:
        return _ISDA(self, view, dual, options, state, watch).solve()


@jit(finite=True, inner=True)
def _scores(n: int, g: Any, d: float, row: Any, shift: float, grow: Any, shrink: Any, score: Any) -> None:
    """Set g += d row + shift; set score to the violation of every sample."""
    for t in range(n):
        g[t] += d * row[t] + shift
        score[t] = inward(grow[t], shrink[t], g[t])


@jit(finite=True)
def updates(
    cache: CachedRows, arrays: Any, epsilon: float, lambda2: float, omega: float, b: float, tol: float, steps: int,
    clock: int, flag: Any,
) -> Any:  # fmt: skip
    """Move the worst violator up to ``steps`` times.

    Return the number of moves, the sum of their sizes, their gain of the objective, and a missing row or -1.
    g is h = g + b here, and ``score`` holds the violations. ``arrays`` are those of Active, padded to whole CHUNKs.
    """
    beta, g, lower, upper, rate, grow, shrink, score = arrays  # omega / K_ii is the rate
    slot, path, gain = cache.slot, 0.0, 0.0
    for step in range(steps):
        i = argmax(score, len(score))
        if score[i] <= tol or flag[STOP] != 0:
            return step, path, gain, -1
        if slot[i] < 0:
            return step, path, gain, i
        cache.used[slot[i]] = clock + step
        value = proximal(beta[i], g[i], rate[i], lower[i], upper[i], epsilon)
        d = value - beta[i]
        gain += d * (g[i] - b + 0.5 * d * omega / rate[i]) + epsilon * (abs(value) - abs(beta[i]))
        beta[i] = value
        path += abs(d)
        grow[i], shrink[i] = slopes(value, lower[i], upper[i], epsilon)
        _scores(len(slot), g, d, cache.values[slot[i]], d * lambda2, grow, shrink, score)
    return steps, path, gain, -1


class _ISDA(Ascent[ISDA]):
    def __init__(self, how: ISDA, view: View, dual: Dual, options: Options, state: State | None, watch: Watch) -> None:
        super().__init__(how, view, dual, options, state, watch)
        explicit = bool(dual.totals)
        first = intercept(dual, self.beta, self.g) if explicit and self.beta.any() else 0.0
        self.secant = Secant(first, how.mu, careful=True)

    def prepare(self) -> None:
        self.rows = RowCache(self.view, self.options.memory / 3)
        self.rate = legal_rate(None, self.view.diagonal() + self.dual.lambda2, self.how.omega)

    def ascend(self, tol: float) -> Status:
        secant, explicit = self.secant, bool(self.dual.totals)
        secant.restart()
        while True:
            status = self._settle(secant.b, 0.25 * tol if explicit else tol)
            if not explicit or status is not Status.CONVERGED:
                self.restore(secant.b, self.beta)
                return status
            omega = float(self.beta.sum()) - self.dual.totals[0]
            if secant.closed or min(abs(omega) * self.view.magnitude, secant.width) <= 0.25 * tol:
                self.restore(secant.b, secant.blend(self.beta, 0.25 * tol))
                self._value = self.dual.objective(self.beta, self.g)
                return self.pause(self.violation(), tol, secant.b, len(self.g)) or Status.CONVERGED
            secant.advance(omega, self.beta)

    def _settle(self, b: float, tol: float) -> Status:
        """Solve for a fixed bias among the samples in play, check all data, and take in those that violate."""
        while True:
            before, score = self.beta.copy(), self.inward(b)
            active = self._chosen(score, b)
            aim = max(tol, LEFT_IN_PLAY * float(score.max())) if len(active.ids) < len(self.g) else tol
            self._value, self.steady = self.dual.objective(self.beta, self.g), False
            while True:
                worst = max(0.0, float(active.score.max()))
                status = self.pause(worst, aim, b, len(active.ids))
                if status is not None:
                    break
                self._move(active, b, aim)
                self.beta[active.ids] = active.beta[: len(active.ids)]  # also for samples that leave play now
                active = self._shrunk(active, worst)
            self._take(active, b, before)
            left_out = len(active.ids) < len(self.g)
            if status is not Status.CONVERGED or not left_out or self.inward(b).max() <= tol:
                return status

    def _chosen(self, score: NDArray[np.float64], b: float) -> Active:
        """Return the samples, of all data, that come into play."""
        n, most = len(score), max(ALL_IN_PLAY, len(score) // 8, 2 * int(np.count_nonzero(self.beta)))
        ids = promising(score, self.beta, most) if self.how.shrinking and most < KEEP * n else np.arange(n)
        rows = self.rows if len(ids) == n else self.rows.among(ids, self.options.memory / 3)
        return Active(ids, rows, self.dual, self.rate, self.beta, self.g + b)

    def _move(self, active: Active, b: float, tol: float) -> None:
        """Make up to UPDATES_AT_ONCE updates; fetch the rows that are wanted first."""
        rows = active.rows
        steps = min(UPDATES_AT_ONCE, self.options.max_iter - self.n_iter)
        while steps > 0:
            done, path, gain, missing = updates(
                rows.arrays, active.arrays, self.dual.epsilon, self.dual.lambda2, self.how.omega, b, tol, steps,
                rows.clock(), self.watch.flag,
            )  # fmt: skip
            self.n_iter += done
            self._value += gain
            self.count_rounding(done, 1, path, b)
            if missing < 0 or self.stopped():
                break
            steps -= done
            likely = np.argsort(-active.score[: len(active.ids)])[: 4 * ROWS_AHEAD]
            rows.fetch(rows.missing(np.concatenate([[missing], likely[likely != missing]])))

    def _shrunk(self, active: Active, worst: float) -> Active:
        """Return the active samples without those that a bound holds more strongly than the worst one is pulled."""
        ids = active.ids
        keep = np.flatnonzero(active.score[: len(ids)] > -worst)
        if not self.how.shrinking or not 0 < len(keep) <= KEEP * len(ids):
            return active
        return active.among(keep, active.rows.among(keep, self.options.memory / 3))

    def _take(self, active: Active, b: float, before: NDArray[np.float64]) -> None:
        """Bring beta and g up to date; samples left out get their change of g from one product."""
        n = len(active.ids)
        if n < len(self.g):
            self._add(self.beta - before)
        else:
            self.g[:] = active.h[:n] - b
        self.steady = True

    def objective(self) -> float:
        return self._value

    def relative_gap(self) -> float:
        return np.nan  # only the check of all data tells the gap


GOLDEN = 0.6180339887498949  # its multiples spread evenly


class Active:
    """The part of a problem that some samples make up, in arrays padded to whole CHUNKs, as the searches need.

    Attributes
    ----------
    ids : (n,) the samples
    arrays : (8, size) beta, h = g + b, lower, upper, the rate 1 / K_ii, what growth and shrinkage add to the slope, and
        the violation; each is also an attribute
    """

    def __init__(self, ids: Ids, rows: RowCache, dual: Dual, rate: Vector, beta: Vector, h: Vector) -> None:
        self._prepare(ids, rows)
        n, part, beta, h = len(ids), dual.take(ids), beta[ids], h[ids]
        still = np.zeros(n)
        grow, shrink = part.growth(beta, still), part.shrinkage(beta, still)
        score = np.maximum(grow - h, shrink + h)
        columns = (beta, h, part.lower, part.upper, rate[ids], grow, shrink, score)
        self.arrays[:, :n] = np.maximum(columns, -FORBIDDEN)

    def _prepare(self, ids: Ids, rows: RowCache) -> None:
        self.ids, self.rows = ids, rows
        self.arrays = np.zeros((8, -(-len(ids) // CHUNK) * CHUNK))
        self.arrays[5:] = -FORBIDDEN  # the padding cannot move
        self.beta, self.h, self.lower, self.upper, self.rate, self.grow, self.shrink, self.score = self.arrays

    def among(self, keep: Ids, rows: RowCache) -> Active:
        """Return some of the samples, with their rows."""
        part = Active.__new__(Active)
        part._prepare(self.ids[keep], rows)
        part.arrays[:, : len(keep)] = self.arrays[:, keep]
        return part


def promising(score: Vector, beta: Vector, most: int) -> Ids:
    """Return the support vectors and the worst violators, without samples held firmly at a bound; ties are spread."""
    spread = np.argsort((np.arange(len(score)) * GOLDEN) % 1.0)
    wanted = np.where(beta != 0, np.maximum(score, 0.0), score)[spread]
    ids = np.sort(spread[np.argsort(-wanted, kind="stable")][:most])
    return ids[(score[ids] > -score.max()) | (beta[ids] != 0)]
