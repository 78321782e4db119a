"""The polynomial kernel."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..compiled.cache.jit import jit
from .base import Float64, Leaf, Mixture, Term, number, products
from .rounding import affine_error, growth, power, tiny

LARGEST_DEGREE = 2**31 - 1  # the largest degree, as in LIBSVM
PIECES = 32  # Pieces of a segment along which the stretch by φ is bounded.


@dataclass(frozen=True)
class Polynomial(Leaf):
    """k(x, z) = (γ x·z + c₀)^degree.

    Positive semidefinite for c₀ >= 0.

    Parameters
    ----------
    gamma : float, default=1.0
        γ >= 0.
    degree : int, default=3
        From 0 to 2³¹ - 1.
    coef0 : float, default=0.0
        c₀; with c₀ > 0 all lower powers take part.

    References
    ----------
    Boser, Guyon, Vapnik, A training algorithm for optimal margin classifiers, COLT 1992.

    Examples
    --------
    >>> from adatron.kernels import Polynomial
    >>> Polynomial(degree=2, gamma=1.0, coef0=1.0)([[1.0, 2.0]], [[3.0, 4.0]])
    array([[144.]])
    """

    gamma: float = 1.0
    degree: int = 3
    coef0: float = 0.0

    def __post_init__(self) -> None:
        number(self, "gamma", low=0.0)
        number(self, "degree", low=0, high=LARGEST_DEGREE, integer=True)
        number(self, "coef0")

    @property
    def semidefinite(self) -> bool:
        return self.coef0 >= 0.0

    def terms(self) -> list[Term]:
        return [(self.op, (self.gamma, float(self.degree), self.coef0))]

    def diagonal(self, sq_norms: Float64) -> Float64:
        return (self.gamma * np.asarray(sq_norms, dtype=np.float64) + self.coef0) ** self.degree

    def cost(self, d: float) -> float:
        return d + 1.0 + 2.0 * self.degree.bit_length()

    def magnitude(self, sq_norm: float) -> float:
        return power(self.gamma * sq_norm + abs(self.coef0), self.degree)

    def _rounding_error(self, sq_norm: float, d: float, u: float) -> float:
        """Bound by (T + e)^n - T^n <= n e (T + e)^(n-1); any order of n - 1 multiplications adds γ_{n-1} (T + e)^n."""
        n = self.degree
        if n == 0:
            return 0.0
        e = affine_error(self.gamma, self.coef0, sq_norm, d, u)
        top = self.gamma * sq_norm + abs(self.coef0) + e
        underflow = n * max(1.0, power(top, n)) * tiny(u)
        return n * e * power(top, n - 1) + growth(n - 1, u) * power(top, n) + underflow

    def slopes(self) -> tuple[Mixture, Mixture]:
        if self.degree == 0:
            return {}, {}
        lower = replace(self, degree=self.degree - 1) if self.degree > 1 else ONE
        return {lower: self.gamma * self.degree}, {}

    def apart(self, norm: Float64, radius: Float64) -> Float64:
        """Bound the length of φ along a segment: at ‖x‖ = ρ it stretches by √λ_max of ∂²k/∂x∂z, growing with ρ."""
        if not self.semidefinite:
            return np.full_like(radius, np.inf)
        n, step = self.degree, radius / PIECES
        length = np.zeros_like(radius)
        for piece in range(1, PIECES + 1):  # an upper sum
            rho2 = (norm + piece * step) ** 2
            t = self.gamma * rho2 + self.coef0
            first, second = n * t ** max(n - 1, 0), n * (n - 1) * t ** max(n - 2, 0)
            length += step * np.sqrt(self.gamma * first + self.gamma * self.gamma * second * rho2)
        return length

    def __call__(self, X: Any, Z: Any = None) -> Float64:
        return (self.gamma * products(X, Z) + self.coef0) ** self.degree


ONE = Polynomial(gamma=0.0, degree=0)  # The kernel that is 1 everywhere.


@jit
def polynomial_map(tile: Any, points: Any, rows: Any, p0: float, p1: float, p2: float) -> None:
    """Square and multiply from the highest bit of the degree down, a row at a time so that it vectorises."""
    real = tile.dtype.type
    gamma, degree, coef0 = real(p0), int(p1), real(p2)
    highest = 1
    while 2 * highest <= degree:
        highest *= 2
    base = np.empty(tile.shape[1], tile.dtype)
    for i in range(tile.shape[0]):
        for t in range(tile.shape[1]):
            base[t] = gamma * tile[i, t] + coef0
            tile[i, t] = real(1.0)
        bit = highest if degree > 0 else 0
        while bit > 0:
            for t in range(tile.shape[1]):
                square = tile[i, t] * tile[i, t]
                tile[i, t] = square * base[t] if degree & bit else square
            bit >>= 1
