"""The linear equations of a Newton step: a Cholesky factor, and conjugate gradients where it is not exact."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...arrays import Ids, Matrix
from ...gram import View
from ...problems import Dual
from ...problems.dual import Vector, dot
from .factor import Factor

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

    def sums(self, delta: Vector) -> Vector:
        """Return A delta."""
        return self.dual.sums(delta)

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
