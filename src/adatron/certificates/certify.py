"""A certificate that is true although the tiles are float32.

Float64 is spent where it matters: on the free variables, and on the rows whose term of the gap might be positive
given the proven error of the float32 gradient. All other rows are at a bound that pays, and their terms are zero beyond
doubt. Gap and violation are therefore proven. How high the two objectives lie is known to a tenth of the gap or to a
millionth, judged by the rows that were computed both ways.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..compiled._jit import jit
from ..compiled.lapack import has_factor
from ..compiled.scan import violation
from ..compiled.submatrix import asymmetry
from ..gram import SMALL, View
from ..gram.gate import one_blas_thread
from ..problems import Dual
from ..problems.dual import UNIT, Vector, dot
from .gap import best_multipliers, duality_gap, relative, sum_of_terms

LEVEL, DIGITS = 0.1, 1e-6  # of the gap, or of themselves: how well the objectives are to be known
MEASURES = 6  # of ``weigh``
ENOUGH = 30  # rows computed both ways, from which the errors of others are judged
SURE = 4.0  # standard deviations that a sum of many errors keeps within
SAMPLE = 512  # rows, at most, on which a kernel without a guarantee is checked for negative eigenvalues


@dataclass(frozen=True)
class Certificate:
    """What is proven about a dual point.

    primal, dual : objectives of the primal and of the dual (both to be read as in the primal: primal >= dual); their
        difference is proven, their common level known to about a tenth of it or to a millionth
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
        return relative(self.gap, self.dual) if isfinite(self.primal) else inf


class Exact:
    """The gradient in float64 on the rows that proofs have asked for.

    A proof after another one computes only what beta has changed by since.
    """

    def __init__(self, dual: Dual) -> None:
        self.dual = dual
        self.seen = np.zeros(len(dual), bool)  # rows that any proof has corrected
        self.drift = self.spread = np.inf  # of the errors of other rows, see ``compare``: the largest of all proofs
        self._begin()

    def _begin(self) -> None:
        """At 0, where all is known."""
        n = len(self.dual)
        self.beta, self.g, self.known = np.zeros(n), -self.dual.t, np.ones(n, bool)
        self.proofs, self.size = 0, 0.0  # and the largest |beta|_1 of them

    def at(self, beta: Vector) -> None:
        """Begin a proof: no row is known there yet."""
        if np.count_nonzero(beta != self.beta) > np.count_nonzero(beta):
            self._begin()
        self._last = self.beta, self.g, self.known
        self.beta, self.g, self.known = beta.copy(), np.zeros(len(beta)), np.zeros(len(beta), bool)
        self.proofs, self.size = self.proofs + 1, max(self.size, float(np.abs(beta).sum()))

    def ask(self, view: View, rows: NDArray[np.int64]) -> Vector:
        """The gradient on some rows, which are known from now on."""
        before, g, known = self._last
        changed = np.flatnonzero(self.beta != before)
        near = rows[known[rows]]
        self.g[near] = g[near] + self._product(view, near, changed, self.beta - before)
        far = rows[~known[rows]]
        self.g[far] = self._product(view, far, np.flatnonzero(self.beta), self.beta) - self.dual.t[far]
        self.known[rows] = True
        return self.g[rows]

    def compare(self, off: Vector) -> None:
        """Learn from what a proof has corrected its gradient by: a judgement, not a bound.

        Of errors that fall into line with beta none cancels another in beta'g; what is left scatters. The rows that are
        known are near the margin, those that are judged by them are not.
        """
        first = self.known & ~self.seen & (self.beta != 0.0)
        self.seen |= self.known
        along = np.sign(self.beta[first]) * off[first]
        if len(along) >= ENOUGH:
            spread = float(np.std(along))
            drift = abs(float(np.mean(along))) + SURE * spread / np.sqrt(len(along))
            before = (self.drift, self.spread) if np.isfinite(self.spread) else (0.0, 0.0)
            self.drift, self.spread = max(before[0], drift), max(before[1], spread)

    def missed(self, rows: NDArray[np.int64]) -> float:
        """How far the objectives may be off by the errors of some rows that are not known."""
        sizes = np.abs(self.beta[rows])
        return 0.5 * (self.drift * float(sizes.sum()) + SURE * self.spread * float(np.sqrt(dot(sizes, sizes))))

    def _product(self, view: View, rows: NDArray[np.int64], ids: NDArray[np.int64], beta: Vector) -> Vector:
        return view.exact(rows, ids, beta[ids]) + self.dual.lambda2 * float(beta[ids].sum())


