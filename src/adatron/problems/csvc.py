"""C-support vector classification, soft and hard margin, and its form whose targets have different sizes."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .dual import Dual, Vector
from .problem import Bias, Diagonal, Problem, bounds, penalty


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


def with_targets(dual: Dual, size: Vector, slack: str = "feature") -> Dual:
    """Return the program of y_i f(x_i) >= size_i instead of 1: t = y * size.

    Parameters
    ----------
    dual : the program of a C-SVC
    size : (n,) > 0; for the margin in the input space the sizes of the gradients, so that every sample asks for a
        distance and not for a decision value (S. Akaho, Maximizing the margin in the input space, 2002, eqs. 8, 9, 21)
    slack : what an error costs C for: 'feature' is a lack of 1 in y_i f(x_i), as in the source; 'input' is a lack of 1
        in y_i f(x_i) / size_i, that is of the distance that the sample asks for. So y_i beta_i <= C_i / size_i
    """
    box = size if slack == "input" else 1.0
    return replace(dual, t=dual.t * size, lower=dual.lower / box, upper=dual.upper / box)
