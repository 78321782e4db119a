"""How closely to solve a program whose duality gap is still too large.

Plain functions, which compiled code compiles for itself.
"""

from __future__ import annotations

from math import inf, sqrt

from ..compiled.precision import UNIT

AIM = 0.5  # of the gap that is wanted
SINGLE = 2.0**-24  # rounding of a float32
LEAST, MOST = 1e-4, 0.3  # of the last tolerance


def closer(tol: float, gap: float, wanted: float) -> float:
    """The tolerance that should bring a gap down to half of what is wanted: it falls at least in proportion."""
    return tol * (max(LEAST, min(MOST, AIM * wanted / gap)) if gap < inf else MOST)


def blur(square: float, largest: float, itemsize: int) -> float:
    """How far the rounding of kernel values puts a gradient off, as a rule: errors of either sign add up as squares.

    Parameters
    ----------
    square : |beta|^2
    largest : of the kernel values
    itemsize : bytes of each
    """
    return (SINGLE if itemsize == 4 else UNIT) * largest * sqrt(square)
