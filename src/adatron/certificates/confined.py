"""How far the bias of an optimal function may be from that of a solution, given the proven gap of the solution.

A solution w that is within a gap of the optimum w* has |w - w*|^2 <= 2 gap, so w.phi(x) is off by at most
sqrt(2 gap k(x, x)). The best bias minimises a convex, piecewise linear function whose kinks are off by as much at the
samples. Moving all kinks down gives its lowest value, moving them up the highest.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..compiled.cache.jit import jit
from .gap import CARE, crossing

SLACK = 1e-9  # Fraction of all steps that is counted as rounding of their sums.


@jit
def confine(
    first: Any, lower: Any, upper: Any, row: Any, totals: Any, epsilons: Any, g: Any, roots: Any, widths: Any,
    errors: Any, lows: Any, highs: Any,
) -> None:  # fmt: skip
    """Set the lowest and the highest bias that may be optimal, for each of some programs, one after the other.

    first : (n + 1,) where the variables of each program begin
    lower, upper, row, totals, epsilons : as in ``Dual``; (n, p) sums, and (n,) epsilons
    g, roots : gradient without an explicit bias, and the root of k(x, x)
    widths, errors : (n,) how far a value may be off, times that root, and by errors of the gradient
    """
    for k in range(len(first) - 1):
        a, b = first[k], first[k + 1]
        kinks, steps = np.empty(2 * (b - a)), np.empty(2 * (b - a))
        lows[k] = highs[k] = 0.0
        for r in range(totals.shape[1]):
            for side in range(2):
                turn, count, total, size, last = 2.0 * side - 1.0, 0, -totals[k, r], 0.0, 0.0
                for i in range(a, b):
                    if len(row) and row[i] != r:
                        continue
                    at = turn * (CARE * widths[k] * roots[i] + errors[k]) - g[i]
                    total += upper[i]
                    size += upper[i] - lower[i]
                    if upper[i] != 0.0:
                        kinks[count], steps[count], count = at - epsilons[k], upper[i], count + 1
                    if lower[i] != 0.0:
                        kinks[count], steps[count], count = at + epsilons[k], -lower[i], count + 1
                for i in range(count):
                    last += steps[i]
                rounding = SLACK * size
                if side == 0:
                    sure = total > rounding and last >= total - rounding and size < np.inf
                    lows[k] += crossing(kinks[:count], steps[:count], total - rounding) if sure else -np.inf
                else:
                    sure = last > total + 2.0 * rounding and size < np.inf
                    highs[k] += crossing(kinks[:count], steps[:count], total + 2.0 * rounding) if sure else np.inf
        lows[k], highs[k] = lows[k] / max(1, totals.shape[1]), highs[k] / max(1, totals.shape[1])
