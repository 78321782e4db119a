"""Certificates that are true although the tiles are float32.

Float64 is spent where it matters: on the free variables, and on rows whose term of the gap might be positive. The
proven error of the float32 gradient tells which rows these are. All other rows are at a bound that pays, and their
terms are certainly zero. Gap and violation are therefore proven. The level of the two objectives is proven, too, if all
rows were computed in float64. If not, it is known to a tenth of the gap or to a millionth, judged by the rows that were
computed both ways.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import fsum, inf, isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..compiled.cache.jit import jit
from ..compiled.cholesky import has_factor
from ..compiled.optimality import violation
from ..compiled.precision import UNIT
from ..compiled.submatrix import mean_halves
from ..gram import View
from ..gram.errors import refuse_asymmetric
from ..gram.view import ADDITIONS
from ..problems import Dual
from ..problems.dual import Vector, dot
from ..threads.gate import one_blas_thread
from .gap import CARE, SMALLEST, best_multipliers, duality_gap, relative, sum_of_terms

EVERY_ROW = 1000  # Variables up to which a proof computes the whole gradient anew.
LEVEL_BY_GAP, LEVEL_BY_SIZE = 0.1, 1e-6  # Wanted accuracy of the objectives, as a fraction of the gap or of them.
# The numbers that ``weigh`` returns, by their places.
DUAL, DOUBT, NORM2, RESOLUTION, GAP, VIOLATION, KNOWN, MISSED, SLIP, LACK2 = range(10)
MEASURES = 10
# Fraction of the objectives that many rows always leave in doubt, so that bits do not depend on the known rows.
SURELY = 2.0**-3
ENOUGH_ROWS = 30  # Rows computed both ways from which the errors of others are judged.
SURE = 4.0  # Standard deviations within which a sum of many errors keeps.
ASTRAY = 1e-9  # Fraction of all sizes; rounding does not explain that an equality is missed by more.
EIGENVALUE_ROWS = 512  # Most rows on which a kernel without a guarantee is checked for negative eigenvalues.


@dataclass(frozen=True)
class Certificate:
    """The proven facts about a dual point.

    dual : objective of the dual, with the sign of the primal's; known up to ``doubt``, as a rule to a tenth of the gap
        or to a millionth
    gap : upper bound of the difference between the objectives of the primal and of the dual
    kkt_violation : upper bound of the violation, see ``kkt_violation``
    resolution : addition to the violation by errors of the gradient; a smaller violation cannot be told from none
    doubt : proven bound of the error of ``dual``
    slip : how far the optimum may be below ``dual``: its rounding, and the gain of equalities that rounding has missed;
        errors of rows without float64 are judged, not proven
    convex : False if the kernel was found not to be positive semi-definite; the gap then bounds nothing
    """

    dual: float
    gap: float
    kkt_violation: float
    resolution: float = 0.0
    doubt: float = 0.0
    slip: float = 0.0
    convex: bool = True

    @property
    def primal(self) -> float:
        """The upper end of the optimum."""
        return self.dual + self.gap + self.slip if isfinite(self.gap) else inf

    @property
    def lower(self) -> float:
        """The lower end of the optimum."""
        return self.dual - self.slip

    @property
    def relative_gap(self) -> float:
        """Upper bound of the gap as a fraction of the optimum, see ``relative``."""
        return relative(self.gap, self.dual, max(self.doubt, self.slip)) if self.convex else float("nan")

    def times(self, c: float) -> Certificate:
        """Return the certificate of c beta, c <= 1, in the program that is c^2 times the program of beta.

        The violation is not scaled: it is the one that the tolerance was compared with, and an upper bound.
        """
        if c == 1.0:
            return self
        sizes = {name: c * c * getattr(self, name) for name in ("dual", "gap", "doubt", "slip")}
        if self.gap > 0.0:
            sizes["gap"] = max(sizes["gap"], SMALLEST)
        return replace(self, **sizes)


class Exact:
    """The gradient in float64 on the rows that proofs have asked for, and a bound of its errors.

    A later proof computes only the change of beta since the last one.
    """

    def __init__(self, dual: Dual) -> None:
        self.dual = dual
        self.seen = np.zeros(len(dual), bool)  # rows that any proof has corrected
        self.drift = self.spread = np.inf  # largest of all proofs, for the errors of other rows, see ``compare``
        self._begin()

    def _begin(self) -> None:
        """Begin at 0, where everything is known."""
        n = len(self.dual)
        self.beta, self.g, self.known, self.errors = np.zeros(n), -self.dual.t, np.ones(n, bool), np.zeros(n)

    def at(self, beta: Vector) -> None:
        """Begin a proof at beta, where no row is known yet."""
        if np.count_nonzero(beta != self.beta) > np.count_nonzero(beta):
            self._begin()
        n = len(beta)
        self._last = self.beta, self.g, self.known, self.errors
        self.beta, self.g, self.known, self.errors = beta.copy(), np.zeros(n), np.zeros(n, bool), np.zeros(n)

    def ask(self, view: View, rows: NDArray[np.int64]) -> Vector:
        """Return the gradient on some rows, which are known from now on."""
        before, g, known, errors = self._last
        near, far = rows[known[rows]], rows[~known[rows]]
        product, off = self._product(view, near, self.beta - before)
        self.g[near] = g[near] + product
        self.errors[near] = errors[near] + off + UNIT * np.abs(self.g[near])
        product, off = self._product(view, far, self.beta)
        self.g[far] = product - self.dual.t[far]
        self.errors[far] = off + UNIT * np.abs(self.g[far])
        self.known[rows] = True
        return self.g[rows]

    def compare(self, off: Vector) -> None:
        """Learn from the corrections that a proof made to its gradient: a judgement, not a bound.

        Errors with the sign of beta add up in beta'g; the rest of them scatters. Known rows are near the margin; the
        rows judged by them are not.
        """
        first = self.known & ~self.seen & (self.beta != 0.0)
        self.seen |= self.known
        along = np.sign(self.beta[first]) * off[first]
        if len(along) >= ENOUGH_ROWS:
            spread = float(np.std(along))
            drift = abs(float(np.mean(along))) + SURE * spread / np.sqrt(len(along))
            before = (self.drift, self.spread) if np.isfinite(self.spread) else (0.0, 0.0)
            self.drift, self.spread = max(before[0], drift), max(before[1], spread)

    def missed(self, rows: NDArray[np.int64]) -> float:
        """Return how far errors of some unknown rows may put the objectives off."""
        sizes = np.abs(self.beta[rows])
        return 0.5 * (self.drift * float(sizes.sum()) + SURE * self.spread * float(np.sqrt(dot(sizes, sizes))))

    def _product(self, view: View, rows: NDArray[np.int64], beta: Vector) -> tuple[Vector, Vector]:
        """Return what coefficients add to the gradient at some rows, and bounds of its errors."""
        if not len(rows):
            return np.zeros(0), np.zeros(0)
        ids = np.flatnonzero(beta)
        product, off = view.exact(rows, ids, beta[ids])
        if self.dual.lambda2:
            of_bias = self.dual.lambda2 * fsum(beta[ids])
            product, off = product + of_bias, off + 4.0 * UNIT * (np.abs(product) + abs(of_bias))
        if self.dual.ridge is not None:
            own = self.dual.ridge[rows] * beta[rows]
            product, off = product + own, off + UNIT * (4.0 * np.abs(product) + ADDITIONS * np.abs(own))
        return product, CARE * off


def certify(view: View, exact: Exact, beta: Vector, g: Vector, g_error: Vector, convex: bool = True) -> Certificate:
    """Prove what can be proven about ``beta``, and correct ``g`` in place on the rows computed anew.

    Parameters
    ----------
    exact : what earlier proofs about this program have computed
    g : (n,) gradient as the solver tracked it
    g_error : (n,) proven bounds of the errors of ``g``
    """
    dual = exact.dual
    exact.at(beta)
    tracked = g.copy()
    rows = np.arange(len(beta))
    if len(beta) > EVERY_ROW:
        first = dual.free(beta)
        if not dual.hard_margin:  # a hard margin's smallest margin must be known first
            mu = best_multipliers(dual, beta, g)  # close to the multipliers of the corrected gradient
            first |= _may_matter(dual, beta, g, mu, g_error, exact.known)
        rows = np.flatnonzero(first)
    while True:
        g[rows] = exact.ask(view, rows)
        mu = best_multipliers(dual, beta, g)
        rows = np.flatnonzero(_may_matter(dual, beta, g, mu, g_error, exact.known))
        if len(rows):
            continue
        unknown = np.flatnonzero(~exact.known & (beta != 0.0))
        doubt = dot(np.abs(beta[unknown]), g_error[unknown])
        exact.compare(g - tracked)
        level = abs(dual.objective(beta, g))
        allowed = max(LEVEL_BY_GAP * duality_gap(dual, beta, g, mu), LEVEL_BY_SIZE * level)
        # The judgement by known rows has the same bits on every route; the proven bound has not.
        judged = min(exact.missed(unknown), 0.5 * doubt) if len(unknown) else 0.0
        if not len(unknown) or (0.5 * doubt <= SURELY * level and judged <= allowed):
            measures = _measured(dual, beta, g, mu, np.where(exact.known, exact.errors, 0.0), doubt, judged)
            return conclude(view, beta, measures, dual.lambda2, convex)
        rows = unknown


def prove(view: View, dual: Dual, beta: Vector, g: Vector, convex: bool = True) -> Certificate:
    """Prove what can be proven about ``beta`` by a gradient that was summed in float64, row by row, term by term."""
    errors = np.full(len(beta), error_of_sums(view, dual, beta))
    measures = _measured(dual, beta, g, best_multipliers(dual, beta, g), errors)
    return conclude(view, beta, measures, dual.lambda2, convex)


def error_of_sums(view: View, dual: Dual, beta: Vector) -> float:
    """Return a bound of the error of each entry of a gradient that was summed in float64, row by row, term by term."""
    value, size = view.gram.rounding, view.magnitude + dual.lambda2
    # The sum of the coefficients of equal samples is rounded, too.
    rate = value + UNIT * (np.count_nonzero(beta) + 8.0) * size
    mass = float(np.abs(beta).sum())
    return CARE * rate * mass if mass else 0.0


def loosely(view: View, dual: Dual, beta: Vector, g: Vector, g_error: Vector) -> Certificate:
    """Prove what the tracked gradient can, up to its errors, when there is no time for other kernel values.

    If the kernel may not be positive semi-definite, it remains unknown whether the gap bounds anything.
    """
    if view.gram.kernel.convex:
        return bounded(dual, beta, g, g_error, view.magnitude)
    return replace(bounded(dual, beta, g, g_error, view.magnitude), gap=inf)


def bounded(dual: Dual, beta: Vector, g: Vector, g_error: Vector, magnitude: float, extra: float = 0.0) -> Certificate:
    """Prove what a gradient can, up to its errors, for a kernel that is known to be positive semi-definite.

    extra : bound of further errors of g, which only ``slip`` is to cover
    """
    judged = 0.5 * CARE * extra * float(np.abs(beta).sum())
    measures = _measured(dual, beta, g, best_multipliers(dual, beta, g), g_error.copy(), 0.0, judged, extra)
    return _certificate(measures, magnitude + dual.lambda2, convex=True)


def unproven(dual: Dual, beta: Vector, g: Vector) -> Certificate:
    """Prove nothing, as not even a gradient is known; the level is that of its substitute."""
    return Certificate(-dual.objective(beta, g), inf, inf, slip=inf)


def semidefinite(view: View, support: NDArray[np.int64]) -> bool:
    """Return whether no negative eigenvalue is found: on all samples, or on support vectors first, then on others.

    A regression has two variables of a sample, which is looked at once.
    """
    first = np.unique(view.ids[support])
    rest, first = np.setdiff1d(view.ids, first), first[:EIGENVALUE_ROWS]
    count = min(EIGENVALUE_ROWS - len(first), len(rest))
    ids = np.sort(np.concatenate([first, rest[np.arange(count) * len(rest) // max(1, count)]]))
    gram = view.gram
    K = gram.square(gram.points(ids), len(ids)) if gram.in_memory is None else gram.among(ids, ids)
    source, largest = gram.source, float(np.maximum(K.max(initial=0.0), -K.min(initial=0.0)))
    given = K.dtype if source.columns is None else source.X.dtype  # precision in which the values were rounded before
    eps = max(float(np.finfo(kind).eps) for kind in (K.dtype, given))
    if gram.kernel.called and not gram.held:  # ``asymmetry`` compares all values that are held
        refuse_asymmetric(K, "The kernel function returned a matrix K that")
    if largest == 0.0 or not np.isfinite(largest):
        return True  # overflow is no sign of negative eigenvalues
    raised = K.astype(np.float64, copy=False)
    with gram.pool.aside(), one_blas_thread():  # bits of LAPACK depend on its threads
        mean_halves(raised)
        raised.flat[:: len(ids) + 1] += 8.0 * len(ids) * eps * largest  # rounding of the values and the factor
        return has_factor(raised)


def _may_matter(
    dual: Dual, beta: Vector, g: Vector, mu: Vector, g_error: Vector, known: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Return unknown rows at a bound whose gradient may point inwards: max(±h + g_error, 0) counts.

    With a hard margin, return the unknown rows whose margin may be the smallest.
    """
    h = g + dual.push(mu)
    if dual.hard_margin:
        inner = h / dual.t
        return ~known & ~(inner - g_error / np.abs(dual.t) >= np.min(inner[known], initial=np.inf))
    return ~known & ~(dual.inward(beta, h) + g_error <= 0)  # nan, from infinite bounds, counts as doubt


