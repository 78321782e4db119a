"""The duality gap: an upper bound of D(beta) - min D, and the difference of primal and dual objective.

For every program of ``problems.dual`` and any multipliers mu of the equalities, with h = g + A' mu

    gap(mu) = sum_i max over l_i <= v <= u_i of h_i (beta_i - v) + epsilon (|beta_i| - |v|)

Every term is >= 0, so nothing cancels near the optimum. The largest v is l_i, u_i or 0. For C-SVC mu is the bias b,
the terms are the complementary slackness and the hinge losses, and the minimum over b is taken exactly.

The violation is the distance from the Karush-Kuhn-Tucker conditions, in units of the gradient (margins).
"""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from ..compiled.cache.jit import jit
from ..compiled.optimality import gains, violation
from ..compiled.precision import UNIT
from ..problems import Dual
from ..problems.dual import NO_ERRORS, Vector, dot

SMALLEST = float(np.finfo(float).tiny)  # a smaller number has lost digits
CARE = 1.0 + 1e-6  # Factor for the rounding of bounds that are computed in float64 themselves.


def kkt_violation(dual: Dual, beta: Vector, g: Vector, errors: Vector = NO_ERRORS) -> float:
    """Return the largest violation, 0 at a solution; an upper bound of it if ``errors`` bound the errors of g.

    With equalities the violation of each is max(m - M, 0). m is the largest -g of a variable that can grow, and M the
    smallest of one that can shrink (S. S. Keerthi et al., Neural Computation 13 (2001); the stopping rule of LIBSVM).
    Without equalities it is the largest projected gradient.
    """
    bounds = dual.lower, dual.upper, dual.epsilon
    return max(0.0, violation(beta, g, errors, *bounds, *dual.membership, len(dual.totals)))


def best_multipliers(dual: Dual, beta: Vector, g: Vector) -> Vector:
    """Return the mu of every equality that minimise the gap; the equalities do not affect each other.

    With a hard margin mu maximises the smallest margin instead; in regression with infinite bounds it is in the middle.
    """
    mu = np.zeros(len(dual.totals))
    if not len(mu):
        return mu
    if not dual.unbounded:
        minimise(beta, g, dual.lower, dual.upper, dual.epsilon, *dual.membership, mu)
        return mu
    if dual.sign is not None:
        beta, g = dual.sign * beta, dual.sign * g
    dual = dual.unsigned()
    for r, tie in enumerate(dual.ties()):
        mu[r] = _middle(dual.take(tie), beta[tie], g[tie])
    return mu


@jit
def minimise(beta: Any, g: Any, lower: Any, upper: Any, epsilon: float, row: Any, sign: Any, mu: Any) -> None:
    """Set mu[r] to the minimiser of the gap of the variables in equality r; this gap is convex and piecewise linear.

    Its slope starts at -sum(u - beta), grows by u_i where h_i passes -epsilon and by -l_i where h_i passes epsilon. A
    variable whose sign is negative stands for its opposite. If all conditions hold on an interval, mu is its middle,
    which is farthest from points where rounding may break the conditions.
    """
    kinks, steps = np.empty(2 * len(beta)), np.empty(2 * len(beta))
    for r in range(len(mu)):
        count, total, least, most = 0, 0.0, -np.inf, np.inf
        for i in range(len(beta)):
            if len(row) and row[i] != r:
                continue
            turned = len(sign) > 0 and sign[i] < 0.0
            growth, shrinkage = gains(beta[i], g[i], lower[i], upper[i], epsilon, turned)
            least, most = max(least, growth), min(most, -shrinkage)
            slope, low, high = (-g[i], -upper[i], -lower[i]) if turned else (g[i], lower[i], upper[i])
            total += high + beta[i] if turned else high - beta[i]
            if epsilon:
                kinks[count], steps[count] = -slope - epsilon, high
                kinks[count + 1], steps[count + 1] = -slope + epsilon, -low
                count += 2
            else:
                kinks[count], steps[count] = -slope, high - low
                count += 1
        if -np.inf < least < most < np.inf:
            mu[r] = 0.5 * (least + most)
        else:
            mu[r] = crossing(kinks[:count], steps[:count], total) if count else 0.0


