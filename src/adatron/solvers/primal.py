"""Newton's method on the primal program: errors that cost their square, over the features of a linear kernel.

Problem   a program with a ridge R and a linear kernel. Of f = X w + b the best coefficients are
          beta(f) = the point of [l, u] next to (t - f -+ epsilon) / R, 0 where |t - f| <= epsilon. The primal
          1/2 |w|^2 + sum of the errors' costs has the gradient (w - X' beta, -sum beta), which is piecewise linear.
Update    Newton's direction, with E_i = 1 / R_i for the errors that count: [I + X'EX, X'E1; 1'EX, 1'E1]. With few
          features it is one Cholesky factor, else conjugate gradients find it. Then the minimum along the direction.
Stop      the gradient bounds violation and gap; a proof decides.
Cost      few steps, as only finitely many sets of errors are possible: five to twenty.
Source    O. L. Mangasarian, A finite Newton method for classification, Optimization Methods and Software 17 (2002);
          S. S. Keerthi, D. DeCoste, A modified finite Newton method for fast solution of large scale linear SVMs, JMLR
          6 (2005) 341-361.
"""

from __future__ import annotations

from math import fsum
from time import monotonic
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse.linalg import LinearOperator, cg

from ..arrays import Vector
from ..certificates import Certificate, Exact, certify, unproven
from ..gram import View
from ..problems import Dual
from ..problems.dual import dot
from ..threads import OutOfTime
from ..threads.gate import one_blas_thread
from .base import Options, Solver, Watch
from .linalg.features import Features
from .loop import first_tolerance, next_tolerance, until_proven
from .plan import feature_bytes
from .results import Solution, Status
from .start import feasible
from .tasks import State

MOST_STEPS = 1000  # Limit of Newton steps unless the user gives one; ten are usual.
HALVINGS, FLAT = 60, 0.01  # Most points tried along a direction; fraction of the first slope that is flat.
FASTER = 4.0  # Multiply-adds of a matrix product in the time of one of a vector.
MANY = 100  # Features up to which a step takes a factor in any case.
USUAL, TURNS, ROUGH = 30, 200, 0.05  # Conjugate gradients of a step, as a rule and at most, and their accuracy.
GAIN = 1e-14  # Fraction of the objective that a step must gain.
REFINED, HALF = 4, 0.5  # Refinements when rounding ends the steps, at most; what each must leave at most.
SAFE = 0.25  # Fraction of the tolerated gap to aim at.


class Primal(Solver):
    """Newton's method on the primal, for squared errors and a linear kernel.

    Examples
    --------
    >>> from adatron import LinearSVC
    >>> model = LinearSVC().fit([[0.0], [1.0]], [0, 1])
    >>> model.predict([[0.2]])
    array([0])
    """

    unit: ClassVar[str] = "Newton steps"
    batches: ClassVar[bool] = False
    ridged: ClassVar[bool] = True

    def accepts(self, dual: Dual) -> bool:
        return dual.one_sum or not dual.totals

    def most(self, n: int) -> int:
        return MOST_STEPS

    def solve(self, view: View, dual: Dual, options: Options, state: State | None, watch: Watch) -> Solution:
        if not view.gram.kernel.plain:
            raise ValueError("Errors that cost their square need a linear kernel.")
        at_work = _AtWork(view, dual, options, state or State(np.zeros(len(dual))), watch)
        try:
            with one_blas_thread():
                status, proof = until_proven(at_work, first_tolerance(dual, options), options)
        except OutOfTime:
            status, proof = Status.MAX_TIME, unproven(dual, at_work.beta, at_work.g)
        return Solution(at_work.beta, at_work.g, at_work.n_iter, status, proof, watch.trace())


