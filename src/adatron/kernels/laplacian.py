"""The Laplacian kernel."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csc_array, issparse
from scipy.spatial.distance import cdist

from ..compiled.cache.jit import jit
from ..compiled.exp import decay
from .base import Float64, Mixture, TileProduct, not_differentiable, operands
from .exponential import Exponential
from .rounding import growth, tiny

KINKS = "it has a kink wherever two points share a coordinate"


@dataclass(frozen=True)
class Laplacian(Exponential):
    """k(x, z) = exp(-γ ‖x - z‖₁), with the L1 norm as in scikit-learn (others use L2 under this name).

    Parameters
    ----------
    gamma : float, default=1.0
        γ >= 0, in 1 / (units of x).

    References
    ----------
    Chapelle, Haffner, Vapnik, Support vector machines for histogram-based image classification, IEEE
    Transactions on Neural Networks 10 (1999) 1055-1064.

    Examples
    --------
    >>> from adatron.kernels import Laplacian
    >>> Laplacian(gamma=0.5)([[0.0, 0.0]], [[1.0, 1.0]]).round(3)
    array([[0.368]])
    """

    product: ClassVar[TileProduct] = "l1"
    smooth: ClassVar[bool] = False

    def cost(self, d: float) -> float:
        return 3.0 * d + 12.0

    def _exponent_errors(self, sq_norm: float, d: float, u: float) -> tuple[float, float]:
        """Bound the absolute and the relative error of the exponent.

        ‖x‖₁ <= √d ‖x‖₂, so rounding the inputs moves the distance by at most 2 u √(d sq_norm). The differences, their
        sum (terms >= 0), γ log₂ e (twice) and the product with it have relative errors.
        """
        reach = 2.0 * math.sqrt(d * sq_norm)
        distance = u * reach + d * tiny(u)
        underflow = (1.0 + reach + distance) * tiny(u)
        return self.gamma * distance + underflow, growth(d + 3, u)

    def slopes(self) -> tuple[Mixture, Mixture]:
        raise not_differentiable(self, KINKS)

    def apart(self, norm: Float64, radius: Float64) -> Float64:
        return np.full_like(radius, np.inf)

    def __call__(self, X: Any, Z: Any = None) -> Float64:
        X, Z = operands(X, Z)
        distances = _sparse_distances(X, Z) if issparse(X) else cdist(X, Z, "cityblock")
        return np.exp(-self.gamma * distances)


def _sparse_distances(X: Any, Z: Any) -> Float64:
    """Return ‖x - z‖₁ = ‖z‖₁ + Σ (|x_k - z_k| - |z_k|) over the nonzeros k of x, (n, m)."""
    X, columns, lengths = X.copy(), csc_array(Z), abs(Z).sum(axis=1)  # lengths (m,)
    X.sum_duplicates()
    distances = np.empty((X.shape[0], Z.shape[0]))
    for i in range(X.shape[0]):
        nonzero = slice(X.indptr[i], X.indptr[i + 1])
        part = columns[:, X.indices[nonzero]].toarray()  # (m, nonzeros of x)
        distances[i] = lengths + (abs(X.data[nonzero] - part) - abs(part)).sum(axis=1)
    return np.maximum(distances, 0.0)


@jit
def laplacian_map(tile: Any, points: Any, rows: Any, p0: float, p1: float, p2: float) -> None:
    """Map from ‖x - z‖₁."""
    for i in range(tile.shape[0]):
        decay(tile[i], p0, tile.shape[1])
