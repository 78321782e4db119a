"""Passes over the variables of a problem: what they gain by moving, candidates for its next block, its objective."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .cache.jit import jit


@jit
def gains(b: float, slope: float, lower: float, upper: float, epsilon: float, turned: bool) -> tuple[float, float]:
    """Return ``Dual.growth`` and ``Dual.shrinkage`` of one variable; ``turned`` if its sign is negative."""
    rise = -slope - (epsilon if b >= 0.0 else -epsilon) if b < upper else -np.inf
    fall = slope + (epsilon if b > 0.0 else -epsilon) if b > lower else -np.inf
    return (fall, rise) if turned else (rise, fall)


@jit
def violation(
    beta: Any, g: Any, errors: Any, lower: Any, upper: Any, epsilon: float, row: Any, sign: Any, equalities: int
) -> float:
    """Return the largest gain of a variable, or of a pair in one of the equalities; infinite if it is not a number.

    The gain is negative if every move loses, and minus infinity if no move is possible.

    ``errors`` bound the errors of g. ``errors``, ``row`` and ``sign`` may be empty.
    """
    grow, shrink = np.full(max(1, equalities), -np.inf), np.full(max(1, equalities), -np.inf)
    for i in range(len(beta)):
        r = row[i] if len(row) else 0
        error = errors[i] if len(errors) else 0.0
        growth, shrinkage = gains(beta[i], g[i], lower[i], upper[i], epsilon, len(sign) > 0 and sign[i] < 0.0)
        if not (abs(g[i]) < np.inf and error < np.inf):  # nan, too
            return np.inf
        grow[r], shrink[r] = max(grow[r], growth + error), max(shrink[r], shrinkage + error)
    worst = -np.inf
    for r in range(len(grow)):
        if equalities and (grow[r] == -np.inf or shrink[r] == -np.inf):
            continue  # no pair can move
        worst = max(worst, grow[r] + shrink[r] if equalities else max(grow[r], shrink[r]))
    return worst


class Terms(NamedTuple):
    """The numbers of a program, see ``Dual``; ``row`` and ``sign`` may be empty."""

    t: Any
    lower: Any
    upper: Any
    epsilon: float
    row: Any
    sign: Any


class Lists(NamedTuple):
    """The variables that a scan finds.

    ids, values : (3, n) and (2, n) variables that grow, that shrink and that are free; what the first two gain
    counts : (3,) lengths of the lists
    sums : (2,) beta'(g - t) and |beta|_1
    """

    ids: Any
    values: Any
    counts: Any
    sums: Any


@jit
def scan(beta: Any, g: Any, terms: Terms, least: Any, first: int, stop: int, step: int, found: Lists) -> None:
    """Look at the variables first, first + step, ... below stop; all lists start at place ``first``.

    The lists get the variables of any equality r whose ``Dual.growth`` is at least least[r, 0], those whose
    ``Dual.shrinkage`` is at least least[r, 1], and the free ones.
    """
    lower, upper, epsilon, row, sign = terms.lower, terms.upper, terms.epsilon, terms.row, terms.sign
    ids, values, counts, sums = found.ids, found.values, found.counts, found.sums
    grow, shrink, free = first, first, first
    product, size = 0.0, 0.0
    for i in range(first, stop, step):
        r = row[i] if len(row) else 0
        b, slope = beta[i], g[i]
        growth, shrinkage = gains(b, slope, lower[i], upper[i], epsilon, len(sign) > 0 and sign[i] < 0.0)
        # Written before it is known whether they stay: a branch here would be predicted wrongly half of the time.
        ids[0, grow], values[0, grow] = i, growth
        grow += (growth >= least[r, 0]) & (growth > -np.inf)
        ids[1, shrink], values[1, shrink] = i, shrinkage
        shrink += (shrinkage >= least[r, 1]) & (shrinkage > -np.inf)
        ids[2, free] = i
        free += (b < upper[i]) & (b > lower[i]) & ((epsilon == 0.0) | (b != 0.0))
        product += b * (slope - terms.t[i])
        size += abs(b)
    counts[0], counts[1], counts[2] = grow - first, shrink - first, free - first
    sums[0], sums[1] = product, size
