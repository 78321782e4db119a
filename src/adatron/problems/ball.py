"""The smallest ball around points in feature space."""

from __future__ import annotations

import numpy as np

from .dual import Dual, Vector


def ball(diagonal: Vector, C: float = np.inf) -> Dual:
    """Return the program of the smallest enclosing ball: t = diag K / 2, 0 <= beta_i <= min(C, 1), sum(beta) = 1.

    The squared radius is -2 D, the centre sum_i beta_i phi(x_i); C < 1 lets points lie outside (a soft ball).

    Parameters
    ----------
    diagonal : (n,) k(x, x)
    C : bound of each variable, at least 1 / n

    References
    ----------
    D. M. J. Tax, R. P. W. Duin, Support vector data description, Machine Learning 54 (2004) 45-66.
    """
    n = len(diagonal)
    return Dual(0.5 * diagonal, np.zeros(n), np.full(n, min(C, 1.0)), 0.0, (1.0,))
