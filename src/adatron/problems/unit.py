"""The unit of a program: it gives a tolerance the same meaning in every scale of the program's numbers.

With beta = c beta', a program is c^2 times that of beta' with t, l, u, s and epsilon divided by c, and its gradient is
c times the other one. A tolerance of 1e-3 fits targets, or differences of kernel sums, of about 1. Smaller targets or
differences would all be within the tolerance, so that any point would pass for the solution. So c is never above 1, and
a tolerance is never larger than the user's.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .dual import Dual

FINE = 2.0**-4  # Fraction of the gradient's possible variation that is a unit.
LEAST, RANGE = 2.0**-400, 2.0**-900  # Smallest unit, and fraction of the bounds: nothing leaves the range of floats.
NONE = 2.0**-40  # Fraction of the first unit below which a margin counts as 0.


def power_of_two(value: float) -> float:
    """Return the largest power of two up to a positive number."""
    return float(2.0 ** np.floor(np.log2(value)))


def unit_of(dual: Dual, spread: float) -> float:
    """Return c, a power of two, at most 1.

    It is half of the range of the targets. Programs without targets have nu: a fraction of the gradient's variation.

    Parameters
    ----------
    spread : mean squared distance of the samples from their mean in the space of the kernel, or a guess of it
    """
    if not len(dual):
        return 1.0
    low, high = float(dual.t.min()), float(dual.t.max())
    size = 0.5 * high - 0.5 * low
    if by_sums(dual):
        size = FINE * float(np.abs(dual.totals).sum()) * spread
    least = max(LEAST, RANGE * max(-dual.reach[0], dual.reach[1]) if not dual.unbounded else 0.0)
    return power_of_two(max(size, least)) if 0.0 < size < 1.0 and least < 1.0 else 1.0


def by_sums(dual: Dual) -> bool:
    """Return whether sums of coefficients fix the size of a program's coefficients, as in classifiers with nu."""
    return any(dual.totals) and not dual.t.any()


def by_margin(dual: Dual, width: float, unit: float, first: float) -> float:
    """Return the unit for a nu classifier whose solution has half of the margin -width; ``unit`` if that is enough.

    The solution is divided by the unit, and so is its violation.
    """
    classifier = len(dual.totals) == 2 or dual.sign is not None
    return power_of_two(-width) if classifier and first * NONE < -width < unit else unit


def scaled(dual: Dual, c: float) -> Dual:
    """Return the program of beta / c."""
    if c == 1.0:
        return dual
    totals = tuple(total / c for total in dual.totals)
    parts = {"t": dual.t / c, "lower": dual.lower / c, "upper": dual.upper / c}
    return replace(dual, **parts, totals=totals, epsilon=dual.epsilon / c)
