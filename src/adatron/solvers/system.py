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
        self.view, self.dual, self.ids, self.factor = view, dual, ids, factor

    def serves(self, ids: Ids) -> bool:
        """Whether ``ids`` are variables here, and nearly all of them."""
        few = len(ids) < (1.0 - HELD) * len(self.ids)
        return not few and bool(np.isin(ids, self.ids, assume_unique=True).all())

    def times(self, delta: Vector) -> Vector:
        """(K + lambda^2 11') delta."""
        changed = np.flatnonzero(delta)
        out = np.full(len(delta), self.dual.lambda2 * float(delta.sum()))
        self.view.accumulate(out[:, None], self.view.points(changed), delta[changed, None])
        return out

    def solve(self, r: Vector, held: Ids, total: float) -> Vector:
        """The x, zero where held, that minimises x'(K + lambda^2 11')x/2 - r'x; with an equality, of sum ``total``."""
        factor = self.factor
        if self.dual.total is None:
            start = along = np.zeros(len(r))
            scale = 1.0
        else:
            border = np.ones(len(r))
            border[held] = 0.0
            along = factor.solve(border, held)
            scale = float(along.sum())
            start = along * (total / scale)

        def invert(v: Vector) -> Vector:
            z = factor.solve(v, held)
            return z - along * (float(z.sum()) / scale)

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