@jit
def crossing(kinks: Any, steps: Any, total: float) -> float:
    """Return the kink up to which, in order, the steps first add up to a total; the last one if they never do.

    C. A. R. Hoare's FIND splits the kinks at a pivot until the kink is found; kinks and steps lose their order. The
    pivot is the middle one of three that are drawn at random. The first, middle and last kinks would be bad pivots if
    the kinks fall and rise again, as decision values along a line do: nearly each kink would be tried.
    """
    first, last, before = 0, len(kinks), 0.0
    pivot, seed = kinks[0], 1
    while first < last:
        a = b = c = pivot
        for _ in range(3):  # the example of a sequence in the C standard
            seed = (1103515245 * seed + 12345) & 0x7FFFFFFF
            a, b, c = b, c, kinks[first + (seed >> 8) % (last - first)]
        pivot = max(min(a, b), min(max(a, b), c))
        low, high, at = first, last, first  # smaller kinks before low, larger ones from high on, equal ones in between
        below = same = 0.0
        while at < high:
            kink, step = kinks[at], steps[at]
            if kink < pivot:
                kinks[at], steps[at], kinks[low], steps[low] = kinks[low], steps[low], kink, step
                below, low, at = below + step, low + 1, at + 1
            elif kink > pivot:
                high -= 1
                kinks[at], steps[at], kinks[high], steps[high] = kinks[high], steps[high], kink, step
            else:
                same, at = same + step, at + 1
        if low > first and before + below >= total:
            last = low
        elif before + below + same >= total:
            break
        else:
            before, first = before + below + same, high
    return pivot


def _middle(dual: Dual, beta: Vector, g: Vector) -> float:
    """Return the middle of the interval that the conditions leave for mu, or of that by which they fail."""
    if not dual.hard_margin:
        return 0.5 * float(np.max(dual.growth(beta, g)) - np.max(dual.shrinkage(beta, g)))
    z, plus, minus = g + dual.t, dual.t > 0, dual.t < 0
    if not (plus.any() and minus.any()):
        return np.inf if plus.any() else -np.inf
    t_plus, t_minus, z_plus, z_minus = dual.t[plus], dual.t[minus], z[plus], z[minus]
    i, j, m = int(np.argmin(z_plus)), int(np.argmax(z_minus)), np.inf
    while (new := (z_plus[i] - z_minus[j]) / (t_plus[i] - t_minus[j])) < m:
        # The largest m with (z + mu) / t >= m, by Newton's method on a convex, piecewise linear function.
        m, best = new, new * t_plus - z_plus
        i, j = int(np.argmax(best)), int(np.argmin(m * t_minus - z_minus))
    return float(m * t_plus[i] - z_plus[i])


def duality_gap(
    dual: Dual, beta: Vector, g: Vector, mu: Vector, errors: Vector = NO_ERRORS, doubt: float = 0.0
) -> float:
    """Return gap(mu) if the equalities hold; an upper bound if ``errors`` bound those of g and ``doubt`` beta'g's.

    For a hard margin the primal point is (w, b) divided by its smallest margin m, the least f(x_i) / t_i. The gap is
    then |w|^2 / (2 m^2) + D, and infinite while m <= 0. In regression every violated constraint counts infinitely.
    With a ridge R the term of a variable is the maximum of h (beta - v) - R / 2 (beta - v)^2 and of what epsilon adds:
    the objective bends as much at least.
    """
    if dual.ridge is not None:
        return _bent(dual, beta, g + dual.push(mu), errors if len(errors) else np.zeros(len(beta)))
    if dual.hard_margin:
        off = errors if len(errors) else np.zeros(len(beta))
        margin = float(np.min(1.0 + (g + dual.push(mu)) / dual.t - off / np.abs(dual.t)))
        doubt += dot(np.abs(beta), off)
        if not margin > 0.0:
            return np.inf
        norm2 = dual.squared_norm(beta, g) + doubt
        return max(0.0, 0.5 * norm2 / margin**2 + dual.objective(beta, g) + 0.5 * doubt)
    return sum_of_terms(beta, g, errors, dual.lower, dual.upper, dual.epsilon, *dual.membership, mu)


