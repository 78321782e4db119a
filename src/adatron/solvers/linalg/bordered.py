"""The margin system: the equations of the free variables, which come and go one at a time.

    [H_FF A_F'; A_F 0] [d; mu] = [r; s],     H = K + lambda^2 11'

If a multiple c of A_F'A_F is added to H_FF, the solutions d stay the same. A matrix that was singular only without the
equalities becomes positive definite, so one Cholesky factor serves every bias. A variable whose pivot is rounding
depends on the others: it stays outside, and ``along`` gives the direction of no curvature in which all move together.

Source: P. E. Gill, G. H. Golub, W. Murray, M. A. Saunders, Math. Comp. 28 (1974) 505-535 (rows that come and go).
"""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from ...arrays import Matrix, Vector
from ...compiled.cache.jit import jit
from ...compiled.cholesky import backward, drop, forward

SPARE_ROWS = 16  # Spare rows of a factor.
PIVOT_FLOOR = {4: 2e-6, 8: 1e-12}  # By bytes of a value: fraction of a variable's entry; a smaller pivot is rounding.


# Plain loops: array expressions take seconds to compile.
@jit
def append_row(L: Any, A: Any, column: Any, own: float, border: Any, shift: float, floor: float) -> bool:
    """Add one row to the factor, unless its pivot is rounding."""
    n = len(column)
    z = L[n, :n]
    for k in range(n):
        z[k] = column[k]
        for q in range(len(border)):
            z[k] += shift * A[k, q] * border[q]
    forward(L, z)
    for q in range(len(border)):
        own += shift * border[q] * border[q]
    pivot = own
    for k in range(n):
        pivot -= z[k] * z[k]
    if not pivot > floor * own:
        for k in range(n):
            z[k] = 0.0
        return False
    L[n, n] = np.sqrt(pivot)
    for q in range(len(border)):
        A[n, q] = border[q]
    return True


@jit
def bordered(L: Any, A: Any, shift: float, d: Any, sums: Any) -> Any:
    """Set d to the solution for the right sides d and sums; return mu."""
    m, p = len(d), len(sums)
    mu, nu, crossed, Z = np.zeros(p), np.zeros(p), np.zeros((p, p)), np.zeros((p, m))
    forward(L, d)
    backward(L, d)
    for q in range(p):
        held, z = False, Z[q]
        for k in range(m):
            z[k] = A[k, q]
            held = held or z[k] != 0.0
        if held:
            forward(L, z)
            backward(L, z)
            mu[q], nu[q] = shift * sums[q], -sums[q]
        else:  # an equality without variables keeps its line of the unit matrix
            crossed[q, q] = 1.0
    for k in range(m):
        for q in range(p):
            nu[q] += A[k, q] * d[k]
            for s in range(p):
                crossed[q, s] += A[k, q] * Z[s, k]
    if p == 2:
        nu[1] -= crossed[1, 0] / crossed[0, 0] * nu[0]
        nu[1] /= crossed[1, 1] - crossed[1, 0] / crossed[0, 0] * crossed[0, 1]
        nu[0] -= crossed[0, 1] * nu[1]
    if p:
        nu[0] /= crossed[0, 0]
    for q in range(p):
        mu[q] += nu[q]
        for k in range(m):
            d[k] -= nu[q] * Z[q, k]
    return mu


class Margin:
    """Factor of the margin system of ``n`` variables, in the order in which they came.

    Parameters
    ----------
    equalities : rows of A
    shift : c, of the size of the diagonal of H
    floor : fraction of a variable's own entry below which its pivot is rounding
    """

    def __init__(self, equalities: int, shift: float, floor: float) -> None:
        self.shift, self.floor = shift, floor
        self.n = 0
        self._L = np.zeros((SPARE_ROWS, SPARE_ROWS))
        self._A = np.zeros((SPARE_ROWS, equalities))
        self._held = [0] * equalities  # variables of each equality

    def append(self, column: Vector, own: float, border: Vector) -> bool:
        """Take in a variable, given H between it and the others, H_ss and its column of A; False if it depends."""
        n = self.n
        if n == len(self._L):
            self._L, self._A = np.pad(self._L, (0, n)), np.pad(self._A, ((0, n), (0, 0)))
        if not append_row(self._L, self._A, column, own, border, self.shift, self.floor):
            return False
        self._held = [count + (a != 0.0) for count, a in zip(self._held, border, strict=True)]
        self.n += 1
        return True

    def remove(self, place: int) -> None:
        """Let one variable go."""
        drop(self._L, self.n, place)
        self._held = [count - (a != 0.0) for count, a in zip(self._held, self._A[place], strict=True)]
        self._A[place : self.n - 1] = self._A[place + 1 : self.n]
        self.n -= 1
        self._L[self.n] = 0.0  # nothing of a sample that is to be forgotten stays

    def along(self, column: Vector, border: Vector) -> tuple[Vector, Vector]:
        """Return how the others and mu move if one variable outside grows by 1: the sums stay, and h of the others."""
        return self.solve(-column, -border)

    def solve(self, r: Vector, sums: Vector) -> tuple[Vector, Vector]:
        """Return d and mu; if an equality has no variable, its sum is ignored and its mu is 0."""
        d = r.copy()
        return d, bordered(*self.factor, d, sums)

    def inverse(self) -> tuple[Matrix, Matrix]:
        """Return d, (n, n), and mu, (n, p): row k is the solution for a right side of 1 for variable k, else 0."""
        L = self._L[: self.n, : self.n]
        half = solve_triangular(L, np.eye(self.n), lower=True, overwrite_b=True, check_finite=False)
        P = half.T @ half
        Z = P @ self._A[: self.n]
        crossed = self._A[: self.n].T @ Z + np.diag([0.0 if held else 1.0 for held in self._held])
        mu = np.linalg.solve(crossed, Z.T).T
        for column, z in zip(mu.T, Z.T, strict=True):
            P -= np.outer(column, z)
        return P, mu

    @property
    def held(self) -> bool:
        """Whether each equality has a variable."""
        return min(self._held, default=1) > 0

    @property
    def factor(self) -> tuple[Matrix, Matrix, float]:
        """The first arguments of ``bordered``."""
        return self._L, self._A, self.shift

    def copy(self, used: Margin | None = None) -> Margin:
        """Return another factor; one that is no longer needed gives its memory, since new memory costs more."""
        other, room = copy(self), min(self.n + SPARE_ROWS, len(self._L))
        other._L = used._L if used is not None and len(used._L) == room else np.empty((room, room))
        other._L[:] = self._L[:room, :room]
        other._A = self._A[:room].copy()
        return other
