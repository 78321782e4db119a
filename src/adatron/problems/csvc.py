"""C-support vector classification, soft and hard margin."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .bias import Bias, penalty
from .dual import Dual, Vector
from .problem import Diagonal, Problem, bounds


def csvc(y: Vector, C: Vector, bias: Bias = "explicit", augment: float = 1.0) -> Dual:
    """Return the program of a C-SVC: t = y, beta_i between 0 and y_i C_i.

    Parameters
    ----------
    y : (n,) labels, -1 or 1
    C : (n,) bound of each variable (C times class weight times sample weight); inf is a hard margin
    bias : 'explicit' adds sum(beta) = 0; 'augmented' adds ``augment``^2 to the kernel; 'none' does neither
    augment : augmenting factor lambda

    References
    ----------
    C. Cortes, V. Vapnik, Support-vector networks, Machine Learning 20 (1995); augmented: O. L. Mangasarian,
    D. R. Musicant, Successive overrelaxation for support vector machines (1999).
    """
    bound, zero = y * C, np.zeros(len(y))
    totals = (0.0,) if bias == "explicit" else ()
    return Dual(y, np.minimum(bound, zero), np.maximum(bound, zero), penalty(bias, augment), totals)


@dataclass(frozen=True)
class CClassification(Problem):
    """A soft margin, or with C = inf a hard one, see ``csvc``."""

    C: float
    bias: Bias = "explicit"
    augment: float = 1.0
    sized = False

    def dual(self, y: Vector, weight: Vector, diagonal: Diagonal) -> Dual:
        return csvc(y, bounds(self.C, weight), self.bias, self.augment)

    @property
    def separable(self) -> bool:
        return bool(np.isfinite(self.C))

    def ends(self, y: Vector, weight: Vector) -> tuple[float, float]:
        return self.C, self.C