def _bent(dual: Dual, beta: Vector, h: Vector, errors: Vector) -> float:
    """Return the gap of a program with a ridge, an upper bound of it for any slope within the errors of h."""
    assert dual.ridge is not None  # noqa: S101 (for the type checker)
    R = np.where(dual.ridge > 0.0, dual.ridge, 1.0)  # where it is 0 both bounds are 0
    eps, best = dual.epsilon, np.zeros(len(beta))
    for slope in (h - errors, h + errors):  # the term is convex in h
        for low, high, side in (
            (dual.lower, np.minimum(dual.upper, 0.0), -eps),
            (np.maximum(dual.lower, 0.0), dual.upper, eps),
        ):
            v = np.clip(beta - (slope + side) / R, low, np.maximum(low, high))
            move = beta - v  # with one class mu is infinite, and nothing moves
            gain = np.multiply(move, slope - 0.5 * R * move, out=np.zeros(len(beta)), where=move != 0.0)
            best = np.maximum(best, gain + eps * (np.abs(beta) - np.abs(v)))
    return float(best.sum()) * (1.0 + 4.0 * UNIT * (len(beta) + 8))


def relative(gap: float, dual: float, doubt: float = 0.0) -> float:
    """Return at least gap / |optimum|, from a bound of the gap and the dual objective, known up to ``doubt``.

    The optimum is between dual - doubt and dual + gap + doubt. The divisor is the smaller size of these ends if both
    have one sign. If they have not, the optimum may be 0, and then only a gap of 0 proves anything. The result is no
    smaller if numbers leave the range of floats. Compiled code compiles this function for itself.
    """
    size = max(dual - doubt, -dual - gap - doubt)
    if size >= SMALLEST and 0.0 < gap < inf:
        return max(gap / size, SMALLEST)
    return 0.0 if gap <= 0.0 else inf  # of nan, too


@jit
def sum_of_terms(
    beta: Any, g: Any, errors: Any, lower: Any, upper: Any, epsilon: float, row: Any, sign: Any, mu: Any
) -> float:
    """Return the sum of all terms, each the larger of its values at h - error and h + error; no errors if empty."""
    out = 0.0
    for i in range(len(beta)):
        push = mu[row[i] if len(row) else 0] if len(mu) else 0.0
        h = g[i] + (push * sign[i] if len(sign) else push)
        error = errors[i] if len(errors) else 0.0
        below = _term(beta[i], h - error, lower[i], upper[i], epsilon)
        above = _term(beta[i], h + error, lower[i], upper[i], epsilon) if error else below
        out += above if above > below else below  # nan stays nan
    return out * (1.0 + 4.0 * UNIT * (len(beta) + 8))  # no term is negative, so this covers their rounding


@jit(inner=True)
def _term(beta: float, h: float, lower: float, upper: float, epsilon: float) -> float:
    """Return the term of a variable, convex in h, as a sum of non-negative parts.

    A bound that does not pay adds nothing, even if it is infinite.
    """
    if epsilon == 0.0:
        if h == 0.0:
            return 0.0
        return h * (beta - lower) if h > 0.0 else h * (beta - upper)
    plus, minus = h + epsilon, h - epsilon  # the slopes beyond 0 and below
    if beta > 0.0 and plus < 0.0:
        return plus * (beta - upper)
    if beta < 0.0 and minus > 0.0:
        return minus * (beta - lower)
    out = plus * beta if beta >= 0.0 else minus * beta
    if minus > 0.0:  # gain from leaving 0
        out -= minus * lower
    elif plus < 0.0:
        out -= plus * upper
    return out
