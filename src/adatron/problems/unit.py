"""The unit of a program, in which a tolerance means the same whatever its numbers are measured in.

With beta = c beta', a program is c^2 times that of beta' with t, l, u, s and epsilon divided by c, and its gradient is
c times the other one. A tolerance of 1e-3 fits targets, or differences of kernel sums, of about 1. Far smaller ones
would all be within it: any point would pass for the solution. Far larger ones would have to be known to more digits
than a float64 has.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .dual import Dual

FINE = 2.0**-4  # part of what a gradient can vary by that is a unit
NONE = 2.0**-40  # part of the first unit below which a margin is none
LARGE = 2.0**-16  # part of the typical distance of targets from their median that a unit is at most, if above 1


def power_of_two(value: float) -> float:
    """The largest power of two up to a positive number."""
    return float(2.0 ** np.floor(np.log2(value)))


def unit_of(dual: Dual, spread: float) -> float:
    """c, a power of two; 1 where the numbers of a program are of a usual size.

    Programs with targets: half of their range if that is below 1; a small part of their typical distance from the
    median if that is above 1. Programs without, those of nu: what the gradient can vary by if that is below 1.

    Parameters
    ----------
    spread : mean squared distance of the samples from their mean in the space of the kernel, or a guess of it
    """
    if not len(dual):
        return 1.0
    low, high = float(dual.t.min()), float(dual.t.max())
    if low == high:
        size = FINE * float(np.abs(dual.totals).sum()) * spread if low == 0.0 and dual.totals else 1.0
    else:
        size = 0.5 * high - 0.5 * low
        if size > 1.0:
            size = max(1.0, LARGE * float(np.median(np.abs(dual.t - np.median(dual.t)))))
    return power_of_two(size) if 0.0 < size < 1.0 or 2.0 <= size < np.inf else 1.0


def by_margin(dual: Dual, width: float, unit: float, first: float) -> float:
    """The unit for a classifier with nu whose solution has half of the margin -width; ``unit`` if that will do.

    The solution is divided by it, and so is its violation.
    """
    classifier = not dual.t.any() and (len(dual.totals) == 2 or dual.sign is not None)
    return power_of_two(-width) if classifier and first * NONE < -width < unit else unit


def scaled(dual: Dual, c: float) -> Dual:
    """The program of beta / c."""
    if c == 1.0:
        return dual
    totals = tuple(total / c for total in dual.totals)
    parts = {"t": dual.t / c, "lower": dual.lower / c, "upper": dual.upper / c}
    return replace(dual, **parts, totals=totals, epsilon=dual.epsilon / c)
