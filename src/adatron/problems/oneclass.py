"""One-class support vector machine: the half-space, as far from the origin as can be, that holds most samples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .dual import Dual, Vector
from .problem import Diagonal, Problem


def oneclass(w: Vector, nu: float) -> Dual:
    """Return the program of a one-class SVM: t = 0, 0 <= beta_i <= w_i, sum(beta) = nu sum(w).

    The multiplier is b = -rho. The three forms of the bias are the same program: lambda^2 only adds a constant to D.

    Parameters
    ----------
    w : (n,) weights
    nu : in (0, 1], the largest fraction of the samples that is outside

    References
    ----------
    B. Schoelkopf, J. C. Platt, J. Shawe-Taylor, A. J. Smola, R. C. Williamson, Estimating the support of a
    high-dimensional distribution, Neural Computation 13 (2001).
    """
    zero = np.zeros_like(w)
    return Dual(zero, zero, w, 0.0, (nu * float(w.sum()),))


@dataclass(frozen=True)
class OneClass(Problem):
    """A half-space that leaves a given fraction of the samples outside, see ``oneclass``."""

    nu: float
    in_units = True

    def dual(self, y: Vector, weight: Vector, diagonal: Diagonal) -> Dual:
        return oneclass(weight, self.nu)
