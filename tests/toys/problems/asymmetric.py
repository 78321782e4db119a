"""A toy problem, as CONTRIBUTING says: one file. An error above the function costs another price than one below."""

from __future__ import annotations

from dataclasses import dataclass

from .dual import Dual, Vector
from .problem import Diagonal, WithTargets, bounds


@dataclass(frozen=True)
class Asymmetric(WithTargets):
    """Errors above the function cost so many times as much: t = y, -C <= beta <= above C."""

    C: float
    above: float

    def dual(self, y: Vector, weight: Vector, diagonal: Diagonal) -> Dual:
        bound = bounds(self.C, weight)
        return Dual(y, -bound, self.above * bound, 0.0, (0.0,))

    def ends(self, y: Vector, weight: Vector) -> tuple[float, float]:
        return self.C, self.above * self.C
