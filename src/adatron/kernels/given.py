"""Kernels whose values come from outside: the common part of the user's matrix and the user's function."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from .base import Float64, Leaf, Mixture, Term, not_differentiable
from .rounding import tiny

NO_FORMULA = "its formula is unknown"


class Given(Leaf):
    """A leaf without a formula: it cannot be combined with other kernels and has no derivative.

    In place of squared norms ``diagonal`` takes the values k(x, x), and ``magnitude`` and ``error_bound`` take the
    largest |k(x, z)|.
    """

    smooth: ClassVar[bool] = False

    @property
    def semidefinite(self) -> bool:
        return False

    def terms(self) -> list[Term]:
        return []

    def diagonal(self, sq_norms: Float64) -> Float64:
        return np.array(sq_norms, dtype=np.float64)

    def magnitude(self, sq_norm: float) -> float:
        return sq_norm

    def _rounding_error(self, sq_norm: float, d: float, u: float) -> float:
        """Bound one rounding of a value."""
        return u * sq_norm + tiny(u)

    def slopes(self) -> tuple[Mixture, Mixture]:
        raise not_differentiable(self, NO_FORMULA)

    def apart(self, norm: Float64, radius: Float64) -> Float64:
        return np.full_like(radius, np.inf)
