"""The smallest ball around points in feature space, hard or soft: support vector data description."""

from __future__ import annotations

from typing import Any

import numpy as np

from .dual import Dual, Vector


def ball(diagonal: Vector, C: Any = np.inf, y: Vector | None = None) -> Dual:
    """Return the program of the smallest enclosing ball: t = diag K / 2, 0 <= beta_i <= C_i, sum(beta) = 1.

    The centre is a = sum_i beta_i phi(x_i). The multiplier is b = (R^2 - |a|^2) / 2, so that
    sum_i beta_i k(x_i, x) + b - k(x, x) / 2 is half of R^2 - |phi(x) - a|^2. A hard ball has R^2 = -2 D; small C_i let
    points lie outside (a soft ball). Negatives are to lie outside: -C_i <= beta_i <= 0.

    Parameters
    ----------
    diagonal : (n,) k(x, x)
    C : (n,) bound of each variable, or one for all; without negatives, no more than 1 has an effect
    y : (n,) -1 for negatives; None if there are none

    References
    ----------
    D. M. J. Tax, R. P. W. Duin, Support vector data description, Machine Learning 54 (2004) 45-66.
    """
    bound, zero = np.full(len(diagonal), C, np.float64), np.zeros(len(diagonal))
    negative = np.zeros(len(diagonal), bool) if y is None else y == -1.0
    if not negative.any():
        return Dual(0.5 * diagonal, zero, np.minimum(bound, 1.0), 0.0, (1.0,))
    lower, upper = np.where(negative, -bound, 0.0), np.where(negative, 0.0, bound)
    return Dual(0.5 * diagonal, lower, upper, 0.0, (1.0,))
