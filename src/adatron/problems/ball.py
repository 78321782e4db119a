"""The smallest ball around points in feature space, hard or soft: support vector data description."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .dual import Dual, Vector
from .problem import Diagonal, Problem, bounds


def ball(diagonal: Vector, C: Any = np.inf, y: Vector | None = None) -> Dual:
    """Return the program of the smallest enclosing ball: t = diag K / 2, 0 <= beta_i <= C_i, sum(beta) = 1.

    The centre is a = sum_i beta_i phi(x_i). The multiplier is b = (R^2 - |a|^2) / 2, so that
    sum_i beta_i k(x_i, x) + b - k(x, x) / 2 is half of R^2 - |phi(x) - a|^2. A hard ball has R^2 = -2 D; small C_i let
    points lie outside (a soft ball). Negatives are to lie outside: -C_i <= beta_i <= 0.

    Parameters
    ----------
    diagonal : (n,) k(x, x)
    C : (n,) bound of each variable, or one for all; without negatives, no more than 1 has an effect
    y : (n,) -1 for negatives; None without negatives

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


@dataclass(frozen=True)
class Ball(Problem):
    """A ball around most samples, see ``ball``: with the bounds C, or 1 / (nu W) where W is the weight of the samples.

    Negatives do not count in W. C must be at least 1 / W.
    """

    nu: float
    C: float | None = None
    sphere = True

    def dual(self, y: Vector, weight: Vector, diagonal: Diagonal) -> Dual:
        own = diagonal()
        if not np.isfinite(own).all():
            raise ValueError("k(x, x) is too large for a float. Scale the features, or take a kernel that grows less.")
        return ball(own, bounds(self.ends(y, weight)[1], weight), y)

    def ends(self, y: Vector, weight: Vector) -> tuple[float, float]:
        least = 1.0 / float(weight[y != -1.0].sum())
        bound = least / self.nu if self.C is None else max(self.C, least)  # a C below has no solution
        return bound, bound

    def check(self, classes: NDArray[Any], weights: Vector, unit: float) -> None:
        C, own = self.C, unit * float(weights[classes != -1.0].sum())
        if not own > 0.0:
            raise ValueError("An SVDD needs samples that are no negatives. All samples are marked -1.")
        if C is not None and C * own < 1.0:
            raise ValueError(
                f"C must be at least 1 / (weight of the samples that are no negatives), which is {1.0 / own:.3g}. "
                f"Got {C}."
            )
        if C is not None and np.isinf(C) and (classes == -1.0).any():
            text = "C=inf lets no sample be on the wrong side of the sphere. With negatives, pass a finite C."
            raise ValueError(text)

    def divisors(self, half_widths: Vector) -> Vector:
        return np.full_like(half_widths, 0.5)  # values of the program's variables are half of the decision values
