"""The unit of a program, in which a tolerance means the same whatever its numbers are measured in.

With beta = c beta', a program is c^2 times that of beta' with t, l, u, s and epsilon divided by c, and its gradient is
c times the other one. A tolerance of 1e-3 fits targets, or differences of kernel sums, of about 1. Smaller ones would
all be within it: any point would pass for the solution. So c is never above 1, and a tolerance never larger than the
user's.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .dual import Dual

FINE = 2.0**-4  # part of what a gradient can vary by that is a unit
LEAST, RANGE = 2.0**-400, 2.0**-900  # the smallest unit, and part of the bounds: nothing leaves the range of floats
NONE = 2.0**-40  # part of the first unit below which a margin is none


def power_of_two(value: float) -> float:
    """The largest power of two up to a positive number."""
    return float(2.0 ** np.floor(np.log2(value)))


def unit_of(dual: Dual, spread: float) -> float:
    """c, a power of two, at most 1.

    Programs with targets: half of their range. Programs without, those of nu: a part of what the gradient can vary by.

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
    """Whether sums of coefficients say how large those of a program are, as in classifiers with nu."""
    return any(dual.totals) and not dual.t.any()


def by_margin(dual: Dual, width: float, unit: float, first: float) -> float:
    """The unit for a classifier with nu whose solution has half of the margin -width; ``unit`` if that will do.

    The solution is divided by it, and so is its violation.
    """
    classifier = len(dual.totals) == 2 or dual.sign is not None
    return power_of_two(-width) if classifier and first * NONE < -width < unit else unit


def scaled(dual: Dual, c: float) -> Dual:
    """The program of beta / c."""
    if c == 1.0:
        return dual
    totals = tuple(total / c for total in dual.totals)
    parts = {"t": dual.t / c, "lower": dual.lower / c, "upper": dual.upper / c}
    return replace(dual, **parts, totals=totals, epsilon=dual.epsilon / c)
