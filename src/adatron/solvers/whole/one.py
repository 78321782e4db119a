"""Small programs: one block in float64, solved and proven in one go.

Problem   any program of ``problems.dual`` with finite bounds and few variables. What a long fit needs between its
          blocks (shards, a finish, float32 with its corrections) would take longer than the solution. Of many such
          programs, one for each pair of classes, ``whole.many`` solves most.
Update    ``pairs`` (equality) or ``singles`` (none) over all variables; where they crawl, an active set.
Stop      the violation by a gradient that is computed anew from the same kernel matrix; where a gap is asked for, by a
          smaller tolerance as long as it is too large. A program that does not get there goes on in the block solver.
"""

from __future__ import annotations

from dataclasses import replace
from time import monotonic

import numpy as np
from numpy.typing import NDArray

from ...certificates import Exact, certify, prove
from ...gram import View
from ...problems import Dual
from ...problems.dual import Vector
from ..base import Options, ended, first_tolerance, nearer
from ..dense import INNER, Inner, Layout
from ..solution import Solution
from ..start import feasible
from ..status import BENT, STOP, Status
from ..tasks import State
from ..watch import Watch

BLURRED = 0.01  # part of the tolerance that errors may add to a violation before it is looked at more closely
HALF, NEARLY = 0.5, 0.9  # of the last violation and gap: where rounding blurs them, they fall so far or not at all


def at_once(
    view: View, dual: Dual, options: Options, state: State | None, watch: Watch
) -> tuple[Solution | None, State]:
    """Return the certified solution or None, and where it is, for the block solver to go on.

    None where it was stopped before it began, too. It is stuck where no smaller violation can be told from none: the
    gap, or the violation itself, is still too large.
    """
    state = State(np.zeros(len(dual))) if state is None else replace(state)
    if watch.flag[STOP] or monotonic() >= options.deadline:
        return None, state
    whole, tol = _Whole(view, dual, Inner(watch.until(options.deadline), state.n_iter)), first_tolerance(dual, options)
    last = np.inf, np.inf
    while True:
        before = state.n_iter
        g = whole.improve(state, tol, options.max_iter - before, watch.flag)
        proof = prove(view, dual, state.beta, g, convex=not watch.flag[BENT])
        status = ended(proof, options)
        if status is None and proof.resolution > BLURRED * tol:  # sums of fewer terms, one after the other, prove more
            proof = certify(view, Exact(dual), state.beta, g, np.zeros(len(dual)), convex=not watch.flag[BENT])
            status = ended(proof, options)
        if watch.look(state.n_iter, proof.kkt_violation, -proof.dual, lambda: proof.relative_gap):  # noqa: B023
            status = status or Status.STOPPED
        if status is not None:
            break
        here = proof.kkt_violation - proof.resolution
        far, slow = here > tol, here > HALF * last[0] and proof.gap > NEARLY * last[1]
        last = here, proof.gap
        if far and slow and max(tol, here) <= proof.resolution:
            status = Status.STUCK if proof.convex else Status.NOT_CONVEX
            break
        if state.n_iter >= options.max_iter or monotonic() >= options.deadline or (far and state.n_iter == before):
            return None, state  # the block solver says which limit it was, or finds a step
        if not far:
            tol = nearer(tol, proof, options)
            if not tol:
                status = Status.STUCK if proof.convex else Status.NOT_CONVEX
                break
    return Solution(state.beta, g, state.n_iter, status, proof, watch.trace()), state


class _Whole:
    """A program and its matrix, which is kept as long as it is what it was."""

    def __init__(self, view: View, dual: Dual, inner: Inner) -> None:
        self.view, self.dual, self.layout, self.inner = view, dual, Layout.of(dual), inner
        self._K: NDArray[np.float64] | None = None

    def improve(self, state: State, tol: float, steps: int, flag: NDArray[np.int64]) -> Vector:
        """Move to a better beta; return the gradient there, computed anew."""
        K = self._matrix() if self._K is None else self._K
        beta, g = feasible(self.dual, state.beta), -self.dual.t
        if np.count_nonzero(beta):
            g = g + self.layout.product(K, beta) + self.dual.lambda2 * float(beta.sum())
        with self.view.gram.pool.aside():
            found = self.inner.solve(K, self.layout, self.dual, beta, g, INNER * tol, steps, flag)
        g = found.push(found.beta) - self.dual.t
        state.beta, state.g = found.beta, g
        state.n_iter += found.steps
        self._K = K if found.intact else None
        return g

    def _matrix(self) -> NDArray[np.float64]:
        """Return K at the places of the layout.

        From the matrix of all rows where several problems share it, or a function makes it.
        """
        gram, ids = self.view.gram, self.view.ids[self.layout.order]
        if gram.held and (len(self.view.groups) > 1 or gram.kernel.called):
            return gram.among(ids, ids)
        return gram.square(self.view.points(self.layout.order[: self.layout.end]), len(ids))
