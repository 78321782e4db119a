"""The three forms of the bias, and its value at a solution.

``explicit``: an unpenalised b; it is the multiplier of sum(beta) = s. ``augmented``: a constant feature lambda is added
to every sample, so b = lambda^2 sum(beta) is penalised with w; SVMseq's augmenting factor, ISDA's 1/k = lambda^2 and
Mangasarian and Musicant's lambda = 1 are this one parameter. ``none``: b = 0.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from .dual import Dual, Vector

Bias = Literal["explicit", "augmented", "none"]


def intercept(dual: Dual, beta: Vector, g: Vector) -> float:
    """b at a solution: the average of -g over the free variables, else the middle of the interval it may lie in."""
    if dual.total is None:
        return dual.lambda2 * float(beta.sum())
    free = dual.free(beta)
    if free.any():
        return -float(np.mean(g[free] + dual.epsilon * np.sign(beta[free])))
    low = float(np.max(dual.growth(beta, g), initial=-np.inf))
    high = -float(np.max(dual.shrinkage(beta, g), initial=-np.inf))
    if np.isinf(low) or np.isinf(high):
        return high if np.isinf(low) else low
    return 0.5 * (low + high)
