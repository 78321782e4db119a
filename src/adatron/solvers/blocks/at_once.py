"""Small programs: one block in float64, solved and proven in one go.

Problem   any program of ``problems.dual`` with finite bounds and few variables. All that a long fit needs between its
          blocks (shards, a finish, float32 with its corrections) would take longer than the solution. If there are
          many such programs, one for each pair of classes, ``batch.solve`` solves most of them.
Update    ``pairs`` (equality) or ``singles`` (none) over all variables; where they crawl, an active set.
Stop      violation <= tol by a gradient that is computed anew from the same kernel matrix. If a gap is asked for, the
          tolerance falls as long as it is too large. A program that does not get there goes on in the block solver.
"""

from __future__ import annotations

from dataclasses import replace
from time import monotonic

import numpy as np
from numpy.typing import NDArray

from ...certificates import Certificate, Exact, certify, prove
from ...gram import View
from ...problems import Dual
from ..base import Options, Watch
from ..dense import INNER, Inner, Layout, overwrites
from ..loop import ended, first_tolerance, next_tolerance, until_proven
from ..results import NEGATIVE_CURVATURE, STOP, Solution, Status
from ..start import feasible
from ..tasks import State

BLUR_IGNORED = 0.01  # Fraction of the tolerance that errors may add to a violation before another proof is made.
SLOW_VIOLATION, SLOW_GAP = 0.5, 0.9  # Fractions of the last violation and gap: if both stay above, rounding holds them.


def at_once(
    view: View, dual: Dual, options: Options, state: State | None, watch: Watch
) -> tuple[Solution | None, State]:
    """Return the certified solution, or None, and the state from which the block solver goes on.

    There is no solution, either, if the fit was stopped before it began. A program is stuck if no smaller violation can
    be told from none while the gap, or the violation itself, is still too large.
    """
    state = State(np.zeros(len(dual))) if state is None else replace(state)
    if watch.flag[STOP] or monotonic() >= options.deadline:
        return None, state
    small = _Small(view, dual, options, state, watch)
    status, proof = until_proven(small, first_tolerance(dual, options), options)
    if small.left:
        return None, state
    return Solution(state.beta, small.g, state.n_iter, status, proof, watch.trace()), state


class _Small:
    """A program at work, and its matrix, which is kept until a solver has changed it.

    Attributes
    ----------
    state : the caller's state, which changes in place
    g : the gradient at its point
    left : whether the block solver has to go on: it says which limit was met, or finds a step
    """

    def __init__(self, view: View, dual: Dual, options: Options, state: State, watch: Watch) -> None:
        self.view, self.dual, self.options, self.state, self.watch = view, dual, options, state, watch
        self.layout, self.inner = Layout.of(dual), Inner(watch.until(options.deadline), state.n_iter)
        self.g, self.left, self.stopped = -dual.t, False, False
        self._tol, self._before, self._last = options.tol, 0, (np.inf, np.inf)
        self._K: NDArray[np.float64] | None = None

    def propose(self, tol: float) -> tuple[Status, float]:
        """Solve the program, and compute the gradient anew."""
        state = self.state
        self._tol, self._before = tol, state.n_iter
        K = self._matrix() if self._K is None else self._K
        beta, g = feasible(self.dual, state.beta), -self.dual.t
        if np.count_nonzero(beta):
            g = g + self.layout.product(K, beta) + self.dual.lambda2 * float(beta.sum())
        with self.view.gram.pool.aside():
            steps = self.options.max_iter - state.n_iter
            found = self.inner.solve(K, self.layout, self.dual, beta, g, INNER * tol, steps, self.watch.flag)
        self.g = found.product(found.beta) - self.dual.t
        state.beta, state.g = found.beta, self.g
        state.n_iter += found.steps
        self._K = K if found.intact else None
        return Status.CONVERGED, tol

    def prove(self) -> Certificate:
        """Prove what is true of beta; if errors blur that, prove it by sums of fewer terms, one after the other."""
        view, dual, state, convex = self.view, self.dual, self.state, not self.watch.flag[NEGATIVE_CURVATURE]
        proof = prove(view, dual, state.beta, self.g, convex=convex)
        if proof.resolution > BLUR_IGNORED * self._tol and ended(proof, self.options) is None:
            proof = certify(view, Exact(dual), state.beta, self.g, np.zeros(len(dual)), convex=convex)
        self.stopped = self.watch.look(state.n_iter, proof.kkt_violation, -proof.dual, lambda: proof.relative_gap)
        return proof

    def tighten(self, tol: float, proof: Certificate) -> float | Status:
        """Return a smaller tolerance, or the same one while the violation falls."""
        if self.stopped:
            return Status.STOPPED
        stuck = Status.STUCK if proof.convex else Status.NOT_CONVEX
        here = proof.kkt_violation - proof.resolution
        far, slow = here > tol, here > SLOW_VIOLATION * self._last[0] and proof.gap > SLOW_GAP * self._last[1]
        self._last = here, proof.gap
        if far and slow and max(tol, here) <= proof.resolution:
            return stuck
        n_iter, late = self.state.n_iter, monotonic() >= self.options.deadline
        if n_iter >= self.options.max_iter or late or (far and n_iter == self._before):
            self.left = True
            return stuck
        return tol if far else next_tolerance(tol, proof, self.options) or stuck

    def _matrix(self) -> NDArray[np.float64]:
        """Return K at the places of the layout: a part of the matrix of all rows, if that is there or all are needed.

        A solver that leaves the matrix as it is takes no copy of one that has the places of the layout.
        """
        view, layout, dual = self.view, self.layout, self.dual
        gram, ids = view.gram, view.ids[layout.order]
        if not gram.in_one:
            return gram.among(ids, ids) if gram.held else gram.square(view.points(layout.order[: layout.end]), len(ids))
        K = gram.framed(0.0)
        if len(view.groups) == 1 and isinstance(layout.where, slice):
            return K.copy() if overwrites(dual) else K
        return gram.among(ids, ids)
