"""The three forms of the bias, and what the multipliers of the equalities say at a solution.

``explicit``: an unpenalised b; it is the multiplier of sum(beta) = s. ``augmented``: a constant feature lambda is added
to every sample, so b = lambda^2 sum(beta) is penalised with w; SVMseq's augmenting factor, ISDA's 1/k = lambda^2 and
Mangasarian and Musicant's lambda = 1 are this one parameter. ``none``: b = 0.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from .dual import Dual, Vector

Bias = Literal["explicit", "augmented", "none"]


def multipliers(dual: Dual, beta: Vector, g: Vector) -> Vector:
    """mu of each equality: the average of -g over its free variables, else the middle of the interval it may lie in."""
    free = dual.free(beta)
    slope = g + dual.epsilon * np.sign(beta)
    slope = slope if dual.sign is None else dual.sign * slope
    out = np.zeros(len(dual.totals))
    for r, tie in enumerate(dual.ties()[: len(out)]):
        inside = slope[tie][free[tie]]
        out[r] = -np.mean(inside) if len(inside) else _middle(dual.growth(beta, g)[tie], dual.shrinkage(beta, g)[tie])
    return out


def _middle(grow: Vector, shrink: Vector) -> float:
    low, high = float(np.max(grow, initial=-np.inf)), -float(np.max(shrink, initial=-np.inf))
    if np.isinf(low) or np.isinf(high):
        return high if np.isinf(low) else low
    return 0.5 * (low + high)


def intercept(dual: Dual, beta: Vector, g: Vector) -> float:
    """b at a solution: the mean of the multipliers; lambda^2 sum(beta) unless it is a multiplier."""
    if not dual.totals or dual.sign is not None:
        return dual.lambda2 * float(beta.sum())
    return float(np.mean(multipliers(dual, beta, g)))


def half_width(dual: Dual, beta: Vector, g: Vector) -> float:
    """What nu stands for at a solution: epsilon of nu-SVR, half of the tube; -rho of nu-SVC, half of the margin."""
    mu = multipliers(dual, beta, g)
    return float(mu[0] if len(mu) == 1 else 0.5 * (mu[0] - mu[1]))
