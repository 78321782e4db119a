"""The linear equations of a Newton step, solved by a Cholesky factor or, beyond memory, by conjugate gradients."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..gram.factor import Factor
from ..gram.gram import View
from ..problems import Dual
from ..problems.dual import Vector, dot

Ids = NDArray[np.int64]
HELD = 1 / 16  # part of a factor's variables that may be held before a new factor is cheaper
ITERATIONS = 30  # of conjugate gradients in one solution
ACCURACY = 1e-6  # of conjugate gradients, relative to the first residual


class System:
    """The linear equations over some variables of a program."""

    def __init__(self, view: View, dual: Dual, ids: Ids, factor: Factor) -> None:
        self.view, self.ids, self.factor = view, ids, factor
        self.dual = dual.take(ids)
        self.border = np.zeros((len(dual.totals), len(ids)))
        for row, tie in zip(self.border, self.dual.ties(), strict=False):
            row[tie] = 1.0 if self.dual.sign is None else self.dual.sign[tie]

    def serves(self, ids: Ids) -> bool:
        """Whether ``ids`` are variables here, and nearly all of them."""
        few = len(ids) < (1.0 - HELD) * len(self.ids)
        return not few and bool(np.isin(ids, self.ids, assume_unique=True).all())

    def sums(self, delta: Vector) -> Vector:
        """A delta."""
        return self.dual.sums(delta)

    def times(self, delta: Vector) -> Vector:
        """(K + lambda^2 11') delta."""
        changed = np.flatnonzero(delta)
        out = np.full(len(delta), self.dual.lambda2 * float(delta.sum()))
        self.view.accumulate(out[:, None], self.view.points(changed), delta[changed, None])
        return out

    def solve(self, r: Vector, held: Ids, totals: Vector) -> Vector:
        """The x, zero where held, that minimises x'(K + lambda^2 11')x/2 - r'x over A x = ``totals``.

        nan if no variable of an equality is left, or if rounding leaves no way to keep two equalities apart.
        """
        factor, border = self.factor, self.border.copy()
        border[:, held] = 0.0
        empty = ~border.any(axis=1)
        if totals[empty].any():
            return np.full(len(r), np.nan)
        border, totals = border[~empty], totals[~empty]
        along = np.array([factor.solve(row, held) for row in border]).reshape(border.shape)
        scale = np.array([[dot(row, z) for z in along] for row in border]).reshape(len(border), len(border))

        def correct(sums: Vector) -> Vector:
            """The point with these sums that costs least."""
            return np.sum(along * np.linalg.solve(scale, sums)[:, None], axis=0)

        def invert(v: Vector) -> Vector:
            z = factor.solve(v, held)
            return z - correct(np.array([dot(row, z) for row in border]))

        try:
            start = correct(totals)
        except np.linalg.LinAlgError:
            return np.full(len(r), np.nan)
        return start + invert(r) if factor.exact else self._conjugate_gradients(invert, r, start)

    def _conjugate_gradients(self, invert: Callable[[Vector], Vector], r: Vector, x: Vector) -> Vector:
        """From ``x``, in the space that ``invert`` maps to; cut short, it still goes down."""
        residual = r - self.times(x)
        direction, last, first = np.zeros(len(r)), np.inf, 0.0
        for _ in range(ITERATIONS):
            z = invert(residual)
            energy = dot(residual, z)
            first = first or energy
            if not energy > ACCURACY**2 * first:
                break
            direction = z + (energy / last) * direction
            ahead = self.times(direction)
            curvature = dot(direction, ahead)
            if not curvature > 0.0:
                break
            length = energy / curvature
            x = x + length * direction
            residual = residual - length * ahead
            last = energy
        return x
