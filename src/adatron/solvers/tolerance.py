"""The tolerance for a program whose duality gap is still too large, and for a block or a part of a program.

Plain functions, which compiled code compiles for itself.
"""

from __future__ import annotations

from math import inf, sqrt

from ..compiled.precision import SINGLE, UNIT

AIM = 0.5  # Fraction of the wanted gap to aim at.
TYPICAL = 1 / 16  # A gradient's error is at most this fraction of its proven error, as a rule.
LEAST_SHARE, LARGEST_SHARE = 1e-4, 0.3  # Smallest and largest fraction of the last tolerance.
LOOSEST = 0.1  # Largest fraction of the violation to which a block, or part, is solved; less while the violation falls:
OF_BLOCKS, OF_PARTS = (0.3, 2), (1.0, 4)  # a factor times a power of its ratio. A part leaves whole rows to be made.
CLOSEST = 0.75  # Fraction of the tolerance below which no block, or part, is solved.


def closer(tol: float, gap: float, wanted: float) -> float:
    """Return the tolerance that should bring a relative gap to half of the wanted one: it falls at least in proportion.

    A relative gap is a part of the smaller bound of the optimum. The larger bound, which hardly moves, is the measure.
    """
    share = AIM * wanted * (1.0 + gap) / gap if gap < inf else LARGEST_SHARE
    return tol * max(LEAST_SHARE, min(LARGEST_SHARE, share))


def in_reach(gap: float) -> float:
    """Return the fraction of a gradient's proven error that its tolerance may be, after a proof of this relative gap.

    Below the proven error only luck brings the gap down; if the optimum may be 0, nothing does.
    """
    return TYPICAL if gap < 1.0 else 1.0


def how_closely(violation: float, before: float, tol: float, factor: float, power: int) -> float:
    """Return how closely to solve the next block, or part: the faster the violation falls, the more closely.

    before : the violation before the last one, 0 if there was none
    """
    ratio = violation / before if before else 1.0
    return max(min(LOOSEST, factor * min(ratio, 1.0) ** power) * violation, CLOSEST * tol)


def blur(square: float, largest: float, itemsize: int) -> float:
    """Return the gradient's error from the rounding of kernel values, as a rule: errors add up as squares.

    Parameters
    ----------
    square : |beta|^2
    largest : largest kernel value
    itemsize : bytes of each
    """
    return (SINGLE if itemsize == 4 else UNIT) * largest * sqrt(square)
