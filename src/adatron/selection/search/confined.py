"""How far values of the optimal function may be from those of a solution, given its proven gap.

A solution w that is within a gap of the optimum w* has |w - w*|^2 <= 2 gap, so w.phi(x) is off by at most
sqrt(2 gap k(x, x)). The best bias minimises a convex, piecewise linear function whose kinks are off by as much at the
samples. All kinks moved down, or up, give its lowest and its highest value.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...problems import Dual

Vector = NDArray[np.float64]
SLACK = 1e-9  # Fraction of all steps that is counted as rounding of their sums.
CARE = 1.0 + 1e-6  # Factor for the rounding of the bounds themselves.


class Off(NamedTuple):
    """How far values may be off.

    width : times sqrt(k(x, x)), the part of the normal
    error : of the values themselves
    below, above : how far the bias may fall and rise
    """

    width: float
    error: float
    below: float
    above: float

    def times(self, unit: float) -> Off:
        """Return the same for values that are multiplied by a number."""
        return Off(*(unit * value for value in self))

    def ends(self, diagonal: Vector) -> tuple[Vector, Vector]:
        """Return how far values may fall and rise at samples with these k(x, x)."""
        either = CARE * self.width * np.sqrt(np.maximum(diagonal, 0.0)) + self.error
        return either + self.below, either + self.above


def off(dual: Dual, g: Vector, gap: float, error: float, bias: float, diagonal: Vector) -> Off:
    """Return how far the optimal function may be from a solution, in the numbers of the program.

    Parameters
    ----------
    g : (n,) gradient, without an explicit bias
    gap, error : proven bounds of the distance from the optimum and of the errors of ``g``
    bias : of the solution, if it is explicit
    diagonal : (n,) k(x, x), and lambda^2
    """
    width = float(np.sqrt(2.0 * max(gap, 0.0)))
    if not dual.totals or dual.sign is not None:  # the bias, if any, is part of the normal
        return Off(width, error, 0.0, 0.0)
    far = CARE * width * np.sqrt(np.maximum(diagonal, 0.0)) + error
    low, high = (
        float(np.mean([_multiplier(dual, g, far, r, side) for r in range(len(dual.totals))])) for side in (-1.0, 1.0)
    )
    return Off(width, error, max(bias - low, 0.0), max(high - bias, 0.0))


def _multiplier(dual: Dual, g: Vector, far: Vector, r: int, side: float) -> float:
    """Return the lowest (side -1) or the highest (1) multiplier of an equality that may be optimal."""
    own = np.ones(len(g), bool) if dual.row is None else dual.row == r
    low, high, at = dual.lower[own], dual.upper[own], side * far[own] - g[own]
    kinks, steps = np.concatenate([at - dual.epsilon, at + dual.epsilon]), np.concatenate([high, -low])
    order = np.argsort(kinks, kind="stable")
    kinks, passed = kinks[order], np.cumsum(steps[order])
    total, rounding = float(high.sum()) - dual.totals[r], SLACK * float(np.abs(steps).sum())
    if side > 0.0:
        where = passed > total + rounding
        return float(kinks[np.argmax(where)]) if where.any() else np.inf
    where = passed >= total - rounding
    return float(kinks[np.argmax(where)]) if total > rounding and where.any() else -np.inf
