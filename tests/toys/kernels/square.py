"""A toy kernel, as CONTRIBUTING says: one file, and one line of the table of kernels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..compiled.cache.jit import jit
from .base import Float64, Leaf, Mixture, Term, number, products
from .polynomial import Polynomial
from .rounding import affine_error, growth, tiny


@dataclass(frozen=True)
class Square(Leaf):
    """k(x, z) = shift + (1 + γ x·z)²; scikit-learn has no ``shift``, so a kernel by name has the default one."""

    gamma: float = 1.0
    shift: float = 0.5

    def __post_init__(self) -> None:
        number(self, "gamma", low=0.0)
        number(self, "shift", low=0.0)

    def terms(self) -> list[Term]:
        return [(self.op, (self.gamma, self.shift, 0.0))]

    def diagonal(self, sq_norms: Float64) -> Float64:
        return self.shift + (1.0 + self.gamma * np.asarray(sq_norms, dtype=np.float64)) ** 2

    def cost(self, d: float) -> float:
        return d + 4.0

    def magnitude(self, sq_norm: float) -> float:
        return self.shift + (1.0 + self.gamma * sq_norm) ** 2

    def _rounding_error(self, sq_norm: float, d: float, u: float) -> float:
        """Bound by (T + e)² - T² <= 2 e (T + e); a multiplication, a sum and the rounded shift add the rest."""
        e = affine_error(self.gamma, 1.0, sq_norm, d, u)
        top = 1.0 + self.gamma * sq_norm + e
        return 2.0 * e * top + growth(3, u) * (self.shift + top * top) + 4.0 * tiny(u)

    def slopes(self) -> tuple[Mixture, Mixture]:
        return {Polynomial(self.gamma, 1, 1.0): 2.0 * self.gamma}, {}

    def apart(self, norm: Float64, radius: Float64) -> Float64:
        return np.full_like(radius, np.inf)

    def __call__(self, X: Any, Z: Any = None) -> Float64:
        return self.shift + (1.0 + self.gamma * products(X, Z)) ** 2


@jit
def square_map(tile: Any, points: Any, rows: Any, p0: float, p1: float, p2: float) -> None:
    """Map from x·z."""
    real = tile.dtype.type
    for i in range(tile.shape[0]):
        for t in range(tile.shape[1]):
            inner = real(1.0) + real(p0) * tile[i, t]
            tile[i, t] = real(p1) + inner * inner
