"""The common part of the kernels that fall with a distance."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .base import Float64, Leaf, Term, number
from .rounding import exp_error, exp_parts


@dataclass(frozen=True)
class Exponential(Leaf):
    """k(x, z) = exp(-γ D), D >= 0 being a distance of x and z.

    Parameters
    ----------
    gamma : float, default=1.0
        γ >= 0, in 1 / (units of D).
    """

    gamma: float = 1.0

    of_difference: ClassVar[bool] = True

    def __post_init__(self) -> None:
        number(self, "gamma", low=0.0)

    def terms(self) -> list[Term]:
        return [(self.op, (self.gamma, 0.0, 0.0))]

    def diagonal(self, sq_norms: Float64) -> Float64:
        return np.ones(len(sq_norms))

    def magnitude(self, sq_norm: float) -> float:
        return 1.0

    @abstractmethod
    def _exponent_errors(self, sq_norm: float, d: float, u: float) -> tuple[float, float]:
        """Return bounds of the absolute and the relative error of γ D; each kernel's docstring has the proof."""

    def _rounding_error(self, sq_norm: float, d: float, u: float) -> float:
        return exp_error(*self._exponent_errors(sq_norm, d, u), u)

    def _rounding_parts(self, sq_norm: float, d: float, u: float) -> tuple[float, float]:
        return exp_parts(*self._exponent_errors(sq_norm, d, u), u)
