"""Epsilon-insensitive support vector regression."""

from __future__ import annotations

from .bias import Bias, penalty
from .dual import Dual, Vector


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
