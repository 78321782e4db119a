"""Systems of the free variables: their matrix bordered by the equalities."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from ...arrays import Ids, Matrix, Vector
from ...compiled.cache.jit import jit
from ...compiled.cholesky import backward, drop, forward
from ...gram import View
from ...problems import Dual
from ...problems.dual import dot
from .factor import Factor

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


CHANGED = 1 / 8  # Fraction of a factor's variables that are held or have joined above which a new factor is cheaper.
CG_ITERATIONS = 30  # Iterations of conjugate gradients in one solution.


class System:
    """The linear equations over some variables of a program, which may grow.

    ids : the variables, in the order of the equations
    """

    def __init__(self, view: View, dual: Dual, parts: int, ids: Ids, stopped: Callable[[], bool]) -> None:
        self.all, self.program = view, dual
        self.place = np.full(len(dual), -1)
        self.ids: Ids = np.empty(0, np.int64)
        self._take(ids)
        self.factor = Factor(self.view, dual.lambda2, parts, stopped)

    def _take(self, new: Ids) -> None:
        self.place[new] = len(self.ids) + np.arange(len(new))
        self.ids = np.concatenate([self.ids, new])
        self.view, self.dual = self.all.narrowed(self.ids), self.program.take(self.ids)
        self.border = np.zeros((len(self.dual.totals), len(self.ids)))
        for row, tie in zip(self.border, self.dual.ties(), strict=False):
            row[tie] = 1.0 if self.dual.sign is None else self.dual.sign[tie]

    def serves(self, ids: Ids) -> bool:
        """Return whether the same factor still pays for some of its variables and some new ones."""
        new = int(np.count_nonzero(self.place[ids] < 0))
        held = len(self.ids) - (len(ids) - new)
        few = max(held, self.factor.changes) + new <= CHANGED * len(self.ids)
        return few and (not new or len(self.factor.parts) == 1)

    def admit(self, ids: Ids) -> Ids:
        """Return the positions of these variables; append those that are new."""
        new = ids[self.place[ids] < 0]
        if len(new):
            self._take(new)
            self.factor.join(self.view, self.dual.lambda2)
        return self.place[ids]

    def times(self, *deltas: Vector) -> list[Vector]:
        """Return (K + lambda^2 11') delta for each of them."""
        changes = np.column_stack(deltas)
        changed = np.flatnonzero(changes.any(axis=1))
        out = np.tile([self.dual.lambda2 * float(delta.sum()) for delta in deltas], (len(changes), 1))
        self.view.accumulate(out, self.view.points(changed), changes[changed])
        return list(out.T)

    def slope(self, r: Vector, held: Ids) -> Vector:
        """Project a gradient: 0 at the variables held, and nothing along an equality."""
        r = r.copy()
        r[held] = 0.0
        border = self._border(held)
        for row in border[border.any(axis=1)]:
            r -= row * (dot(row, r) / dot(row, row))
        return r

    def _border(self, held: Ids) -> Matrix:
        """Return A without the variables held."""
        border = self.border.copy()
        border[:, held] = 0.0
        return border

    def solve(self, r: Vector, held: Ids, totals: Vector, accuracy: float) -> tuple[Vector, Vector]:
        """Return the x, zero where held, that minimises x'(K + lambda^2 11')x/2 - r'x over A x = ``totals``.

        The second result is the product (K + lambda^2 11') x. ``accuracy`` is the size of the gradient that conjugate
        gradients aim at, relative to the size of r. Both results are nan if no variable of an equality is left, or if
        rounding leaves no way to keep two equalities apart.
        """
        border, nothing = self._border(held), np.full(len(r), np.nan)
        empty = ~border.any(axis=1)
        if totals[empty].any():
            return nothing, nothing
        border = border[~empty]
        *along, z = self.factor.solve(np.column_stack([*border, self.slope(r, held)]), held).T
        scale = np.array([[dot(row, one) for one in along] for row in border]).reshape(len(border), len(border))

        def correct(sums: Vector) -> Vector:
            """Return the point with these sums that costs least."""
            weights = np.linalg.solve(scale, sums)
            return sum((w * one for w, one in zip(weights, along, strict=True)), np.zeros(len(r)))

        def even(z: Vector) -> Vector:
            return z - correct(np.array([dot(row, z) for row in border]))

        try:
            start = correct(totals[~empty])
            if not self.factor.exact:
                return self._conjugate_gradients(r, held, start, even, even(z), accuracy)
            x = start + even(z)
        except np.linalg.LinAlgError:
            return nothing, nothing
        return x, self.times(x)[0]

    def _conjugate_gradients(
        self, r: Vector, held: Ids, x: Vector, even: Callable[[Vector], Vector], z: Vector, accuracy: float
    ) -> tuple[Vector, Vector]:
        """Descend from ``x``, first along ``z``, in the space that ``even`` maps to; cut short, x still improves."""
        product, ahead = self.times(x, z)
        residual, direction = self.slope(r - product, held), z
        enough = accuracy * norm(residual)
        for _ in range(CG_ITERATIONS):
            energy, curvature = dot(residual, z), dot(direction, ahead)
            if not curvature > 0.0 or not energy > 0.0:
                break
            length = energy / curvature
            x, product = x + length * direction, product + length * ahead
            residual = self.slope(r - product, held)
            if norm(residual) <= enough:
                break
            z = even(self.factor.solve(residual[:, None], held)[:, 0])
            direction = z + (dot(residual, z) / energy) * direction
            (ahead,) = self.times(direction)
        return x, product


def norm(r: Vector) -> float:
    """Return |r|."""
    return float(np.sqrt(dot(r, r)))
