"""Errors that cost their square: squared hinge classification and squared epsilon-insensitive regression."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .csvc import csvc
from .dual import Dual, Vector
from .problem import Bias, Diagonal, Problem, WithTargets, bounds
from .svr import svr


def squared(dual: Dual, C: Vector) -> Dual:
    """Return the program of the same errors, of which each costs C_i times its square.

    Parameters
    ----------
    dual : the program in which errors cost nothing below the bounds: those are 0 or infinite
    C : (n,) cost of the square of an error; a sample of cost 0 keeps its bounds, which are 0

    References
    ----------
    Y.-J. Lee, O. L. Mangasarian, SSVM: a smooth support vector machine, Computational Optimization and Applications 20
    (2001); C.-J. Hsieh et al., A dual coordinate descent method for large-scale linear SVM, ICML (2008), eq. 4.
    """
    return replace(dual, ridge=np.divide(0.5, C, out=np.zeros(len(C)), where=C > 0.0)) if np.isfinite(C).all() else dual


@dataclass(frozen=True)
class SquaredClassification(Problem):
    """A margin whose violations cost C times their square; with C = inf a hard margin, see ``squared``."""

    C: float
    bias: Bias = "explicit"
    augment: float = 1.0
    sized = False
    even = True

    def dual(self, y: Vector, weight: Vector, diagonal: Diagonal) -> Dual:
        return squared(csvc(y, bounds(np.inf, weight), self.bias, self.augment), bounds(self.C, weight))

    def ends(self, y: Vector, weight: Vector) -> tuple[float, float]:
        return np.inf, np.inf


@dataclass(frozen=True)
class SquaredRegression(WithTargets):
    """A tube, beyond which errors cost C times their square, see ``squared``."""

    C: float
    epsilon: float
    bias: Bias = "explicit"
    augment: float = 1.0
    even = True

    def dual(self, y: Vector, weight: Vector, diagonal: Diagonal) -> Dual:
        plain = svr(y, bounds(np.inf, weight), self.epsilon, self.bias, self.augment)
        return squared(plain, bounds(self.C, weight))

    def ends(self, y: Vector, weight: Vector) -> tuple[float, float]:
        return np.inf, np.inf