def _measured(
    dual: Dual,
    beta: Vector,
    g: Vector,
    mu: Vector,
    errors: Vector,
    doubt: float = 0.0,
    judged: float = 0.0,
    loose: float = 0.0,
) -> list[float]:
    """Return the numbers of ``weigh``.

    judged : how far unknown errors may put the objective off, judged by the rows computed both ways
    loose : bound of errors that ``errors`` lacks, by which the steepest slope may be steeper

    The ``errors`` of rows that need not be known are 0: their terms are 0 within their true errors. Moving these rows
    gains mu at most, and as mu minimises the gap, some known row gains as much. So they count only in ``doubt``, the
    error of beta'g.
    """
    totals, found, bounds = np.array(dual.totals), np.empty(MEASURES), (dual.lower, dual.upper, dual.epsilon)
    weigh(beta, g, errors, dual.t, *bounds, *dual.membership, totals, mu, found)
    if dual.hard_margin or dual.ridge is not None:
        found[GAP] = CARE * duality_gap(dual, beta, g, mu, errors, doubt + 4.0 * found[KNOWN]) + found[MISSED]
    if found[LACK2] > 0.0:
        found[SLIP] += CARE * loose * np.sqrt(found[LACK2])
    found[DOUBT], found[NORM2] = max(found[DOUBT], found[SLIP] + 0.5 * doubt), found[NORM2] + doubt
    found[SLIP] += judged
    return found.tolist()


