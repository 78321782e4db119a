"""Small programs: one block in float64, solved and proven in one go.

Problem   any program of ``problems.dual`` with finite bounds and few variables. What a long fit needs between its
          blocks (shards, a finish, float32 with its corrections) would take longer than the solution. Of many such
          programs, one for each pair of classes, ``together`` solves most.
Update    ``pairs`` (equality) or ``singles`` (none) over all variables; where they crawl, an active set.
Stop      the violation by a gradient that is computed anew from the same kernel matrix; where a gap is asked for, by a
          smaller tolerance as long as it is too large. What does not get there goes on in the block solver.
"""

from __future__ import annotations

from time import monotonic

import numpy as np
from numpy.typing import NDArray

from ..certificates import prove
from ..gram import SMALL, View
from ..problems import Dual
from ..problems.dual import Vector
from .base import Options, Solution, State, Status, Watch, ended
from .start import feasible
from .subproblem import INNER, Inner, Layout
from .tolerance import closer


def is_small(view: View, dual: Dual, options: Options, watch: Watch) -> bool:
    """Whether a program is to be solved in one go, and there is time to."""
    gram = view.gram
    fits = 0 < len(dual) <= min(SMALL, options.whole) and gram.dtype == np.float64 and not dual.unbounded
    return fits and (gram.held or gram.mirrors) and not watch.flag[0] and monotonic() < options.deadline


def at_once(
    view: View, dual: Dual, options: Options, state: State | None, watch: Watch
) -> tuple[Solution | None, State]:
    """The certified solution, or None; and where it is, for the block solver to go on.

    It is stuck where no smaller violation can be told from none, and the gap is still too large.
    """
    layout, tol = Layout.of(dual), options.tol
    state = state or State(np.zeros(len(dual)))
    while True:
        beta, g, n_iter = _improved(view, dual, layout, state, tol, options.max_iter - state.n_iter, watch.flag)
        state = State(beta, g, n_iter)
        proof = prove(view, dual, beta, g, convex=not watch.flag[1])
        status = ended(proof, options)
        if status is not None:
            break
        # The block solver says which limit it was.
        over = watch.flag[0] or n_iter >= options.max_iter or monotonic() >= options.deadline
        if over or proof.kkt_violation > tol:
            return None, state
        if tol <= proof.resolution:
            status = Status.STUCK
            break
        tol = max(proof.resolution, closer(tol, proof.relative_gap, options.widest_gap))
    watch.look(n_iter, proof.kkt_violation, -proof.dual, lambda: proof.relative_gap)
    return Solution(beta, g, n_iter, status, proof, watch.trace()), state


def _improved(
    view: View, dual: Dual, layout: Layout, state: State, tol: float, steps: int, flag: NDArray[np.int64]
) -> tuple[Vector, Vector, int]:
    """A better beta, the gradient there and the number of updates so far.

    The matrix goes with it: the proof of a kernel without a guarantee needs as much room again.
    """
    K = _matrix(view, layout)
    beta, g = feasible(dual, state.beta), -dual.t
    if np.count_nonzero(beta):
        g = g + layout.product(K, beta) + dual.lambda2 * float(beta.sum())
    with view.gram.pool.aside():
        found = Inner().solve(K, layout, dual, beta, g, INNER * tol, steps, flag)
    return found.beta, found.push(found.beta) - dual.t, state.n_iter + found.steps


def _matrix(view: View, layout: Layout) -> NDArray[np.float64]:
    """K at the places of the layout.

    From the matrix of all rows where several problems share it, or a function makes it.
    """
    gram, ids = view.gram, view.ids[layout.order]
    if gram.held and (len(view.groups) > 1 or not gram.kernel.compiled):
        return gram.among(ids, ids)
    return gram.square(view.points(layout.order[: layout.end]), len(ids))
