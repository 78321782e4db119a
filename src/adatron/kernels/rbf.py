"""The Gaussian kernel."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import issparse
from scipy.spatial.distance import cdist

from ..compiled.cache.jit import jit
from ..compiled.exp import decay
from .base import Float64, Kernel, Mixture, TileProduct, operands
from .exponential import Exponential
from .rounding import growth, product_error, tiny


@dataclass(frozen=True)
class RBF(Exponential):
    """k(x, z) = exp(-γ ‖x - z‖²).

    Parameters
    ----------
    gamma : float, default=1.0
        γ >= 0, in 1 / (units of x)². Papers write σ: γ = 1 / (2σ²), sometimes 1 / σ².

    References
    ----------
    Aizerman, Braverman, Rozonoer, Automation and Remote Control 25 (1964) 821-837.

    Examples
    --------
    >>> from adatron.kernels import RBF, Linear
    >>> RBF(gamma=0.5)([[0.0], [1.0]], [[0.0]]).round(3)
    array([[1.   ],
           [0.607]])
    >>> kernel = RBF(gamma=0.5) + 2 * Linear()  # for SVC(kernel=kernel)
    """

    def by_differences(self) -> Kernel:
        return DistanceRBF(self.gamma)

    def cost(self, d: float) -> float:
        return d + 12.0

    def _exponent_errors(self, sq_norm: float, d: float, u: float) -> tuple[float, float]:
        """Bound the absolute and the relative error of the exponent.

        Three products (x·z counts twice) and the sum of the norms have absolute errors. The difference, γ log₂ e
        (twice) and the product with it have only relative ones. Clamping at 0 never adds to the error.
        """
        distance = 4.0 * product_error(sq_norm, d, u)
        distance += u * (2.0 * sq_norm + distance)
        underflow = (1.0 + 4.0 * sq_norm + distance) * tiny(u)
        return self.gamma * distance + underflow, growth(4, u)

    def slopes(self) -> tuple[Mixture, Mixture]:
        return {}, {self: -self.gamma}

    def apart(self, norm: Float64, radius: Float64) -> Float64:
        return np.sqrt(-2.0 * np.expm1(-self.gamma * radius**2)) + 0.0 * norm

    def steepness(self, norms: Float64) -> Float64:
        return np.full(len(norms), math.sqrt(2.0 * self.gamma / math.e))

    def __call__(self, X: Any, Z: Any = None) -> Float64:
        X, Z = operands(X, Z)
        if issparse(X):
            norms = X.power(2).sum(axis=1)[:, None] + Z.power(2).sum(axis=1)[None, :]
            return np.exp(-self.gamma * np.maximum(norms - 2.0 * (X @ Z.T).toarray(), 0.0))
        return np.exp(-self.gamma * cdist(X, Z, "sqeuclidean"))


@dataclass(frozen=True)
class DistanceRBF(RBF):
    """The Gaussian kernel of squared distances that are summed from differences, in double precision.

    Its error does not grow with the distance of the points from the origin, so it serves tight clusters that are far
    apart. The rows must be the given ones: centring would round them.
    """

    product: ClassVar[TileProduct] = "squares"

    def by_differences(self) -> Kernel:
        return self

    def cost(self, d: float) -> float:
        return 3.0 * d + 12.0

    def _exponent_errors(self, sq_norm: float, d: float, u: float) -> tuple[float, float]:
        """Bound the absolute and the relative error of the exponent.

        The differences, their squares, the sum (terms >= 0), γ log₂ e (twice) and the product with it have relative
        errors. Points that were rounded to float32 would have larger ones.
        """
        if u > 2.0**-53:
            return math.inf, math.inf
        return (1.0 + self.gamma + 4.0 * sq_norm * self.gamma) * tiny(u), growth(d + 7, u)


@jit
def distance_rbf_map(tile: Any, points: Any, rows: Any, p0: float, p1: float, p2: float) -> None:
    """Map from ‖x - z‖²."""
    for i in range(tile.shape[0]):
        decay(tile[i], p0, tile.shape[1])


@jit
def rbf_map(tile: Any, points: Any, rows: Any, p0: float, p1: float, p2: float) -> None:
    """Map from x·z and the squared norms: exponents are symmetric in the points, and 0 for equal ones, to the bit."""
    real = tile.dtype.type
    two, zero = real(2.0), real(0.0)
    for i in range(tile.shape[0]):
        for t in range(tile.shape[1]):
            tile[i, t] = max((points[i] + rows[t]) - two * tile[i, t], zero)
        decay(tile[i], p0, tile.shape[1])
