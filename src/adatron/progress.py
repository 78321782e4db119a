"""How far a fit is."""

from __future__ import annotations

import math


def part_done(first: float, now: float, target: float) -> float:
    """Return the fraction of the way from the first gap to the target, 0 to 1, in decades.

    Examples
    --------
    >>> part_done(1.0, 0.1, 0.01)
    0.5
    """
    if not (0 < target < first < math.inf and 0 < now < math.inf):
        return 0.0
    return min(1.0, max(0.0, math.log(first / now) / math.log(first / target)))