def conclude(view: View, beta: Vector, measures: list[float], lambda2: float, convex: bool) -> Certificate:
    """Return the certificate from the numbers of ``weigh``."""
    norm2, resolution = measures[NORM2], measures[RESOLUTION]
    known = view.gram.kernel.convex or not isfinite(resolution)  # apparent negative curvature is then rounding
    convex = known or (convex and norm2 >= 0.0 and semidefinite(view, np.flatnonzero(beta)))
    return _certificate(measures, view.magnitude + lambda2, convex)


def _certificate(measures: list[float], largest: float, convex: bool) -> Certificate:
    value, doubt, _, resolution, gap, worst = measures[:6]
    slip = measures[SLIP] + (0.5 * CARE * largest * measures[LACK2] if measures[LACK2] > 0.0 else 0.0)
    return Certificate(value, gap, worst, resolution, doubt, slip, convex)


def conclude_all(measures: NDArray[np.float64], largest: float) -> NDArray[np.float64]:
    """Return the numbers of ``Certificate`` in their order, (7, n), from those of ``weigh``, (n, MEASURES).

    This is ``conclude`` for kernels that are known to be positive semi-definite.

    largest : the largest entry of K + lambda^2
    """
    slips, lacks = measures[:, SLIP].copy(), measures[:, LACK2] > 0.0  # without a lack infinite values bend nothing
    slips[lacks] += 0.5 * CARE * largest * measures[lacks, LACK2]
    value, doubt, _, resolution, gap, worst = measures.T[:6]
    return np.stack([value, gap, worst, resolution, doubt, slips, np.ones_like(value)])


