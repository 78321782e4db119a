"""What a variable gains by moving: slopes, the violation of the conditions of optimality, candidates for a block."""

from __future__ import annotations

from typing import Any

import numpy as np

from .cache.jit import jit
from .search import FORBIDDEN


@jit(inner=True)
def _slopes(beta: float, lower: float, upper: float, epsilon: float, far: float) -> Any:
    grow = (-epsilon if beta >= 0.0 else epsilon) if beta < upper else -far
    shrink = (epsilon if beta > 0.0 else -epsilon) if beta > lower else -far
    return grow, shrink


@jit(inner=True)
def slopes(beta: float, lower: float, upper: float, epsilon: float) -> Any:
    """Return what growth and shrinkage of a variable add to -g and to g; -FORBIDDEN for a move that is not allowed."""
    return _slopes(beta, lower, upper, epsilon, FORBIDDEN)


@jit
def gains(b: float, slope: float, lower: float, upper: float, epsilon: float, turned: bool) -> tuple[float, float]:
    """Return ``Dual.growth`` and ``Dual.shrinkage`` of one variable; ``turned`` if its sign is negative."""
    grow, shrink = _slopes(b, lower, upper, epsilon, np.inf)
    rise, fall = grow - slope, shrink + slope
    return (fall, rise) if turned else (rise, fall)


@jit(finite=True, inner=True)
def inward(grow: Any, shrink: Any, g: Any) -> Any:
    """Return the gain of a variable that moves into its box, from its slopes: the larger of both."""
    up, down = grow - g, shrink + g
    return up if up > down else down


@jit(inner=True)
def largest_gains(
    beta: Any, g: Any, errors: Any, lower: Any, upper: Any, epsilon: float, row: Any, sign: Any, grow: Any, shrink: Any
) -> bool:
    """Set the largest gains of a variable of each equality that grows, and that shrinks; return whether all are known.

    ``errors`` bound the errors of g. ``errors``, ``row`` and ``sign`` may be empty.
    """
    for r in range(len(grow)):
        grow[r] = shrink[r] = -np.inf
    for i in range(len(beta)):
        r = row[i] if len(row) else 0
        error = errors[i] if len(errors) else 0.0
        growth, shrinkage = gains(beta[i], g[i], lower[i], upper[i], epsilon, len(sign) > 0 and sign[i] < 0.0)
        if not (abs(g[i]) < np.inf and error < np.inf):  # nan, too
            return False
        grow[r], shrink[r] = max(grow[r], growth + error), max(shrink[r], shrinkage + error)
    return True


@jit
def violation(
    beta: Any, g: Any, errors: Any, lower: Any, upper: Any, epsilon: float, row: Any, sign: Any, equalities: int
) -> float:
    """Return the largest gain of a variable, or of a pair in one of the equalities; infinite if it is not a number.

    The gain is negative if every move loses, and minus infinity if no move is possible.
    """
    grow, shrink = np.empty(max(1, equalities)), np.empty(max(1, equalities))
    if not largest_gains(beta, g, errors, lower, upper, epsilon, row, sign, grow, shrink):
        return np.inf
    worst = -np.inf
    for r in range(len(grow)):
        worst = max(worst, grow[r] + shrink[r] if equalities else max(grow[r], shrink[r]))
    return worst


@jit
def scan(beta: Any, g: Any, terms: Any, least: Any, first: int, stop: int, step: int, found: Any) -> None:
    """Look at the variables first, first + step, ... below stop; all lists start at place ``first``.

    The lists get the variables of any equality r whose ``Dual.growth`` is at least least[r, 0], those whose
    ``Dual.shrinkage`` is at least least[r, 1], and the free ones.

    terms : t, lower, upper, epsilon, row and sign, see ``Dual``; the last two may be empty
    found : (3, n) and (2, n) variables that grow, that shrink and that are free, and what the first two gain; (3,)
        lengths of the lists; (2,) beta'(g - t) and |beta|_1
    """
    (t, lower, upper, epsilon, row, sign), (ids, values, counts, sums) = terms, found
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
        product += b * (slope - t[i])
        size += abs(b)
    counts[0], counts[1], counts[2] = grow - first, shrink - first, free - first
    sums[0], sums[1] = product, size
