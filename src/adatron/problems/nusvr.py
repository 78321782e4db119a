"""Nu-support vector regression: finds the width of the tube; nu bounds the fraction of the samples outside the tube."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .dual import Dual, Vector
from .problem import Bias, Diagonal, WithTargets, penalty


def nusvr(y: Vector, C: Vector, nu: float, bias: Bias = "explicit", augment: float = 1.0) -> Dual:
    """Return the program of a nu-SVR, with 2n variables over n rows of K.

    t = (y, y), 0 <= beta_i <= C_i and -C_i <= beta_n+i <= 0. The first n variables sum to nu sum(C) / 2, the others to
    the opposite. Unless the bias is explicit, only sum |beta| = nu sum(C) holds. A sample's coefficient is beta_i +
    beta_n+i.

    Parameters
    ----------
    y : (n,) targets
    C : (n,) bound of each variable (C times sample weight)
    nu : in (0, 1]
    bias, augment : as in ``csvc``

    References
    ----------
    B. Schoelkopf, A. J. Smola, R. C. Williamson, P. L. Bartlett, New support vector algorithms, Neural Computation 12
    (2000).
    """
    n, total, zero = len(y), nu * float(C.sum()), np.zeros(len(y))
    t, lower, upper = np.concatenate([y, y]), np.concatenate([zero, -C]), np.concatenate([C, zero])
    if bias == "explicit":
        return Dual(t, lower, upper, 0.0, (0.5 * total, -0.5 * total), row=np.repeat([0, 1], n))
    sign = np.repeat([1.0, -1.0], n)
    return Dual(t, lower, upper, penalty(bias, augment), (total,), sign=sign)


@dataclass(frozen=True)
class NuRegression(WithTargets):
    """A tube that leaves a given fraction of the samples outside, see ``nusvr``."""

    C: float
    nu: float
    bias: Bias = "explicit"
    augment: float = 1.0
    copies = 2

    def dual(self, y: Vector, weight: Vector, diagonal: Diagonal) -> Dual:
        return nusvr(y, self.C * weight, self.nu, self.bias, self.augment)

    def ends(self, y: Vector, weight: Vector) -> tuple[float, float]:
        return self.C, self.C

    def attributes(self, half_width: float) -> dict[str, float]:
        return {"epsilon_": half_width}