class _AtWork:
    """A program at work.

    w, b, f : where the primal is, and its function at the rows
    beta, g : the dual point of the last proof, and its gradient
    """

    def __init__(self, view: View, dual: Dual, options: Options, state: State, watch: Watch) -> None:
        self.view, self.dual, self.options, self.watch = view, dual, options, watch
        assert dual.ridge is not None  # noqa: S101 (for the type checker)
        self.ridge = np.where(dual.ridge > 0.0, dual.ridge, 1.0)  # where it is 0 both bounds are 0
        self.rows = Features(view, dual.lambda2)
        self.fits, self.stiff = feature_bytes(self.rows.d) <= options.memory, False
        self.beta, self.g, self.n_iter, self.b = feasible(dual, state.beta), -dual.t, state.n_iter, 0.0
        self.w = self.rows.sums(self.beta[:, None])[:, 0]
        self.f = self.rows.times(self.w[:, None])[:, 0]
        self.longest = np.sqrt(view.magnitude + dual.lambda2)

    def _best(self, f: Vector) -> Vector:
        """Return the coefficients that are best for these function values."""
        error, eps = self.dual.t - f, self.dual.epsilon
        beyond = error - np.clip(error, -eps, eps) if eps else error
        return np.clip(beyond / self.ridge, self.dual.lower, self.dual.upper)

    def _objective(self, beta: Vector) -> float:
        costs = 0.5 * self.ridge * beta * beta
        over = np.where(beta > 0.0, beta >= self.dual.upper, beta <= self.dual.lower) & (beta != 0.0)
        if over.any():  # beyond a finite bound the cost is linear
            beyond = np.abs(self.dual.t - self.f) - self.dual.epsilon - self.ridge * np.abs(beta)
            costs = costs + np.where(over, np.abs(beta) * beyond, 0.0)
        return 0.5 * dot(self.w, self.w) + float(costs.sum())

    def propose(self, tol: float) -> tuple[Status, float]:
        """Step until the gradient is so small that violation and gap are."""
        before, free = np.inf, bool(self.dual.totals)
        while True:
            beta = self._best(self.f)
            down = self.w - self.rows.sums(beta[:, None])[:, 0]
            size, off = float(np.linalg.norm(down)), float(beta.sum()) if free else 0.0
            objective = self._objective(beta)
            violation, gap = 2.0 * size * self.longest, size * size / max(objective, 1e-300)
            even = abs(off) * self.longest**2 <= tol
            self.beta = beta
            if self.watch.look(self.n_iter, violation, -objective, lambda gap=gap: gap):
                return Status.STOPPED, tol
            if violation <= tol and even and gap <= SAFE * self.options.widest_gap:
                return Status.CONVERGED, tol
            if self.n_iter >= self.options.max_iter:
                return Status.MAX_ITER, tol
            if monotonic() >= self.options.deadline:
                return Status.MAX_TIME, tol
            if not objective < before - GAIN * abs(before) and before < np.inf:
                return self._refined(), tol
            before = objective
            if not self._step(beta, down, off):
                return self._refined(), tol

    def _refined(self) -> Status:
        """Refine the coefficients that count by what their conditions lack: f says little of their last digits."""
        dual, best = self.dual, np.inf
        beta, b = self.beta, self.b
        for _ in range(REFINED):
            inside = (beta > dual.lower) & (beta < dual.upper) & (beta != 0.0)
            f = self.rows.times(self.rows.sharp(beta)[:, None])[:, 0] + b
            lack = np.where(inside, dual.t - dual.epsilon * np.sign(beta) - f - self.ridge * beta, 0.0)
            most = float(np.abs(lack).max(initial=0.0))
            if not most < HALF * best:
                break
            self.beta, self.b, best = beta, b, most
            E, off = np.where(inside, 1.0 / self.ridge, 0.0), fsum(beta) if dual.totals else 0.0
            wanted = E * lack
            change = self._direction(E, np.append(self.rows.sums(wanted[:, None])[:, 0], wanted.sum() + off))
            moved = beta + wanted - E * (self.rows.times(change[:-1, None])[:, 0] + change[-1])
            beta = np.where(np.sign(moved) == np.sign(beta), np.clip(moved, dual.lower, dual.upper), 0.0)
            b += float(change[-1])
        return Status.STUCK

    def _step(self, beta: Vector, down: Vector, off: float) -> bool:
        """Go to the minimum along Newton's direction; return whether there is one."""
        inside = (beta > self.dual.lower) & (beta < self.dual.upper) & (beta != 0.0)
        change = self._direction(np.where(inside, 1.0 / self.ridge, 0.0), np.append(-down, off))
        dw, db = change[:-1], float(change[-1])
        along = self.rows.times(dw[:, None])[:, 0] + db
        linear, square = dot(self.w, dw), dot(dw, dw)

        def slope(a: float) -> float:
            return linear + a * square - dot(self._best(self.f + a * along), along)

        low, high, first = 0.0, 1.0, slope(0.0)
        if not first < 0.0:
            return False
        at, here = high, slope(high)
        while here < 0.0 and high < 2.0**20 and abs(here) > FLAT * abs(first):
            low, high = high, 2.0 * high
            at, here = high, slope(high)
        for _ in range(HALVINGS):
            if abs(here) <= FLAT * abs(first):
                break
            at = 0.5 * (low + high)
            here = slope(at)
            low, high = (at, high) if here < 0.0 else (low, at)
        self.w, self.b, self.f = self.w + at * dw, self.b + at * db, self.f + at * along
        self.n_iter += 1
        return True

    def _direction(self, E: Vector, down: Vector) -> Vector:
        """Return the solution of Newton's system; the last entry is the bias, 0 if there is none or no error counts."""
        d, counted = self.rows.d, np.count_nonzero(E)
        free, turns = bool(self.dual.totals) and counted > 0, TURNS if self.stiff else USUAL
        dear = d * d * (0.5 * counted + d / 3.0) > FASTER * 2.0 * turns * self.rows.numbers
        if self.fits and (d <= MANY or not dear):
            M = np.zeros((d + 1, d + 1))
            M[:d, :d] = self.rows.squares(E) + np.eye(d)
            M[:d, d] = M[d, :d] = self.rows.sums(E[:, None])[:, 0] if free else 0.0
            M[d, d] = float(E.sum()) if free else 1.0
            scale = 1.0 / np.sqrt(np.diagonal(M))
            M *= scale[:, None] * scale
            M.flat[:: d + 2] += d * 2.0**-52
            right = scale * np.where(np.arange(d + 1) < d + free, down, 0.0)
            try:
                return scale * cho_solve(cho_factor(M, check_finite=False), right, check_finite=False)
            except np.linalg.LinAlgError:
                return np.zeros(d + 1)  # rounding leaves no direction

        def times(p: Vector) -> Vector:
            weighted = E * (self.rows.times(p[:d, None])[:, 0] + free * p[d])
            return np.append(p[:d] + self.rows.sums(weighted[:, None])[:, 0], weighted.sum() if free else p[d])

        right = np.where(np.arange(d + 1) < d + free, down, 0.0)
        system: Any = LinearOperator((d + 1, d + 1), times)  # pyright: ignore[reportCallIssue]
        found, left = cg(system, right, rtol=ROUGH, maxiter=TURNS)
        self.stiff = left > 0
        return found

    def prove(self) -> Certificate:
        """Prove what is true of the coefficients, put on the equality."""
        self.beta = feasible(self.dual, self.beta)
        self.g = np.zeros(len(self.beta))
        every = np.full(len(self.beta), np.inf)
        return certify(self.view, Exact(self.dual), self.beta, self.g, every)

    def tighten(self, tol: float, proof: Certificate) -> float | Status:
        """Return a smaller tolerance, if a gradient can meet one."""
        return next_tolerance(tol, proof, self.options) or Status.STUCK
