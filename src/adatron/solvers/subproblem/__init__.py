"""Solvers of small dense quadratic programs: what ``block`` and ``decomposition`` do with their blocks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...compiled.search import CHUNK
from ...problems import Dual
from ...problems.dual import Ids, Vector
from .pairs import pairs
from .singles import singles

__all__ = ["Layout", "pairs", "singles", "solve"]


@dataclass(frozen=True)
class Layout:
    """Places for the variables of a block: equality by equality, each in whole CHUNKs, which the searches need.

    order : the variable at each place; the padding repeats the first one
    place : the place of each variable
    starts : first place of each equality, and the number of places
    """

    order: Ids
    place: Ids
    starts: Ids

    @classmethod
    def of(cls, dual: Dual) -> Layout:
        n = len(dual)
        ties = [np.arange(n)[tie] for tie in dual.ties()]
        starts = np.cumsum([0, *(-(-len(tie) // CHUNK) * CHUNK for tie in ties)])
        order, place = np.zeros(starts[-1], np.int64), np.zeros(n, np.int64)
        for start, tie in zip(starts, ties, strict=False):
            place[tie] = start + np.arange(len(tie))
        order[place] = np.arange(n)
        return cls(order, place, starts)

    def spread(self, values: Vector) -> Vector:
        """Values of the variables at their places, 0 elsewhere."""
        out = np.zeros(len(self.order))
        out[self.place] = values
        return out


def solve(
    K: NDArray[Any], layout: Layout, dual: Dual, beta: Vector, g: Vector, tol: float, steps: int, flag: NDArray[Any]
) -> tuple[Vector, int]:
    """The best ``beta`` of a block (to ``tol``), and the updates it took.

    K is the kernel matrix of the places, and is overwritten; dual, beta and g belong to the block alone.
    """
    if K.dtype == np.float32 and np.abs(g).max() * 2.0**-20 > 0.1 * tol:
        K = K.astype(np.float64)  # float32 does not resolve this tolerance
    K += K.dtype.type(dual.lambda2)
    plain = dual.unsigned()
    if dual.sign is not None:
        sign = layout.spread(dual.sign).astype(K.dtype)
        K *= sign[:, None] * sign
        beta, g = dual.sign * beta, dual.sign * g
    # The padding cannot move: its bounds are 0.
    new, lower, upper, slope = (layout.spread(v) for v in (beta, plain.lower, plain.upper, g))
    slope = slope.astype(K.dtype)
    if dual.totals:
        steps = pairs(K, new, slope, lower, upper, layout.starts, dual.epsilon, tol, steps, flag)
    else:
        steps = singles(K, new, slope, lower, upper, dual.epsilon, tol, steps, flag)
    found = new[layout.place]
    return found if dual.sign is None else dual.sign * found, steps
