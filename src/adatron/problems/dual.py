"""The quadratic program of all problems.

    minimise over beta   D(beta) = 1/2 beta' (K + lambda^2 11' + R) beta - t' beta + epsilon |beta|_1
    subject to           l <= beta <= u,   A beta = s

A has no, one or two rows of 0, 1 and -1, and each variable is in one row at most. With an explicit bias the row says
sum(beta) = 0; problems with nu have more. Several variables may share a row of K. R is diagonal, and 0 unless errors
cost their square: with R_i = 1 / (2 C_i) the variable is 2 C_i times an error, and nothing else bounds it.

beta is signed (y_i alpha_i in classification, alpha*_i - alpha_i in regression), so K is the plain kernel matrix: no
label ever enters a kernel row. g = (K + lambda^2 11') beta - t is the gradient of the smooth part. |beta_i| has a kink
at 0, so the solvers treat 0 as one more bound, with a slope on either side. If epsilon > 0, l <= 0 <= u. The decision
function is f(x) = sum_i beta_i k(x_i, x) + b.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Ids, Vector
from ..compiled.cache.uninterrupted import cached_property

OUTSIDE = 1e-9  # Fraction of the coefficients by which rounding may leave a bound.
OFF = 1e-6  # Fraction of the sum of their sizes by which many updates may leave an equality.
NO_ROW, NO_SIGN, NO_ERRORS = np.zeros(0, np.int64), np.zeros(0), np.zeros(0)


def dot(a: Vector, b: Vector) -> float:
    """Return a'b. BLAS is not used: its last bits depend on its number of threads."""
    return float(np.sum(a * b))


