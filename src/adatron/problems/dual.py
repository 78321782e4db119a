"""The one quadratic program.

    minimise over beta   D(beta) = 1/2 beta' (K + lambda^2 11') beta - t' beta
    subject to           l <= beta <= u,   and sum(beta) = s where the bias is explicit

beta is signed (y_i alpha_i in classification), so K is the plain kernel matrix: no label ever enters a kernel row.
g = (K + lambda^2 11') beta - t is the gradient. The decision function is f(x) = sum_i beta_i k(x_i, x) + b.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


def dot(a: Vector, b: Vector) -> float:
    """a'b. Not by BLAS, whose last bits depend on its number of threads."""
    return float(np.sum(a * b))


@dataclass(frozen=True)
class Dual:
    """One quadratic program over n variables.

    t, lower, upper : (n,) target and bounds
    lambda2 : square of the augmenting factor
    total : s of the equality sum(beta) = s, or None without an equality
    """

    t: Vector
    lower: Vector
    upper: Vector
    lambda2: float = 0.0
    total: float | None = None

    def __len__(self) -> int:
        return len(self.t)

    def take(self, rows: Any) -> Dual:
        """The part of the program that belongs to some variables."""
        return Dual(self.t[rows], self.lower[rows], self.upper[rows], self.lambda2, self.total)

    @property
    def unbounded(self) -> bool:
        """Whether some variable has an infinite bound (a hard margin)."""
        return bool(np.isinf(self.upper).any() or np.isinf(self.lower).any())

    def objective(self, beta: Vector, g: Vector) -> float:
        """D(beta) from its gradient: beta'g = beta'(K + lambda^2)beta - t'beta."""
        return 0.5 * dot(beta, g - self.t)

    def squared_norm(self, beta: Vector, g: Vector) -> float:
        """|w|^2 = beta'(K + lambda^2 11')beta."""
        return dot(beta, g + self.t)

    def can_grow(self, beta: Vector) -> NDArray[np.bool_]:
        return beta < self.upper

    def can_shrink(self, beta: Vector) -> NDArray[np.bool_]:
        return beta > self.lower
