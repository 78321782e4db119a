"""A certificate that is true although the tiles are float32.

Float64 is spent where it matters: on the support vectors, and on the rows whose term of the gap might be positive
given the proven error of the float32 gradient. The terms of all other rows are zero beyond doubt.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..gram import SMALL, View
from ..gram.gate import one_blas_thread
from ..problems import Dual
from ..problems.dual import UNIT, Vector
from .gap import best_multipliers, duality_gap
from .kkt import kkt_violation

SAMPLE = 512  # rows on which a kernel without a guarantee is checked for negative eigenvalues


@dataclass(frozen=True)
class Certificate:
    """What is proven about a dual point.

    primal, dual : objectives of the primal and of the dual (both to be read as in the primal: primal >= dual)
    kkt_violation : see ``kkt_violation``
    resolution : error of a gradient computed in float64; no smaller violation can be told from none
    convex : False if the kernel was found not to be positive semi-definite; the gap then bounds nothing
    """

    primal: float
    dual: float
    kkt_violation: float
    resolution: float = 0.0
    convex: bool = True

    @property
    def gap(self) -> float:
        return self.primal - self.dual

    @property
    def relative_gap(self) -> float:
        """(P + D) / max(1, |P|, |D|)."""
        if not self.convex:
            return float("nan")
        return self.gap / max(1.0, abs(self.primal), abs(self.dual)) if np.isfinite(self.primal) else np.inf


def certify(view: View, dual: Dual, beta: Vector, g: Vector, slack: float, convex: bool = True) -> Certificate:
    """Prove what can be proven about ``beta``, and correct ``g`` in place on the rows that were computed anew.

    Parameters
    ----------
    g : (n,) gradient as the solver tracked it
    slack : proven bound of the error of ``g``
    """
    support = np.flatnonzero(beta)
    convex = convex and (view.gram.kernel.convex or _semidefinite(view, support))
    known = np.full(len(beta), len(beta) <= SMALL)
    known[support] = True
    _refresh(view, dual, beta, g, np.flatnonzero(known), support)
    while True:
        mu = best_multipliers(dual, beta, g)
        rows = np.flatnonzero(_may_matter(dual, beta, g, mu, slack, known))
        if not len(rows):
            break
        _refresh(view, dual, beta, g, rows, support)
        known[rows] = True
    return _evaluate(view, dual, beta, g, mu, convex)


def _semidefinite(view: View, support: NDArray[np.int64]) -> bool:
    """Whether no negative eigenvalue is found on a sample of the rows, support vectors first."""
    rows = np.concatenate([support, np.setdiff1d(np.arange(len(view)), support)])[:SAMPLE]
    points = view.points(rows)
    K = view.block(points, points)
    if not np.isfinite(K).all():
        return False
    rounding = 8.0 * len(rows) * float(np.finfo(K.dtype).eps) * float(np.abs(K).max())
    with one_blas_thread():  # bits of LAPACK depend on its threads
        return float(np.linalg.eigvalsh(K.astype(np.float64))[0]) >= -rounding


def _refresh(
    view: View, dual: Dual, beta: Vector, g: Vector, rows: NDArray[np.int64], support: NDArray[np.int64]
) -> None:
    g[rows] = view.exact(rows, support, beta[support, None])[:, 0] + dual.lambda2 * beta.sum() - dual.t[rows]


def _may_matter(
    dual: Dual, beta: Vector, g: Vector, mu: Vector, slack: float, known: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Rows not yet known, at a bound, whose gradient may point inwards: max(h + slack, 0) or max(-h + slack, 0) counts.

    With a hard margin: whose margin may be the smallest.
    """
    h = g + dual.push(mu)
    if dual.hard_margin:
        inner = dual.t * h
        return ~known & (inner - slack < np.min(inner[known], initial=np.inf))
    inward = np.maximum(dual.growth(beta, h), dual.shrinkage(beta, h))
    return ~known & (inward + slack > 0)


def _evaluate(view: View, dual: Dual, beta: Vector, g: Vector, mu: Vector, convex: bool) -> Certificate:
    size, largest = float(np.abs(beta).sum()), view.magnitude + dual.lambda2
    target = float(np.abs(dual.t).max(initial=0.0))
    error = UNIT * (8.0 * size * largest + 4.0 * (1.0 + target))  # of a gradient computed in float64
    value = -dual.objective(beta, g)
    gap = duality_gap(dual, beta, g, mu, error)
    gap += float(np.abs(mu * (dual.sums(beta) - dual.totals)).sum())
    convex = convex and dual.squared_norm(beta, g) >= -16.0 * error * size
    return Certificate(value + gap, value, kkt_violation(dual, beta, g), error, convex)
