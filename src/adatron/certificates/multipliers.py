"""Multipliers of the equalities at a solution: the bias, and the width that nu stands for."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import Vector
from ..compiled.cache.jit import jit
from ..compiled.optimality import gains
from ..problems import Dual

NEAR = 2.0**-46  # Fraction of a coefficient's range, or of the largest coefficient; nearer to a bound is at the bound.


def multipliers(dual: Dual, beta: Vector, g: Vector) -> Vector:
    """Return mu of each equality: the mean of -g over its free variables, else the middle of its possible interval."""
    mu = np.zeros(len(dual.totals))
    average(beta, g, dual.lower, dual.upper, dual.epsilon, *dual.membership, mu)
    return mu


@jit
def average(beta: Any, g: Any, lower: Any, upper: Any, epsilon: float, row: Any, sign: Any, mu: Any) -> None:
    """Set mu, see ``multipliers``; a coefficient that rounding has left beside a bound, or 0, is there."""
    largest = 0.0
    for i in range(len(beta)):
        largest = max(largest, abs(beta[i]))
    for r in range(len(mu)):
        total, count, low, high = 0.0, 0, -np.inf, np.inf
        for i in range(len(beta)):
            if len(row) and row[i] != r:
                continue
            b, turned = beta[i], len(sign) > 0 and sign[i] < 0.0
            near = NEAR * min(largest, upper[i] - lower[i])
            for knot in (lower[i], 0.0, upper[i]):
                b = knot if abs(b - knot) <= near and lower[i] <= knot <= upper[i] else b
            growth, shrinkage = gains(b, g[i], lower[i], upper[i], epsilon, turned)
            low, high = max(low, growth), min(high, -shrinkage)
            if lower[i] < b < upper[i] and (epsilon == 0.0 or b != 0.0):
                total += growth  # minus the slope along its equality
                count += 1
        if count:
            mu[r] = total / count
        elif np.isinf(low):
            mu[r] = high
        else:
            mu[r] = low if np.isinf(high) else 0.5 * (low + high)


def intercept(dual: Dual, beta: Vector, g: Vector) -> float:
    """Return b at a solution: the mean of the multipliers, or lambda^2 sum(beta) if it is not a multiplier."""
    if not dual.totals or dual.sign is not None:
        return dual.lambda2 * float(beta.sum())
    mu = multipliers(dual, beta, g).tolist()
    return sum(mu) / len(mu)


def half_width(dual: Dual, beta: Vector, g: Vector) -> float:
    """Return the width that nu gives: epsilon of nu-SVR, half of the tube, or -rho of nu-SVC, half of the margin."""
    mu = multipliers(dual, beta, g)
    return float(mu[0] if len(mu) == 1 else 0.5 * (mu[0] - mu[1]))
