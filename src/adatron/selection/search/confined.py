"""How far values of the optimal function may be from those of a solution, see ``certificates.confined``."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...certificates.confined import CARE

Vector = NDArray[np.float64]


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

    def ends(self, roots: Vector) -> tuple[Vector, Vector]:
        """Return how far values may fall and rise at samples with these roots of k(x, x)."""
        either = CARE * self.width * roots + self.error
        return either + self.below, either + self.above
