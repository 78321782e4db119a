"""The margin system: the equations of the variables that are free, one of which comes or goes at a time.

    [H_FF A_F'; A_F 0] [d; mu] = [r; s],     H = K + lambda^2 11'

With a multiple c of A_F'A_F added to H_FF its solutions d stay what they are, and what was singular only without the
equalities becomes positive definite: so one Cholesky factor serves every bias. A variable whose pivot is rounding
depends on the others: it stays outside, and ``along`` says which way all move together at no curvature.

Source: P. E. Gill, G. H. Golub, W. Murray, M. A. Saunders, Math. Comp. 28 (1974) 505-535 (rows that come and go).
"""

from __future__ import annotations

import numpy as np

from ..compiled.triangle import backward, drop, forward
from ..problems.dual import Vector, dot


class Margin:
    """Factor of the margin system of ``n`` variables, in the order in which they came.

    Parameters
    ----------
    equalities : rows of A
    shift : c, of the size of the diagonal of H
    floor : pivots below this part of the variable's own entry are rounding
    """

    def __init__(self, equalities: int, shift: float, floor: float) -> None:
        self.shift, self.floor = shift, floor
        self.n = 0
        self._L = np.zeros((16, 16))
        self._A = np.zeros((16, equalities))

    def append(self, column: Vector, own: float, border: Vector) -> bool:
        """Take in a variable, given H between it and the others, H_ss and its column of A; False if it depends."""
        n, z = self.n, self._shifted(column, border)
        forward(self._L, z)
        own += self.shift * dot(border, border)
        pivot = own - dot(z, z)
        if not pivot > self.floor * own:
            return False
        if n == len(self._L):
            self._L, self._A = np.pad(self._L, (0, n)), np.pad(self._A, ((0, n), (0, 0)))
        self._L[n, :n], self._L[n, n], self._A[n] = z, np.sqrt(pivot), border
        self.n += 1
        return True

    def remove(self, place: int) -> None:
        """Let one variable go."""
        drop(self._L, self.n, place)
        self._A[place : self.n - 1] = self._A[place + 1 : self.n]
        self.n -= 1

    def along(self, column: Vector, border: Vector) -> Vector:
        """How the others move if one variable outside grows by 1 and the others' gradients stay even."""
        return -self._inverse(self._shifted(column, border))

    def solve(self, r: Vector, sums: Vector) -> tuple[Vector, Vector]:
        """d and mu; where an equality has no variable, its sum is left and mu is 0."""
        A = self._A[: self.n]
        d, mu = self._inverse(r.copy()), np.zeros(len(sums))
        held = A.any(axis=0)
        if held.any():
            A = A[:, held]
            Z = np.stack([self._inverse(column.copy()) for column in A.T], axis=1)
            crossed = np.array([[dot(a, z) for z in Z.T] for a in A.T])
            nu = np.linalg.solve(crossed, np.array([dot(a, d) for a in A.T]) - sums[held])
            d = d - np.sum(Z * nu, axis=1)
            mu[held] = nu + self.shift * sums[held]
        return d, mu

    def _shifted(self, column: Vector, border: Vector) -> Vector:
        return column + self.shift * np.sum(self._A[: self.n] * border, axis=1)

    def _inverse(self, r: Vector) -> Vector:
        forward(self._L, r)
        backward(self._L, r)
        return r
