"""A small program: solved as one block in float64, and proven by the same kernel matrix.

They are many (one for each pair of classes) and short: what a long fit needs between its blocks (shards, a
finish, float32 with its corrections) would take longer than the solution. What this does not end goes on there.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..certificates import prove
from ..gram import View
from ..problems import Dual
from .base import Options, Solution, State, Status, Watch
from .start import feasible
from .subproblem import Inner, Layout

INNER = 0.8  # of the tolerance, so that rounding does not lift the violation above it


def at_once(view: View, dual: Dual, options: Options, state: State | None, watch: Watch) -> Solution | State:
    """The certified solution, or the state from which the block solver is to go on."""
    layout = Layout.of(dual)
    K = _matrix(view, layout)
    beta, g, n_iter = np.zeros(len(dual)), -dual.t, 0
    if state is not None:
        beta, n_iter = state.beta, state.n_iter
    beta = feasible(dual, beta)
    if beta.any():
        g = g + view.exact(np.arange(len(dual)), np.flatnonzero(beta), beta[beta != 0.0])
        g += dual.lambda2 * float(beta.sum())
    found = Inner().solve(K, layout, dual, beta, g, INNER * options.tol, options.max_iter - n_iter, watch.flag)
    beta, n_iter = found.beta, n_iter + found.steps
    g = found.push(beta) - dual.t
    proof = prove(view, dual, beta, g, convex=not watch.flag[1])
    small = proof.relative_gap <= (options.gap_tol or np.inf)
    if not (proof.kkt_violation <= options.tol and small):
        return State(beta, g, n_iter)
    watch.look(n_iter, proof.kkt_violation, -proof.dual, lambda: proof.relative_gap)
    return Solution(beta, g, n_iter, Status.CONVERGED, proof, watch.trace())


def _matrix(view: View, layout: Layout) -> NDArray[np.float64]:
    """K at the places of the layout."""
    ids = view.ids[layout.order]
    if not view.gram.mirrors:
        return view.gram.among(ids, ids)
    last = int(layout.place.max()) + 1  # the padding behind it can be anything
    return view.gram.square(view.points(layout.order[:last]), len(ids))
