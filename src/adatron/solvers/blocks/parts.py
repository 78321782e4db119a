"""Parts of a large program: some variables, solved as a program of their own while the others stay.

A block that changes asks for whole rows of K, over all variables, although most variables are certain to stay at a
bound. A block of a part asks only for rows over the part. Whole rows are needed once, at the end, for the variables
that the part has changed.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...arrays import Ids, Vector
from ...certificates import best_multipliers
from ...problems import Dual
from .shard import Violators, worst

FIRST_PART = 8  # The first part has one variable in this many.
LARGEST_PART = 3  # A part has at most one in this many of all variables.
AROUND = 2.0  # Size of a part, as a multiple of the variables that violate or are free.
CLOSE_TO = 0.9  # Fraction of the largest part; if more variables violate or are free, no part is made.


def near(dual: Dual, beta: Vector, g: Vector, tol: float, least: int) -> Ids:
    """Return the variables that violate or are free, and as many again that come next; none if they are too many."""
    inward = dual.inward(beta, g + dual.push(best_multipliers(dual, beta, g)))
    move, most = (inward > tol) | dual.free(beta), len(dual) // LARGEST_PART
    moving = int(np.count_nonzero(move))
    if moving > CLOSE_TO * most:
        return np.empty(0, np.int64)
    inward[move] = np.inf
    return worst(Violators(np.arange(len(dual)), inward), min(max(int(AROUND * moving), least), most)).ids


def restricted(dual: Dual, ids: Ids, beta: Vector) -> Dual:
    """Return the program of some variables, now at ``beta``, while the others stay."""
    part = dual.take(ids)
    return replace(part, totals=tuple(part.sums(beta).tolist()))
