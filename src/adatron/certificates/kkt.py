"""How far a point is from the Karush-Kuhn-Tucker conditions, in units of the gradient (margins)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..compiled.scan import largest_gains
from ..problems import Dual
from ..problems.dual import Vector

ROWLESS, UNSIGNED = np.zeros(0, np.int64), np.zeros(0)  # stand for None


def kkt_violation(dual: Dual, beta: Vector, g: Vector) -> float:
    """The largest violation; 0 at a solution.

    With equalities, for each of them: max(m - M, 0), where m is the largest -g of a variable that can grow and M the
    smallest of one that can shrink (S. S. Keerthi et al., Neural Computation 13 (2001); the stopping rule of LIBSVM).
    Without one: the largest projected gradient.
    """
    found = np.full((max(1, len(dual.totals)), 2), -np.inf)
    row, sign = ROWLESS if dual.row is None else dual.row, UNSIGNED if dual.sign is None else dual.sign
    largest_gains(beta, g, dual.lower, dual.upper, dual.epsilon, row, sign, found)
    return max(0.0, float((found.sum(axis=1) if dual.totals else found).max()))


def violators(dual: Dual, beta: Vector, g: Vector, tol: float) -> NDArray[np.bool_]:
    """Whether each variable violates the conditions by more than tol, alone or with the best partner."""
    grow, shrink = dual.growth(beta, g), dual.shrinkage(beta, g)
    if not dual.totals:
        return np.maximum(grow, shrink) > tol
    wrong = np.zeros(len(beta), bool)
    for tie in dual.ties():
        up, down = grow[tie], shrink[tie]
        wrong[tie] = np.maximum(up + down.max(), down + up.max()) > tol
    return wrong
