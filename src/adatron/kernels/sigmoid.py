"""The sigmoid kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..compiled.cache.jit import jit
from ..compiled.exp import decay
from .base import Float64, Leaf, Mixture, Term, number, products
from .polynomial import ONE
from .rounding import affine_error, tiny


@dataclass(frozen=True)
class Sigmoid(Leaf):
    """k(x, z) = tanh(γ x·z + c₀).

    Not positive semidefinite in general: the duality gap then bounds nothing.

    Parameters
    ----------
    gamma : float, default=1.0
        γ >= 0.
    coef0 : float, default=0.0
        c₀.

    References
    ----------
    Lin, Lin, A study on sigmoid kernels for SVM and the training of non-PSD kernels by SMO-type
    methods, National Taiwan University 2003.

    Examples
    --------
    >>> from adatron.kernels import Sigmoid
    >>> Sigmoid(gamma=0.5)([[0.0], [1.0]], [[1.0]]).round(3)
    array([[0.   ],
           [0.462]])
    """

    gamma: float = 1.0
    coef0: float = 0.0

    def __post_init__(self) -> None:
        number(self, "gamma", low=0.0)
        number(self, "coef0")

    @property
    def semidefinite(self) -> bool:
        return False

    def terms(self) -> list[Term]:
        return [(self.op, (self.gamma, self.coef0, 0.0))]

    def diagonal(self, sq_norms: Float64) -> Float64:
        return np.tanh(self.gamma * np.asarray(sq_norms, dtype=np.float64) + self.coef0)

    def cost(self, d: float) -> float:
        return d + 20.0

    def magnitude(self, sq_norm: float) -> float:
        return 1.0

    def _rounding_error(self, sq_norm: float, d: float, u: float) -> float:
        """Bound the argument's error, and that of tanh, whose slope is at most 1.

        With e = exp(-2|t|), (1 - e)/(1 + e) has slope 2/(1 + e)². The 4 u e of the exponential cost at most 2 u, the
        three roundings of its exponent 2 (3 u 2|t| e) < 2.4 u, and those after it 3 u. 8 u covers the higher orders.
        """
        return affine_error(self.gamma, self.coef0, sq_norm, d, u) + 8.0 * u + tiny(u)

    def slopes(self) -> tuple[Mixture, Mixture]:
        return {ONE: self.gamma, self * self: -self.gamma}, {}

    def apart(self, norm: Float64, radius: Float64) -> Float64:
        return np.full_like(radius, np.inf)  # this kernel has no φ

    def steepness(self, norms: Float64) -> Float64:
        return self.gamma * np.asarray(norms)

    def __call__(self, X: Any, Z: Any = None) -> Float64:
        return np.tanh(self.gamma * products(X, Z) + self.coef0)


@jit
def sigmoid_map(tile: Any, points: Any, rows: Any, p0: float, p1: float, p2: float) -> None:
    """Compute tanh|t| = (1 - e)/(1 + e), e = exp(-2|t|) <= 1, which cannot overflow, and put the sign back."""
    real = tile.dtype.type
    gamma, coef0, zero, one = real(p0), real(p1), real(0.0), real(1.0)
    e = np.empty(tile.shape[1], tile.dtype)
    for i in range(tile.shape[0]):
        for t in range(tile.shape[1]):
            tile[i, t] = gamma * tile[i, t] + coef0
            e[t] = abs(tile[i, t])
        decay(e, 2.0, tile.shape[1])
        for t in range(tile.shape[1]):
            value = (one - e[t]) / (one + e[t])
            tile[i, t] = value if tile[i, t] >= zero else -value
