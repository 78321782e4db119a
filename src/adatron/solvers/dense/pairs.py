"""Pairs: sequential minimal optimisation of a small dense block, with equalities sum(beta) = s.

Problem   any program of ``problems.dual`` with equalities, given K over its variables.
Update    a pair (i, j) moves along e_i - e_j. With m = max(-g) over the variables that can grow, i attains m, and j
          maximises the gain (m + g_j)^2 / (K_ii + K_jj - 2 K_ij) over those that can shrink. The step is exact and
          clipped to the box, beta_i += d, beta_j -= d, g += d (K_i - K_j). If epsilon > 0, a step also ends at the
          kink at 0, and the slope +-epsilon of |beta_i| is added to g_i. If there are several equalities, each has
          its own pair, and the pair with the largest gain moves.
Stop      m - M <= tol, M = min(-g) over the variables that can shrink; or the steps are used up; or a flag.
Source    J. C. Platt, Fast training of SVMs using sequential minimal optimization (1999); second-order choice of
          the pair: R.-E. Fan, P.-H. Chen, C.-J. Lin, JMLR 6 (2005) 1889-1918.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...compiled.cache.jit import jit
from ...compiled.optimality import slopes
from ...compiled.search import CHECK, FORBIDDEN, ROUNDING_UNIT, argmax, follow, partner
from ..results import NEGATIVE_CURVATURE, STOP

LEAST_CURVATURE = 1e-6  # The smallest curvature where gains are compared.


@jit(finite=True, inner=True)
def _worst(g: Any, m: Any, shrink_bar: Any, score: Any) -> Any:
    """Return m - M."""
    for t in range(len(g)):
        score[t] = g[t] + shrink_bar[t]
    return m + score[argmax(score, len(g))]


@jit(finite=True, inner=True)
def _gain(violation: Any, curvature: Any, floor: Any) -> Any:
    """Return twice the gain of a pair with this violation, 0 if there is no violation."""
    return violation * violation / max(curvature, floor) if violation > 0 else type(floor)(0)


@jit(finite=True, inner=True)
def smallest_curvature(K: Any) -> Any:
    """Return the curvature below which a curvature is rounding."""
    largest = K.dtype.type(0)
    for t in range(len(K)):
        largest = max(largest, abs(K[t, t]))
    return largest * K.dtype.type(4.8e-7 if K.itemsize == 4 else 9.2e-16) + K.dtype.type(1e-37)


@jit(inner=True)
def snapped(value: float, lower: float, upper: float, crumb: float) -> float:
    """Return a value between its bounds; one that is within the crumb of a bound, or of 0, is set to it."""
    if value - lower <= crumb:
        return lower
    if upper - value <= crumb:
        return upper
    return 0.0 if abs(value) <= crumb else value


@jit
def settled(old: float, change: float, lower: float, upper: float) -> float:
    """Return the sum between its bounds. A sum that differs from a bound, or from 0, by rounding is set to it.

    Otherwise the variable would count as free, and a single free variable decides the bias. The rounding is that of the
    two numbers added, not of the bounds: with a large C all coefficients may be small.
    """
    return snapped(old + change, lower, upper, ROUNDING_UNIT * max(abs(old), abs(change)))


@jit(inner=True)
def exchange(beta: Any, i: int, j: int, length: float, lower: Any, upper: Any, epsilon: float) -> float:
    """Grow beta_i and shrink beta_j by the length, or until one meets a bound or its kink; return the change."""
    top = 0.0 if epsilon > 0.0 and beta[i] < 0.0 else upper[i]
    bottom = 0.0 if epsilon > 0.0 and beta[j] > 0.0 else lower[j]
    d = min(length, top - beta[i], beta[j] - bottom)
    beta[i] = top if d == top - beta[i] else settled(beta[i], d, lower[i], upper[i])
    beta[j] = bottom if d == beta[j] - bottom else settled(beta[j], -d, lower[j], upper[j])
    return d


@jit(finite=True)
def pairs(
    K: Any, beta: Any, g: Any, lower: Any, upper: Any, starts: Any, epsilon: float, tol: float, steps: int, stop: Any
) -> int:
    """Solve a block in place; return the number of pair updates.

    K (q, q) and g (q,) share one dtype; beta, lower and upper are float64. The variables of equality r stand from
    starts[r] to starts[r + 1], multiples of CHUNK. Padding variables have lower = upper = 0. ``stop`` (2,): a nonzero
    first entry ends the loop; the second is set if a pair showed negative curvature (the kernel is not positive
    semi-definite).
    """
    q = len(g)
    real = g.dtype.type
    grow_bar, shrink_bar = np.empty(q, g.dtype), np.empty(q, g.dtype)
    diagonal, score = np.empty(q, g.dtype), np.empty(q, g.dtype)
    floor = smallest_curvature(K)
    unit = real(LEAST_CURVATURE) / floor  # in this unit of K products of gains stay in range
    for t in range(q):
        grow_bar[t], shrink_bar[t] = slopes(beta[t], lower[t], upper[t], epsilon)
        diagonal[t] = K[t, t] * unit
    i = j = starts.dtype.type(0)  # a literal would be compiled as another type
    shift = real(0)
    for step in range(steps):
        best, worst, m, u, v = real(0), real(0), real(0), i, j
        for r in range(len(starts) - 1):
            part, size = slice(starts[r], starts[r + 1]), starts[r + 1] - starts[r]
            if size == 0:
                continue
            own, shrink = g[part], shrink_bar[part]
            a = starts[r] + follow(own, K[i][part], K[j][part], grow_bar[part], shift, size)
            most = grow_bar[a] - g[a]
            if most < real(-FORBIDDEN / 2):
                continue
            if step % CHECK == 0:
                worst = max(worst, _worst(own, most, shrink, score[part]))
            b = starts[r] + partner(
                own, K[a][part], diagonal[part], shrink, most, diagonal[a], real(LEAST_CURVATURE), real(-2) * unit, size
            )
            gain = _gain(most + g[b] + shrink_bar[b], K[a, a] + K[b, b] - real(2) * K[a, b], floor)
            if gain > best:
                best, m, u, v = gain, most, a, b
        i, j = u, v
        if best <= real(0) or stop[STOP] != 0 or (step % CHECK == 0 and worst <= real(tol)):
            return step
        curvature = (K[i, i] + K[j, j]) - real(2) * K[i, j]
        if curvature < -real(64) * floor:
            stop[NEGATIVE_CURVATURE] = 1
        length = float(m + (g[j] + shrink_bar[j])) / float(max(curvature, floor))
        shift = real(exchange(beta, i, j, length, lower, upper, epsilon))
        for k in (i, j):
            grow_bar[k], shrink_bar[k] = slopes(beta[k], lower[k], upper[k], epsilon)
    return steps