@jit
def weigh(
    beta: Any, g: Any, errors: Any, t: Any, lower: Any, upper: Any, epsilon: float, row: Any, sign: Any,
    totals: Any, mu: Any, found: Any,
) -> None:  # fmt: skip
    """Set found to dual objective, bound of its error, largest possible |w|^2, resolution, gap(mu), and violation.

    Four more numbers follow: the error of the objective by known rows alone, the part of the gap by which the
    equalities are missed, and the error of the objective as a bound of the optimum. For that, coefficients move until
    the equalities hold, which costs no more than their sums lack, times the steepest slope. If rounding does not
    explain that an equality is missed, gap, violation and this error are infinite. The last one is the square of what
    the sums lack. Times half the largest kernel value, it bounds how far the objective bends on the way.

    errors : bounds of the errors of g; the rounding of evaluating the conditions is added to them
    """
    n = len(beta)
    norm2, twice, own, sizes, doubt, of_bounds = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    over, steepest = np.empty(len(totals)), np.empty(len(totals))
    for r in range(len(over)):  # -totals would load all that numba knows of arithmetic on arrays
        over[r], steepest[r] = -totals[r], 0.0
    for i in range(n):
        b, r = beta[i], row[i] if len(row) else 0
        push = mu[r] if len(mu) else 0.0
        errors[i] += 4.0 * UNIT * (abs(g[i]) + abs(t[i]) + (abs(push) if abs(push) < np.inf else 0.0) + epsilon)
        norm2, twice = norm2 + b * (g[i] + t[i]), twice + b * (t[i] - g[i])
        own, sizes, doubt = own + abs(b), sizes + abs(b) * (abs(g[i]) + abs(t[i])), doubt + abs(b) * errors[i]
        width = max(-lower[i], upper[i])
        if b != 0.0 and width < np.inf:  # a bound, the product of C and a weight, is also rounded
            of_bounds += width * (abs(g[i]) + abs(push))
        if len(over):
            over[r] += b * sign[i] if len(sign) else b
            steepest[r] = max(steepest[r], abs(g[i]) + errors[i] + epsilon)
    missed, repair, lack = 4.0 * UNIT * of_bounds, 0.0, 0.0
    for r in range(len(over)):
        lacking = abs(over[r]) + (n + 4) * UNIT * (own + abs(totals[r]))
        missed, repair, lack = missed + abs(mu[r]) * lacking, repair + CARE * steepest[r] * lacking, lack + lacking
    gap = sum_of_terms(beta, g, errors, lower, upper, epsilon, row, sign, mu) + missed
    off = 0.5 * doubt + (n + 4) * UNIT * (sizes + epsilon * own)
    found[DUAL], found[NORM2] = 0.5 * twice - epsilon * own, norm2 + 2.0 * off
    found[DOUBT] = max(off + repair, SURELY * abs(found[DUAL])) if n > EVERY_ROW else off + repair
    worst = violation(beta, g, errors, lower, upper, epsilon, row, sign, len(totals))
    bare = violation(beta, g, np.empty(0), lower, upper, epsilon, row, sign, len(totals))
    found[RESOLUTION], found[GAP], found[VIOLATION] = worst - bare if worst > -np.inf else 0.0, gap, max(worst, 0.0)
    found[KNOWN], found[MISSED], found[SLIP], found[LACK2] = off, missed, off + repair, lack * lack
    for r in range(len(over)):
        if not abs(over[r]) <= (ASTRAY + (n + 4) * UNIT) * (own + abs(totals[r])):  # nan, too
            found[GAP] = found[VIOLATION] = found[MISSED] = found[SLIP] = np.inf
