"""The bias: the multipliers of the equalities at a solution, and how far the bias of an optimal function may be.

A solution w that is within a gap of the optimum w* has |w - w*|^2 <= 2 gap, so w.phi(x) is off by at most
sqrt(2 gap k(x, x)). The best bias minimises a convex, piecewise linear function whose kinks are off by as much at the
samples. Moving all kinks down gives its lowest value, moving them up the highest.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import Vector
from ..compiled.cache.jit import jit
from ..compiled.optimality import gains
from ..problems import Dual
from .gap import CARE, crossing

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


SLACK = 1e-9  # Fraction of all steps that is counted as rounding of their sums.


@jit
def confine(
    first: Any, lower: Any, upper: Any, row: Any, totals: Any, epsilons: Any, g: Any, roots: Any, widths: Any,
    errors: Any, lows: Any, highs: Any,
) -> None:  # fmt: skip
    """Set the lowest and the highest bias that may be optimal, for each of some programs, one after the other.

    first : (n + 1,) where the variables of each program begin
    lower, upper, row, totals, epsilons : as in ``Dual``; (n, p) sums, and (n,) epsilons
    g, roots : gradient without an explicit bias, and the root of k(x, x)
    widths, errors : (n,) how far a value may be off, times that root, and by errors of the gradient
    """
    for k in range(len(first) - 1):
        a, b = first[k], first[k + 1]
        kinks, steps = np.empty(2 * (b - a)), np.empty(2 * (b - a))
        lows[k] = highs[k] = 0.0
        for r in range(totals.shape[1]):
            for side in range(2):
                turn, count, total, size, last = 2.0 * side - 1.0, 0, -totals[k, r], 0.0, 0.0
                for i in range(a, b):
                    if len(row) and row[i] != r:
                        continue
                    at = turn * (CARE * widths[k] * roots[i] + errors[k]) - g[i]
                    total += upper[i]
                    size += upper[i] - lower[i]
                    if upper[i] != 0.0:
                        kinks[count], steps[count], count = at - epsilons[k], upper[i], count + 1
                    if lower[i] != 0.0:
                        kinks[count], steps[count], count = at + epsilons[k], -lower[i], count + 1
                for i in range(count):
                    last += steps[i]
                rounding = SLACK * size
                if side == 0:
                    sure = total > rounding and last >= total - rounding and size < np.inf
                    lows[k] += crossing(kinks[:count], steps[:count], total - rounding) if sure else -np.inf
                else:
                    sure = last > total + 2.0 * rounding and size < np.inf
                    highs[k] += crossing(kinks[:count], steps[:count], total + 2.0 * rounding) if sure else np.inf
        lows[k], highs[k] = lows[k] / max(1, totals.shape[1]), highs[k] / max(1, totals.shape[1])
