"""The duality gap: an upper bound of D(beta) - min D, and the difference of primal and dual objective.

For every program of ``problems.dual`` and any multiplier mu of the equality, with h = g + mu,

    gap(mu) = sum_i max over l_i <= v <= u_i of h_i (beta_i - v)
            = sum_i  h_i (beta_i - l_i) where h_i >= 0,  -h_i (u_i - beta_i) where h_i < 0,

every term of which is >= 0, so nothing cancels near the optimum. For C-SVC mu is the bias b, the terms are the
complementary slackness and the hinge losses, and the minimum over b is taken exactly.
"""

from __future__ import annotations

import numpy as np

from ..problems import Dual
from ..problems.dual import Vector


def best_multiplier(dual: Dual, beta: Vector, g: Vector) -> float:
    """The mu that minimises the gap (0 without an equality).

    gap is convex and piecewise linear in mu with kinks at -g_i, where its slope grows by u_i - l_i from
    -sum(u - beta); with a hard margin, mu maximises the smallest margin instead.
    """
    if dual.total is None:
        return 0.0
    if dual.unbounded:
        z = g + dual.t
        return -0.5 * float(np.min(z[dual.t > 0], initial=np.inf) + np.max(z[dual.t < 0], initial=-np.inf))
    order = np.argsort(-g)
    slope = np.cumsum((dual.upper - dual.lower)[order]) - np.sum(dual.upper - beta)
    return float(-g[order[min(int(np.searchsorted(slope, 0.0)), len(g) - 1)]])


def duality_gap(dual: Dual, beta: Vector, g: Vector, mu: float, error: float = 0.0) -> float:
    """gap(mu), for a gradient that is known up to ``error``.

    For a hard margin the primal point is (w, b) divided by its smallest margin m: the gap is |w|^2 / (2 m^2) + D, and
    infinite while m <= 0.
    """
    h = g + mu
    if dual.unbounded:
        margin = float(np.min(1.0 + dual.t * h)) - error
        if margin <= 0.0:
            return np.inf
        norm2 = dual.squared_norm(beta, g) + error * float(np.abs(beta).sum())
        return max(0.0, 0.5 * norm2 / margin**2 + dual.objective(beta, g))
    below, above = beta - dual.lower, dual.upper - beta
    weight = np.where(h > error, below, np.where(h < -error, above, np.maximum(below, above)))
    return float(((np.abs(h) + error) * weight).sum())
