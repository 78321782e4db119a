"""A solver at work: it ascends by its own steps, and takes part in the loop of proofs, see ``loop``.

Float32 rows propose a point. The certificate corrects its gradient g where that matters, and the ascent goes on from
there: the new float32 error is proportional to the further change of beta, not to beta. If the rows are fine enough to
show that the gap is too large, no proof is made. A solver adds its steps, nothing else.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import suppress
from time import monotonic
from typing import Generic, TypeVar

import numpy as np

from ..certificates import (
    Certificate,
    Exact,
    best_multipliers,
    certify,
    duality_gap,
    kkt_violation,
    loosely,
    relative,
    unproven,
)
from ..compiled.precision import UNIT
from ..gram import View
from ..problems import Dual
from ..problems.dual import Vector, dot
from ..threads import OutOfTime
from .base import Options, Solver, Watch, Way
from .blocks.gradient import Gradient
from .loop import first_tolerance, next_tolerance, rounding_error, tolerance_for_gap, until_proven
from .results import NEGATIVE_CURVATURE, Solution, Status
from .start import feasible, filled
from .tasks import Origin, State

How = TypeVar("How", bound=Solver)
REFUSALS = 8  # Refused certificates after which float64 tiles take over.
UNRESOLVED = {4: 1e7, 8: 1e12}  # see ``_beyond``; by bytes of a kernel value: larger ones are not resolved
HUGE = 1e100  # Violation above which a fit overflows.
DROWNED = 32  # Updates, as a multiple of the variables, after which an ascent that is all rounding ends.


class Ascent(ABC, Generic[How]):
    """A solver at work on one problem.

    What is proven rests on what a solver keeps true:

    - beta stays within its bounds and on its equalities; a point outside proves nothing, and ends the fit.
    - g is the gradient at beta, up to errors that `count_rounding` has counted. Both change together, after the row
      of kernel values has come: a request for a row may end the fit. Otherwise ``steady`` is False in between.
    - `pause` is called between steps: it knows the limits.

    Attributes
    ----------
    how : the solver, with its parameters
    beta, g : (n,) the point that it is at, and the gradient there
    n_iter : what the solver counts
    rounding : bound of the rounding errors of g since it was computed
    origin : where a part of a program began; None for a whole program
    steady : whether g is the gradient at beta, up to errors that are known
    """

    origin: Origin | None = None
    steady = True

    def __init__(self, how: How, view: View, dual: Dual, options: Options, state: State | None, watch: Watch) -> None:
        self.how = how
        self.view, self.dual, self.options, self.watch = view, dual, options, watch
        # A function, not a method of this solver: a method that is kept would keep the solver, and all memory of the
        # fit, until the garbage collector runs.
        self.stopped = watch.until(options.deadline)
        state = state or State(np.zeros(len(dual)))
        self.beta = feasible(dual, state.beta)
        self.held = self.hold()
        self.n_iter = state.n_iter
        self.rounding = 0.0
        self._rounds, self._proven = 0, np.zeros(len(dual))  # bounds of errors of g, at the proofs so far
        self._least: tuple[Vector, Vector, Certificate] | None = None  # of the points whose violation is small enough
        self._resolved = self.n_iter  # the last point at which rounding left anything of the targets
        self.exact = Exact(dual)
        if state.g is not None and np.array_equal(self.beta, state.beta):
            self.g = state.g
            self.count_rounding(1, len(dual), float(np.abs(self.beta).sum()))  # the tiles' errors come with every proof
        elif self.beta.any():
            self._add(self.beta)

    @property
    def g(self) -> Vector:
        """The gradient at beta, as the rows have it."""
        return self.held.g

    @g.setter
    def g(self, g: Vector) -> None:
        self.held.g = g

    def hold(self) -> Gradient:
        """Return the variables with their gradient, which is that at 0."""
        return Gradient(self.view, self.dual, self.beta)

    @abstractmethod
    def prepare(self) -> None:
        """Make what depends on the view; called again when its tiles have become float64."""

    @abstractmethod
    def ascend(self, tol: float) -> Status:
        """Step until no violation of the tracked gradient is above tol (CONVERGED); return what ended the steps."""

    def solve(self) -> Solution:
        """Run to the end, or until there is no time for more kernel values."""
        try:
            self.prepare()
            return self.concluded(*until_proven(self, first_tolerance(self.dual, self.options), self.options))
        except OutOfTime:
            return Solution(self.beta, self.g, self.n_iter, Status.MAX_TIME, self._in_time(), self.watch.trace())

    def _in_time(self) -> Certificate:
        """Return the certificate that needs no more kernel values."""
        with suppress(OutOfTime):
            g = self.g  # rows far away may not be able to tell it any more
            if self.steady and self.held.known:
                g_error = self._errors() + self._proven + self.rounding
                return loosely(self.view, self.dual, self.beta, g, g_error)
        return unproven(self.dual, self.beta, self.g)

    def concluded(self, status: Status, proof: Certificate) -> Solution:
        """Return the solution; where rounding or a limit ended the loop, that with the least gap that was proven."""
        endless = status is Status.MAX_ITER and not self.options.chosen
        if self.dual.hard_margin and endless and np.isinf(proof.primal):
            status = Status.DIVERGED  # not one separating plane was found
        if not proof.convex and status is Status.STUCK:
            status = Status.NOT_CONVEX
        beta, g, best = self.beta, self.g, self._least
        worse = not proof.kkt_violation <= self.options.tol or (best and best[2].relative_gap < proof.relative_gap)
        if best and worse and proof.convex and not status.good:
            beta, g, proof = best
        return Solution(beta, g, self.n_iter, status, proof, self.watch.trace())

    def propose(self, tol: float) -> tuple[Status, float]:
        """Take steps; where float32 tiles lead no further, go on with float64 ones."""
        while True:
            status, tol = self._track(tol)
            if status is not Status.STUCK or self.view.gram.dtype == np.float64:
                return status, tol
            self._widen()
            self._anew()  # it may be noise

    def prove(self) -> Certificate:
        """Prove what is true of beta, and correct g where it matters."""
        if not self.dual.contains(self.beta):
            return unproven(self.dual, self.beta, self.g)
        here = self._errors()
        g_error = here + self._proven + self.rounding
        self._proven = np.maximum(self._proven, here)
        convex = not self.watch.flag[NEGATIVE_CURVATURE]
        proof = certify(self.view, self.exact, self.beta, self.g, g_error, convex=convex)
        self.held.corrected(self.exact.known)
        return proof

    def tighten(self, tol: float, proof: Certificate) -> float | Status:
        """Keep the best point, look at the tiles, and return a smaller tolerance while a gradient can meet one."""
        best = self._least
        if proof.kkt_violation <= self.options.tol and not (best and best[2].relative_gap < proof.relative_gap):
            self._least = self.beta.copy(), self.g.copy(), proof
        self._rounds += 1
        near = self._next(tol, proof)
        refused = self._rounds % REFUSALS == 0 or (self.options.way < Way.DECOMPOSE and self._coarse() > tol)
        if self.view.gram.dtype != np.float64 and refused:  # or float64 tiles of one block cost little more
            self._widen()
        return near if near > 0.0 else Status.STUCK

    def _track(self, tol: float) -> tuple[Status, float]:
        """Step until the tracked gap is small enough, too, unless the gradient is so coarse that only a proof can tell.

        Return what ended the steps, and the tolerance they came to.
        """
        while True:
            status = self.ascend(tol)
            near = self.short(status, tol)
            if near is None:
                return status, tol
            tol = near

    def short(self, status: Status, tol: float) -> float | None:
        """Return the tolerance at which the tracked gap may suffice; None if it does, or if only a proof tells."""
        wanted = self.options.widest_gap
        bent = self.watch.flag[NEGATIVE_CURVATURE] and not self.view.gram.kernel.convex
        if status is not Status.CONVERGED or wanted == np.inf or bent:
            return None
        gap = self.relative_gap()
        if not wanted < gap < np.inf:  # nan, too
            return None
        near = tolerance_for_gap(tol, gap, wanted)
        return near if near > max(self._coarse(), self.rounding, UNIT * float(np.abs(self.g).max())) else None

    def _next(self, tol: float, proof: Certificate) -> float:
        """Return the tolerance to go on with after a refusal; 0 if rounding lets no gradient meet a smaller one."""
        endless = self._rounds >= 4 * REFUSALS and self._rounds % REFUSALS == 0
        return 0.0 if endless and self.view.gram.dtype == np.float64 else next_tolerance(tol, proof, self.options)

    def _coarse(self) -> float:
        """Return how far the tiles blur a gradient."""
        largest = self.view.magnitude + self.dual.lambda2
        return rounding_error(dot(self.beta, self.beta), largest, self.view.gram.dtype.itemsize)

    def _errors(self) -> Vector:
        """Return bounds of the errors that kernel values bring into a gradient at beta."""
        return self.view.error_bounds(np.abs(self.beta))

    def _widen(self) -> None:
        """Go on with float64 tiles; g keeps the errors of the float32 ones."""
        self.rounding += 2.0 * float(np.maximum(self._proven, self._errors()).max(initial=0.0))
        self.view = self.view.widened()
        self.prepare()

    def _anew(self) -> None:
        """Compute g from nothing."""
        self.g = -self.dual.t
        self._add(self.beta)

    def pause(self, violation: float, tol: float, *extra: float, objective: float | None = None) -> Status | None:
        """Report between steps, and say what ends the ascent. The objective is computed unless it is given."""
        if not violation < HUGE:
            return Status.DIVERGED if self.dual.unbounded else Status.OVERFLOW
        objective = self.objective() if objective is None else objective
        wide = self.view.gram.dtype == np.float64
        if self.dual.unbounded and self._beyond(objective):
            return Status.DIVERGED if wide else Status.STUCK
        if wide and self._drowned():
            return Status.STUCK
        stop = self.watch.look(self.n_iter, violation, objective, self.relative_gap, extra)
        if violation <= tol:
            return Status.CONVERGED
        if stop:
            return Status.STOPPED
        if self.n_iter >= self.options.max_iter:
            return Status.MAX_ITER
        return Status.MAX_TIME if monotonic() >= self.options.deadline else None

    def _drowned(self) -> bool:
        """Return whether coefficients have long been so large that rounding of their products exceeds all targets."""
        largest, size = self.view.magnitude + self.dual.lambda2, float(np.abs(self.dual.t).max(initial=0.0))
        if not UNIT * float(np.abs(self.beta).max(initial=0.0)) * largest > size > 0.0:
            self._resolved = self.n_iter
        return self.n_iter - self._resolved > DROWNED * len(self.dual)

    def _beyond(self, objective: float) -> bool:
        """Return whether every solution of a program without bounds is too large for what kernel values resolve.

        With G = t'beta - epsilon |beta|_1, weak duality says of any w that meets all margins: |w| >= G / |w(beta)|.
        The best of them is that of a beta with t'beta >= |w|^2, which times the rounding of K blurs the margins.
        """
        dual, size = self.dual, float(np.abs(self.dual.t).max())
        largest, far = self.view.magnitude + dual.lambda2, UNRESOLVED[self.view.gram.dtype.itemsize] * size
        if float(np.abs(self.beta).max()) * largest > far:
            return True
        gain = self._gain()
        square = 2.0 * (objective + gain)
        return dual.cone and gain > 0.0 and gain * gain * largest > far * size * max(square, 0.0)

    def _gain(self) -> float:
        """Return t'beta - epsilon |beta|_1."""
        return dot(self.dual.t, self.beta) - self.dual.epsilon * float(np.abs(self.beta).sum())

    def violation(self) -> float:
        return kkt_violation(self.dual, self.beta, self.g)

    def inward(self, b: float) -> Vector:
        """Return the violation of every sample at the bias b; negative if the sample violates nothing."""
        return self.dual.inward(self.beta, self.g + b)

    def objective(self) -> float:
        if self.origin is not None:
            return self.origin.followed(self.beta, self.g, self.dual.epsilon)
        return self.dual.objective(self.beta, self.g)

    def relative_gap(self) -> float:
        """Return the relative gap of the tracked gradient, which proves nothing."""
        gap = duality_gap(self.dual, self.beta, self.g, best_multipliers(self.dual, self.beta, self.g))
        return relative(gap, -self.objective()) if np.isfinite(gap) else np.inf

    def restore(self, b: float, beta: Vector) -> None:
        """Go to ``beta``, and from there move what loses least at the bias b until sum(beta) = s, if it must be."""
        if not self.dual.totals:
            return
        self._change(np.clip(beta, self.dual.lower, self.dual.upper) - self.beta)
        excess = float(self.beta.sum()) - self.dual.totals[0]
        part = self.dual.piece(self.beta, self.g + b)
        gain = self.dual.shrinkage(self.beta, self.g + b) if excess > 0 else self.dual.growth(self.beta, self.g + b)
        room = self.beta - part.lower if excess > 0 else part.upper - self.beta
        self._change(-np.sign(excess) * filled(room, abs(excess), np.argsort(-gain, kind="stable")))

    def _change(self, change: Vector) -> None:
        self.beta += change
        self._add(change)

    def _add(self, change: Vector) -> None:
        """Carry a change of beta over to g."""
        ids, self.steady = np.flatnonzero(change), False
        self.held.apply(ids, self.held.points(ids), change[ids], self.dual.lambda2 * float(change.sum()))
        self.count_rounding(1, len(ids), float(np.abs(change).sum()))
        self.steady = True

    def count_rounding(self, additions: int, terms: int, path: float, b: float = 0.0) -> None:
        """Count the rounding of additions to g.

        Parameters
        ----------
        additions : how many there were
        terms : kernel values that were summed before each of them
        path : sum of the sizes of all changes of beta
        b : bias that g held meanwhile
        """
        largest = self.view.magnitude + self.dual.lambda2
        peak = float(np.abs(self.dual.t).max()) + (float(np.abs(self.beta).sum()) + path) * largest + abs(b)
        self.rounding += UNIT * ((terms + 2) * path * largest + (additions + 2) * peak)
