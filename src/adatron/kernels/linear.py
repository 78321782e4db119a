"""The linear kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..compiled.cache.jit import jit
from .base import Float64, Leaf, Mixture, Term, products
from .polynomial import ONE
from .rounding import product_error


@dataclass(frozen=True)
class Linear(Leaf):
    """k(x, z) = x·z.

    Examples
    --------
    >>> from adatron.kernels import Linear
    >>> Linear()([[1.0, 2.0]], [[3.0, 4.0]])
    array([[11.]])
    """

    @property
    def plain(self) -> bool:
        return True

    def terms(self) -> list[Term]:
        return [(self.op, (0.0, 0.0, 0.0))]

    def diagonal(self, sq_norms: Float64) -> Float64:
        return np.array(sq_norms, dtype=np.float64)

    def cost(self, d: float) -> float:
        return d

    def magnitude(self, sq_norm: float) -> float:
        return sq_norm

    def _rounding_error(self, sq_norm: float, d: float, u: float) -> float:
        """Return the product's own error."""
        return product_error(sq_norm, d, u)

    def slopes(self) -> tuple[Mixture, Mixture]:
        return {ONE: 1.0}, {}

    def apart(self, norm: Float64, radius: Float64) -> Float64:
        return radius + 0.0 * norm

    def __call__(self, X: Any, Z: Any = None) -> Float64:
        return products(X, Z)


@jit
def linear_map(tile: Any, points: Any, rows: Any, p0: float, p1: float, p2: float) -> None:
    """Keep the tile, which holds x·z already."""
