"""Small programs: one block in float64, solved and proven in one go.

Problem   any program of ``problems.dual`` with finite bounds and few variables. What a long fit needs between its
          blocks (shards, a finish, float32 with its corrections) would take longer than the solution. Of many such
          programs, one for each pair of classes, ``together`` solves most.
Update    ``pairs`` (equality) or ``singles`` (none) over all variables; where they crawl, an active set.
Stop      the violation by a gradient that is computed anew from the same kernel matrix. What does not get there goes on
          in the block solver.
"""

from __future__ import annotations

from time import monotonic

import numpy as np
from numpy.typing import NDArray

from ..certificates import prove
from ..gram import SMALL, View
from ..problems import Dual
from .base import Options, Solution, State, Watch, ended
from .start import feasible
from .subproblem import INNER, Inner, Layout


def is_small(view: View, dual: Dual, options: Options, watch: Watch) -> bool:
    """Whether a program is to be solved in one go, and there is time to."""
    gram = view.gram
    fits = 0 < len(dual) <= min(SMALL, options.whole) and gram.dtype == np.float64 and not dual.unbounded
    return fits and (gram.held or gram.mirrors) and not watch.flag[0] and monotonic() < options.deadline


def at_once(
    view: View, dual: Dual, options: Options, state: State | None, watch: Watch
) -> tuple[Solution | None, State]:
    """The certified solution, or None; and where it is, for the block solver to go on."""
    layout = Layout.of(dual)
    K = _matrix(view, layout)
    start = state or State(np.zeros(len(dual)))
    beta, g = feasible(dual, start.beta), -dual.t
    if np.count_nonzero(beta):
        g = g + layout.product(K, beta) + dual.lambda2 * float(beta.sum())
    steps = options.max_iter - start.n_iter
    with view.gram.pool.aside():
        found = Inner().solve(K, layout, dual, beta, g, INNER * options.tol, steps, watch.flag)
    beta, g = found.beta, found.push(found.beta) - dual.t
    state = State(beta, g, start.n_iter + found.steps)
    del K, found  # a kernel without a guarantee needs as much room again: pages would go back and come anew
    proof = prove(view, dual, beta, g, convex=not watch.flag[1])
    status = ended(proof, options)
    if status is None:
        return None, state
    watch.look(state.n_iter, proof.kkt_violation, -proof.dual, lambda: proof.relative_gap)
    return Solution(beta, g, state.n_iter, status, proof, watch.trace()), state


def _matrix(view: View, layout: Layout) -> NDArray[np.float64]:
    """K at the places of the layout.

    From the matrix of all rows where several problems share it, or a function makes it.
    """
    gram, ids = view.gram, view.ids[layout.order]
    if gram.held and (len(view.groups) > 1 or not gram.kernel.compiled):
        return gram.among(ids, ids)
    return gram.square(view.points(layout.order[: layout.end]), len(ids))
