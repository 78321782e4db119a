"""Parts of a large program: some variables, solved as a program of their own while the others stay.

What a block changes asks for whole rows of K, over all variables, most of which are at a bound beyond doubt. Blocks of
a part ask for rows over the part, and whole rows are needed once, for what the part has changed in the end.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ...certificates import best_multipliers
from ...problems import Dual
from ...problems.dual import Ids, Vector, dot
from .shard import Violators, worst

LARGEST_SHARE, AROUND = (
    3,
    2.0,
)  # a part is a third of all at most, and so many times the variables that violate or are free
CLOSE_TO = 0.9  # of the most: so many that violate or are free make no part


class Origin(NamedTuple):
    """Where a part begins: its variables, their gradient, and the objective of the whole program."""

    beta: Vector
    g: Vector
    objective: float

    def followed(self, beta: Vector, g: Vector, epsilon: float) -> float:
        """The objective of the whole program when the part is at beta. The part's targets alone do not tell it."""
        sizes = float(np.abs(beta).sum() - np.abs(self.beta).sum())
        return self.objective + 0.5 * dot(beta - self.beta, g + self.g) + epsilon * sizes


def near(dual: Dual, beta: Vector, g: Vector, tol: float, least: int) -> Ids:
    """The variables that violate or are free, and as many again that come next; none if they are too many."""
    inward = dual.inward(beta, g + dual.push(best_multipliers(dual, beta, g)))
    move, most = (inward > tol) | dual.free(beta), len(dual) // LARGEST_SHARE
    moving = int(np.count_nonzero(move))
    if moving > CLOSE_TO * most:
        return np.empty(0, np.int64)
    inward[move] = np.inf
    return worst(Violators(np.arange(len(dual)), inward), min(max(int(AROUND * moving), least), most)).ids


def restricted(dual: Dual, ids: Ids, beta: Vector) -> Dual:
    """The program of some variables, at ``beta`` now; the others stay."""
    part = dual.take(ids)
    return replace(part, totals=tuple(part.sums(beta).tolist()))