def certify(view: View, exact: Exact, beta: Vector, g: Vector, slack: Vector, convex: bool = True) -> Certificate:
    """Prove what can be proven about ``beta``, and correct ``g`` in place on the rows that were computed anew.

    Parameters
    ----------
    exact : what earlier proofs about this program have computed
    g : (n,) gradient as the solver tracked it
    slack : (n,) proven bounds of the errors of ``g``
    """
    dual = exact.dual
    exact.at(beta)
    tracked = g.copy()
    rows = np.arange(len(beta))
    if len(beta) > SMALL:
        first = dual.free(beta)
        if not dual.hard_margin:  # whose smallest margin is to be known first
            mu = best_multipliers(dual, beta, g)  # nearly those of the corrected gradient
            first |= _may_matter(dual, beta, g, mu, slack, exact.known)
        rows = np.flatnonzero(first)
    while True:
        g[rows] = exact.ask(view, rows)
        mu = best_multipliers(dual, beta, g)
        rows = np.flatnonzero(_may_matter(dual, beta, g, mu, slack, exact.known))
        if len(rows):
            continue
        unknown = np.flatnonzero(~exact.known & (beta != 0.0))
        doubt = dot(np.abs(beta[unknown]), slack[unknown])
        exact.compare(g - tracked)
        allowed = max(LEVEL * duality_gap(dual, beta, g, mu), DIGITS * abs(dual.objective(beta, g)))
        if not len(unknown) or min(exact.missed(unknown), 0.5 * doubt) <= allowed:
            return _evaluate(view, dual, beta, g, mu, exact.proofs, exact.size, convex, doubt)
        rows = unknown


def prove(view: View, dual: Dual, beta: Vector, g: Vector, convex: bool = True) -> Certificate:
    """Prove what can be proven about ``beta`` by a gradient that was computed in float64 on all rows."""
    terms = 1.0 + np.count_nonzero(beta) / 8.0  # of a sum, one after the other
    return _evaluate(view, dual, beta, g, best_multipliers(dual, beta, g), terms, 0.0, convex)


