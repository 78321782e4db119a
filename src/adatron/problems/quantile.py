"""Quantile regression: the pinball loss, whose minimum over constants is a quantile."""

from __future__ import annotations

from dataclasses import dataclass

from .dual import Dual, Vector
from .problem import Bias, Diagonal, WithTargets, penalty


def quantile(y: Vector, below: Vector, above: Vector, bias: Bias = "explicit", augment: float = 1.0) -> Dual:
    """Return the program of a quantile regression: t = y and -below_i <= beta_i <= above_i.

    An error of f(x_i) below y_i costs above_i a unit, and one above y_i costs below_i. For the quantile tau these are
    tau C_i and (1 - tau) C_i.

    Parameters
    ----------
    y : (n,) targets
    below, above : (n,) bounds of each variable, >= 0
    bias, augment : as in ``csvc``

    References
    ----------
    I. Takeuchi, Q. V. Le, T. D. Sears, A. J. Smola, Nonparametric quantile estimation, Journal of Machine Learning
    Research 7 (2006) 1231-1264.
    """
    return Dual(y, -below, above, penalty(bias, augment), (0.0,) if bias == "explicit" else ())


@dataclass(frozen=True)
class QuantileRegression(WithTargets):
    """One quantile, see ``quantile``."""

    C: float
    tau: float
    bias: Bias = "explicit"
    augment: float = 1.0

    def dual(self, y: Vector, weight: Vector, diagonal: Diagonal) -> Dual:
        below, above = self.ends(y, weight)
        return quantile(y, below * weight, above * weight, self.bias, self.augment)

    def ends(self, y: Vector, weight: Vector) -> tuple[float, float]:
        return (1.0 - self.tau) * self.C, self.tau * self.C
