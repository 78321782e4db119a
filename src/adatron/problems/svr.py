"""Epsilon-insensitive support vector regression."""

from __future__ import annotations

from dataclasses import dataclass

from .dual import Dual, Vector
from .problem import Bias, Diagonal, WithTargets, bounds, penalty


def svr(y: Vector, C: Vector, epsilon: float, bias: Bias = "explicit", augment: float = 1.0) -> Dual:
    """Return the program of an epsilon-SVR: t = y, |beta_i| <= C_i, and epsilon |beta|_1.

    Parameters
    ----------
    y : (n,) targets
    C : (n,) bound of each variable (C times sample weight)
    epsilon : half the width of the tube in which an error costs nothing
    bias, augment : as in ``csvc``

    References
    ----------
    V. Vapnik, S. Golowich, A. Smola, Support vector method for function approximation (1997).
    """
    return Dual(y, -C, C, penalty(bias, augment), (0.0,) if bias == "explicit" else (), epsilon)


@dataclass(frozen=True)
class EpsilonRegression(WithTargets):
    """A tube of a given width, see ``svr``."""

    C: float
    epsilon: float
    bias: Bias = "explicit"
    augment: float = 1.0

    def dual(self, y: Vector, weight: Vector, diagonal: Diagonal) -> Dual:
        return svr(y, bounds(self.C, weight), self.epsilon, self.bias, self.augment)

    def ends(self, y: Vector, weight: Vector) -> tuple[float, float]:
        return self.C, self.C