@dataclass(frozen=True)
class Dual:
    """The numbers of one quadratic program over n variables; it knows no kernel matrix.

    t, lower, upper : (n,) target and bounds
    lambda2 : square of the augmenting factor
    totals : s, a number for each equality
    epsilon : weight of |beta|_1
    row : (n,) the equality that each variable is in; None if all are in the first
    sign : (n,) the entry of A for each variable, 1 or -1; None for 1
    ridge : (n,) the diagonal of R; None for 0
    """

    t: Vector
    lower: Vector
    upper: Vector
    lambda2: float = 0.0
    totals: tuple[float, ...] = ()
    epsilon: float = 0.0
    row: Ids | None = None
    sign: Vector | None = None
    ridge: Vector | None = None

    def __len__(self) -> int:
        return len(self.t)

    @property
    def membership(self) -> tuple[Ids, Vector]:
        """``row`` and ``sign`` for compiled loops; empty arrays stand for None."""
        return NO_ROW if self.row is None else self.row, NO_SIGN if self.sign is None else self.sign

    def take(self, rows: Any) -> Dual:
        """Return the part of the program that belongs to some variables."""
        row, sign, ridge = (None if v is None else v[rows] for v in (self.row, self.sign, self.ridge))
        lower, upper = self.lower[rows], self.upper[rows]
        return replace(self, t=self.t[rows], lower=lower, upper=upper, row=row, sign=sign, ridge=ridge)

    def contains(self, beta: Vector) -> bool:
        """Return whether a point is within the bounds and on the equalities, up to rounding."""
        sizes = np.abs(beta)
        most = OUTSIDE * float(sizes.max(initial=0.0))
        if ((beta < self.lower - most) | (beta > self.upper + most)).any():
            return False
        row, signed = self.row, beta if self.sign is None else self.sign * beta
        for number, total in enumerate(self.totals):
            own = slice(None) if row is None else row == number
            if abs(float(signed[own].sum()) - total) > OFF * (float(sizes[own].sum()) + abs(total)):
                return False
        return True

    @property
    def balanced(self) -> bool:
        """Whether the coefficients sum to 0."""
        return len(self.totals) > 0 and self.sign is None and sum(self.totals) == 0.0 and not self.lambda2

    @property
    def one_sum(self) -> bool:
        """Whether there is one equality, sum(beta) = s."""
        return len(self.totals) == 1 and self.sign is None

    def scaled(self, factor: float) -> Dual:
        """Return the program whose objective is a factor times that of this one, without its kernel."""
        return replace(self, t=factor * self.t, lambda2=factor * self.lambda2, epsilon=factor * self.epsilon)

    def ties(self) -> list[Any]:
        """Return the variables of each equality, as an index; all of them without an equality."""
        if self.row is None:
            return [slice(None)]
        return [np.flatnonzero(self.row == r) for r in range(len(self.totals))]

    def sums(self, beta: Vector) -> Vector:
        """Return A beta."""
        part = beta if self.sign is None else self.sign * beta
        return np.array([part[tie].sum() for tie, _ in zip(self.ties(), self.totals, strict=False)])

    def push(self, mu: Vector) -> Vector | float:
        """Return A' mu, the part of the gradient that comes from the multipliers."""
        if not self.totals:
            return 0.0
        along = mu[0] if self.row is None else mu[self.row]
        return along if self.sign is None else along * self.sign

    def unsigned(self) -> Dual:
        """Return the program, without its kernel, in the variables sign_i beta_i: the entries of A are 0 and 1."""
        if self.sign is None:
            return self
        plus = self.sign > 0
        lower, upper = np.where(plus, self.lower, -self.upper), np.where(plus, self.upper, -self.lower)
        return replace(self, t=self.sign * self.t, lower=lower, upper=upper, sign=None)

    @cached_property
    def reach(self) -> tuple[float, float]:
        """The lowest and the highest value that any variable may have, and 0 if it is beyond both."""
        return float(self.lower.min(initial=0.0)), float(self.upper.max(initial=0.0))

    @property
    def unbounded(self) -> bool:
        """Whether some variable has an infinite bound."""
        return np.inf in self.reach or -np.inf in self.reach

    @cached_property
    def cone(self) -> bool:
        """Whether any multiple of a feasible point is feasible."""
        ends = np.concatenate([self.lower, self.upper])
        return not any(self.totals) and bool(((ends == 0) | np.isinf(ends)).all())

    @cached_property
    def hard_margin(self) -> bool:
        """Whether the program is a classifier's, which any multiple of a separating plane makes feasible."""
        return self.ridge is None and self.unbounded and bool(((self.lower == 0) | (self.upper == 0)).all())

    def variation(self, g: Vector) -> float:
        """Return how far gradients differ that an equality compares, which no multiplier changes; else the largest."""
        if not self.totals:
            return float(np.abs(g).max(initial=0.0))
        own = g if self.sign is None else self.sign * g
        return max((float(np.ptp(own[tie])) for tie in self.ties() if len(own[tie])), default=0.0)

    def objective(self, beta: Vector, g: Vector) -> float:
        """Return D(beta) from its gradient: beta'g = beta'(K + lambda^2)beta - t'beta."""
        return 0.5 * dot(beta, g - self.t) + self.epsilon * float(np.abs(beta).sum())

    def squared_norm(self, beta: Vector, g: Vector) -> float:
        """Return |w|^2 = beta'(K + lambda^2 11')beta."""
        return dot(beta, g + self.t)

    def growth(self, beta: Vector, g: Vector) -> Vector:
        """Return the fall of D, per unit, as a variable's part of its equality grows a little; -inf if it cannot."""
        if self.sign is None:
            return self._rise(beta, g)
        return np.where(self.sign > 0, self._rise(beta, g), self._fall(beta, g))

    def shrinkage(self, beta: Vector, g: Vector) -> Vector:
        """Return the fall of D, per unit, as a variable's part of its equality shrinks a little; -inf if it cannot."""
        if self.sign is None:
            return self._fall(beta, g)
        return np.where(self.sign > 0, self._fall(beta, g), self._rise(beta, g))

    def inward(self, beta: Vector, h: Vector) -> Vector:
        """Return the fall of D, per unit, as a variable moves into its box, at the gradient h with multipliers."""
        return np.maximum(self.growth(beta, h), self.shrinkage(beta, h))

    def _rise(self, beta: Vector, g: Vector) -> Vector:
        slope = -g if not self.epsilon else -g - np.where(beta >= 0, self.epsilon, -self.epsilon)
        return np.where(beta < self.upper, slope, -np.inf)

    def _fall(self, beta: Vector, g: Vector) -> Vector:
        slope = g if not self.epsilon else g + np.where(beta > 0, self.epsilon, -self.epsilon)
        return np.where(beta > self.lower, slope, -np.inf)

    def free(self, beta: Vector) -> NDArray[np.bool_]:
        """Return the variables on no bound; 0 counts as a bound if it is a kink."""
        inside = (beta > self.lower) & (beta < self.upper)
        return inside & (beta != 0) if self.epsilon else inside

    def piece(self, beta: Vector, h: Vector) -> Dual:
        """Return the program without kinks: each variable keeps its sign (at 0: against h), so epsilon is linear."""
        if not self.epsilon:
            return self
        plus = np.where(beta != 0, beta, -h) > 0
        lower, upper = np.where(plus, 0.0, self.lower), np.where(plus, self.upper, 0.0)
        t = self.t - np.where(plus, self.epsilon, -self.epsilon)
        return replace(self, t=t, lower=lower, upper=upper, epsilon=0.0)