def semidefinite(view: View, support: NDArray[np.int64]) -> bool:
    """Whether no negative eigenvalue is found: on all rows, or on support vectors first and others evenly spread."""
    others = np.ones(len(view), bool)
    others[support] = False
    rest = np.flatnonzero(others)
    count = min(max(0, SAMPLE - len(support)), len(rest))
    spread = rest[np.arange(count) * len(rest) // max(1, count)]
    rows = np.sort(np.concatenate([support[:SAMPLE], spread]))
    points = view.points(rows)
    K = view.block(points, points) if view.gram.held else view.gram.square(points, len(rows))
    source, largest = view.gram.source, float(np.maximum(K.max(initial=0.0), -K.min(initial=0.0)))
    given = K.dtype if source.columns is None else source.X.dtype  # in which values were rounded before
    eps = max(float(np.finfo(kind).eps) for kind in (K.dtype, given))
    if not np.isfinite(largest):
        return False
    if not view.gram.mirrors and asymmetry(K) > np.sqrt(eps) * largest:
        return False  # no kernel at all
    if largest == 0.0:
        return True
    raised = K.astype(np.float64, copy=False)
    raised.flat[:: len(rows) + 1] += 8.0 * len(rows) * eps * largest  # rounding of values and factor
    with view.gram.pool.aside(), one_blas_thread():  # bits of LAPACK depend on its threads
        return has_factor(np.ascontiguousarray(raised))


def _may_matter(
    dual: Dual, beta: Vector, g: Vector, mu: Vector, slack: Vector, known: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Rows not yet known, at a bound, whose gradient may point inwards: max(h + slack, 0) or max(-h + slack, 0) counts.

    With a hard margin: whose margin may be the smallest.
    """
    h = g + dual.push(mu)
    if dual.hard_margin:
        inner = h / dual.t
        return ~known & ~(inner - slack / np.abs(dual.t) >= np.min(inner[known], initial=np.inf))
    return ~known & ~(dual.inward(beta, h) + slack <= 0)  # nan, of infinite bounds, is doubt


def _evaluate(
    view: View,
    dual: Dual,
    beta: Vector,
    g: Vector,
    mu: Vector,
    proofs: float,
    size: float,
    convex: bool,
    doubt: float = 0.0,
) -> Certificate:
    """``proofs``: products that were added to g one after the other, of coefficients of at most this size or beta's.

    ``doubt``: error of beta'g from rows that need not be known better.
    """
    totals, largest, found = np.array(dual.totals), view.magnitude + dual.lambda2, np.empty(MEASURES)
    bounds = dual.lower, dual.upper, dual.epsilon
    weigh(beta, g, dual.t, *bounds, *dual.membership, totals, mu, proofs, largest, size, found)
    if dual.hard_margin:
        found[4] = duality_gap(dual, beta, g, mu, found[3]) + np.abs(mu * (dual.sums(beta) - totals)).sum()
    return conclude(view, beta, found.tolist(), convex, doubt)


def conclude(view: View, beta: Vector, measures: list[float], convex: bool = True, doubt: float = 0.0) -> Certificate:
    """The certificate from what ``weigh`` found."""
    value, norm2, size, error, gap, worst = measures
    known = view.gram.kernel.convex  # then what looked like negative curvature is rounding
    convex = (known or convex) and norm2 >= -16.0 * error * size - doubt
    convex = convex and (known or semidefinite(view, np.flatnonzero(beta)))
    return Certificate(value + gap, value, worst, error, convex)


def conclude_all(measures: NDArray[np.float64]) -> NDArray[np.float64]:
    """Primal and dual objectives, violations, resolutions, convexity, (5, n), from what ``weigh`` found, (n, MEASURES).

    As ``conclude`` for kernels that are known to be positive semi-definite.
    """
    value, norm2, size, error, gap, worst = measures.T
    return np.stack([value + gap, value, worst, error, norm2 >= -16.0 * error * size])


@jit
def weigh(
    beta: Any, g: Any, t: Any, lower: Any, upper: Any, epsilon: float, row: Any, sign: Any,
    totals: Any, mu: Any, proofs: float, largest: float, size: float, found: Any,
) -> None:  # fmt: skip
    """found <- dual objective, |w|^2, the larger one of |beta|_1 and a size, error of g, gap(mu), KKT violation.

    largest : of the matrix
    proofs : as in ``_evaluate``; the error is that of a gradient computed in float64, the gap one up to this error
    """
    norm2, twice, own, target, over = 0.0, 0.0, 0.0, 0.0, np.empty(len(totals))
    for r in range(len(over)):  # -totals would load all that numba knows of arithmetic on arrays
        over[r] = -totals[r]
    for i in range(len(beta)):
        b = beta[i]
        norm2, twice = norm2 + b * (g[i] + t[i]), twice + b * (t[i] - g[i])
        own, target = own + abs(b), max(target, abs(t[i]))
        if len(over):
            over[row[i] if len(row) else 0] += b * sign[i] if len(sign) else b
    steepest, missed = 0.0, 0.0
    for r in range(len(over)):
        missed += abs(mu[r] * over[r])
        if abs(mu[r]) < np.inf:
            steepest = max(steepest, abs(mu[r]))
    size = max(size, own)
    error = proofs * UNIT * (8.0 * size * largest + 4.0 * (target + steepest))
    gap = sum_of_terms(beta, g, error, lower, upper, epsilon, row, sign, mu) + missed
    worst = violation(beta, g, lower, upper, epsilon, row, sign, len(totals))
    found[0], found[1], found[2] = 0.5 * twice - epsilon * own, norm2, size
    found[3], found[4], found[5] = error, gap, worst
