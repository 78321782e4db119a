"""The unit of a program: it gives a tolerance the same meaning in every scale of the program's numbers.

With beta = c beta', a program is c^2 times that of beta' with t, l, u, s and epsilon divided by c, and its gradient is
c times the other one. A tolerance of 1e-3 fits targets, or differences of kernel sums, of about 1. Smaller targets or
differences would all be within the tolerance, so that any point would pass for the solution. So c is never above 1, and
a tolerance is never larger than the user's.
"""

from __future__ import annotations

from dataclasses import replace
from math import frexp, ldexp
from typing import Any

import numpy as np

from .dual import Dual, Vector

FINE = 2.0**-4  # Fraction of the gradient's possible variation that is a unit.
LEAST_UNIT, RANGE = 2.0**-400, 2.0**-900  # Smallest unit, and fraction of the bounds: all numbers stay in the range.
NONE = 2.0**-40  # Fraction of the first unit below which a margin counts as 0.


def power_of_two(value: float) -> float:
    """Return the largest power of two up to a positive number."""
    return ldexp(0.5, frexp(value)[1])


def unit_of(dual: Dual, spread: float) -> float:
    """Return c, a power of two, at most 1.

    It is half of the range of the targets. Programs with nu, and balls, have a fraction of the gradient's variation.

    Parameters
    ----------
    spread : mean squared distance of the samples from their mean in the space of the kernel, or a guess of it
    """
    if not len(dual):
        return 1.0
    most = max(-dual.reach[0], dual.reach[1])
    if by_sums(dual):
        return float(_unit(_variation(float(np.abs(dual.totals).sum()), spread), most))
    low, high = float(dual.t.min()), float(dual.t.max())
    return float(_unit(0.5 * high - 0.5 * low, most))


def units_of(totals: Vector, most: Vector, spread: float) -> Vector:
    """Return c of many programs without targets; of each the sums, (n, p), and the size of the largest bound, (n,)."""
    return _unit(_variation(np.abs(totals).sum(axis=1), spread), most)


def _variation(sums: Any, spread: float) -> Any:
    """Return a fraction of the gradient's variation, from the sizes of the coefficients together."""
    return FINE * sums * spread


def _unit(size: Any, most: Any) -> Any:
    """Return the power of two for numbers of this size, and bounds of at most another one."""
    least = np.maximum(LEAST_UNIT, np.where(np.isinf(most), 0.0, RANGE * most))
    small = (size > 0.0) & (size < 1.0) & (least < 1.0)
    return np.where(small, np.ldexp(0.5, np.frexp(np.where(small, np.maximum(size, least), 1.0))[1]), 1.0)


def by_sums(dual: Dual) -> bool:
    """Return whether sums of coefficients fix the size of a program's coefficients, as in classifiers with nu.

    In a program with one sum, a number that is added to all targets changes nothing, so their size says nothing.
    """
    return any(dual.totals) and (dual.one_sum or not dual.t.any())


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
