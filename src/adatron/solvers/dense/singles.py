"""Singles: the iterative single data algorithm on a small dense block, without an equality.

Problem   any program of ``problems.dual`` without an equality (bias augmented or none), given K + lambda^2.
Update    the variable i with the largest gain v_i^2 / K_ii, v_i its projected gradient, takes the exact step,
          beta_i <- clip(soft(beta_i - g_i / K_ii, epsilon / K_ii), l_i, u_i); g += d K_i. If i gains more together
          with a variable that moves against it, both take the step of ``pairs``. Without such steps, if K + lambda^2
          is nearly constant, each single step would undo most of the one before. And equal samples with opposite
          labels would never part.
Stop      max v_i <= tol; or the steps are used up; or a flag.
Source    T.-M. Huang, V. Kecman, Bias term b in SVMs again, ESANN (2004); V. Kecman, T.-M. Huang, M. Vogt (2005); for
          two at a time: I. Steinwart, D. Hush, C. Scovel, Training SVMs without offset, JMLR 12 (2011) 141-202.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...compiled.cache.jit import jit
from ...compiled.optimality import inward, slopes
from ...compiled.search import CHECK, argmax
from ..results import NEGATIVE_CURVATURE, STOP
from .pairs import exchange, smallest_curvature


@jit(finite=True, inner=True)
def _scores(
    g: Any, shift: Any, Ki: Any, other: Any, Kj: Any, grow_bar: Any, shrink_bar: Any, inverse: Any, score: Any
) -> None:
    """Set g += shift Ki + other Kj; set score to the gain of every variable."""
    zero = g.dtype.type(0)
    for t in range(len(g)):
        g[t] += shift * Ki[t] + other * Kj[t]
        v = inward(grow_bar[t], shrink_bar[t], g[t])
        v = v if v > zero else zero
        score[t] = v * v * inverse[t]


@jit(finite=True, inner=True)
def _partners(g: Any, Ki: Any, diagonal: Any, bar: Any, side: Any, m: Any, own: Any, floor: Any, score: Any) -> None:
    """Set score to the gain of every variable that moves against one whose projected gradient is m."""
    zero, two = g.dtype.type(0), g.dtype.type(2)
    for t in range(len(g)):
        v = (m + bar[t]) + side * g[t]
        v = v if v > zero else zero
        curvature = (own + diagonal[t]) - two * Ki[t]
        score[t] = v * v / (curvature if curvature > floor else floor)


@jit(finite=True, inner=True)
def _worst(g: Any, grow_bar: Any, shrink_bar: Any, score: Any) -> Any:
    """Return the largest projected gradient."""
    for t in range(len(g)):
        score[t] = inward(grow_bar[t], shrink_bar[t], g[t])
    return score[argmax(score, len(g))]


@jit(finite=True, inner=True)
def proximal(beta: float, g: float, rate: float, lower: float, upper: float, epsilon: float) -> float:
    """Return clip(soft(beta - rate g, rate epsilon), l, u): the best value of one variable if the rate is 1 / K_ii."""
    value, width = beta - g * rate, epsilon * rate
    value = max(value - width, 0.0) if value > 0.0 else min(value + width, 0.0)
    return min(max(value, lower), upper)


@jit(finite=True)
def singles(
    K: Any, beta: Any, g: Any, lower: Any, upper: Any, epsilon: float, tol: float, steps: int, stop: Any
) -> int:
    """Solve a block in place; return the number of updates. Arguments as in ``pairs``."""
    q = len(g)
    real = g.dtype.type
    grow_bar, shrink_bar = np.empty(q, g.dtype), np.empty(q, g.dtype)
    diagonal, inverse, score = np.empty(q, g.dtype), np.empty(q, g.dtype), np.empty(q, g.dtype)
    floor = smallest_curvature(K)
    for t in range(q):
        grow_bar[t], shrink_bar[t] = slopes(beta[t], lower[t], upper[t], epsilon)
        diagonal[t] = K[t, t]
        inverse[t] = real(1) / max(K[t, t], floor)
        if K[t, t] < -real(64) * floor:
            stop[NEGATIVE_CURVATURE] = 1
    i, j, shift, other = 0, 0, real(0), real(0)
    for step in range(steps):
        _scores(g, shift, K[i], other, K[j], grow_bar, shrink_bar, inverse, score)
        i = argmax(score, q)
        alone = score[i]
        if alone <= real(0) or stop[STOP] != 0:
            return step
        if step % CHECK == 0 and _worst(g, grow_bar, shrink_bar, score) <= real(tol):
            return step
        grows = grow_bar[i] - g[i] > shrink_bar[i] + g[i]
        side, bar = (real(1), shrink_bar) if grows else (real(-1), grow_bar)
        m = (grow_bar if grows else shrink_bar)[i] - side * g[i]
        _partners(g, K[i], diagonal, bar, side, m, diagonal[i], floor, score)
        j = argmax(score, q)
        if j != i and score[j] > alone:
            curvature = (diagonal[i] + diagonal[j]) - real(2) * K[i, j]
            if curvature < -real(64) * floor:
                stop[NEGATIVE_CURVATURE] = 1
            length = float(m + (bar[j] + side * g[j])) / float(max(curvature, floor))
            u, v = (i, j) if grows else (j, i)
            shift = side * real(exchange(beta, u, v, length, lower, upper, epsilon))
            other = -shift
        else:
            value = proximal(beta[i], float(g[i]), float(inverse[i]), lower[i], upper[i], epsilon)
            shift, other, j = real(value - beta[i]), real(0), i
            beta[i] = value
        for k in (i, j):
            grow_bar[k], shrink_bar[k] = slopes(beta[k], lower[k], upper[k], epsilon)
    return steps
