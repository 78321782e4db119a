"""The one quadratic program.

    minimise over beta   D(beta) = 1/2 beta' (K + lambda^2 11') beta - t' beta + epsilon |beta|_1
    subject to           l <= beta <= u,   and sum(beta) = s where the bias is explicit

beta is signed (y_i alpha_i in classification, alpha*_i - alpha_i in regression), so K is the plain kernel matrix: no
label ever enters a kernel row. g = (K + lambda^2 11') beta - t is the gradient of the smooth part; |beta_i| has a kink
at 0, so the solvers treat 0 as one more bound, with a slope on either side. Where epsilon > 0, l <= 0 <= u. The
decision function is f(x) = sum_i beta_i k(x_i, x) + b.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
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
    epsilon : weight of |beta|_1
    """

    t: Vector
    lower: Vector
    upper: Vector
    lambda2: float = 0.0
    total: float | None = None
    epsilon: float = 0.0

    def __len__(self) -> int:
        return len(self.t)

    def take(self, rows: Any) -> Dual:
        """The part of the program that belongs to some variables."""
        return replace(self, t=self.t[rows], lower=self.lower[rows], upper=self.upper[rows])

    @property
    def unbounded(self) -> bool:
        """Whether some variable has an infinite bound."""
        return bool(np.isinf(self.upper).any() or np.isinf(self.lower).any())

    @property
    def hard_margin(self) -> bool:
        """Whether the program is a classifier's, which any multiple of a separating plane makes feasible."""
        return self.unbounded and bool(((self.lower == 0) | (self.upper == 0)).all())

    def objective(self, beta: Vector, g: Vector) -> float:
        """D(beta) from its gradient: beta'g = beta'(K + lambda^2)beta - t'beta."""
        return 0.5 * dot(beta, g - self.t) + self.epsilon * float(np.abs(beta).sum())

    def squared_norm(self, beta: Vector, g: Vector) -> float:
        """|w|^2 = beta'(K + lambda^2 11')beta."""
        return dot(beta, g + self.t)

    def growth(self, beta: Vector, g: Vector) -> Vector:
        """What D falls by when a variable grows a little, per unit; -inf where it cannot."""
        slope = -g if not self.epsilon else -g - np.where(beta >= 0, self.epsilon, -self.epsilon)
        return np.where(beta < self.upper, slope, -np.inf)

    def shrinkage(self, beta: Vector, g: Vector) -> Vector:
        """What D falls by when a variable shrinks a little, per unit; -inf where it cannot."""
        slope = g if not self.epsilon else g + np.where(beta > 0, self.epsilon, -self.epsilon)
        return np.where(beta > self.lower, slope, -np.inf)

    def free(self, beta: Vector) -> NDArray[np.bool_]:
        """The variables on no bound, 0 being one where it is a kink."""
        inside = (beta > self.lower) & (beta < self.upper)
        return inside & (beta != 0) if self.epsilon else inside

    def piece(self, beta: Vector, h: Vector) -> Dual:
        """The program without its kinks: each variable keeps its sign (at 0: against h), so epsilon is linear."""
        if not self.epsilon:
            return self
        plus = np.where(beta != 0, beta, -h) > 0
        lower, upper = np.where(plus, 0.0, self.lower), np.where(plus, self.upper, 0.0)
        t = self.t - np.where(plus, self.epsilon, -self.epsilon)
        return Dual(t, lower, upper, self.lambda2, self.total)
