"""The distance of a point from the Karush-Kuhn-Tucker conditions, in units of the gradient (margins)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..compiled.scan import violation
from ..problems import Dual
from ..problems.dual import NO_ERRORS, Vector


def kkt_violation(dual: Dual, beta: Vector, g: Vector, errors: Vector = NO_ERRORS) -> float:
    """Return the largest violation, 0 at a solution; an upper bound of it if ``errors`` bound the errors of g.

    With equalities the violation of each is max(m - M, 0). m is the largest -g of a variable that can grow, and M the
    smallest of one that can shrink (S. S. Keerthi et al., Neural Computation 13 (2001); the stopping rule of LIBSVM).
    Without equalities it is the largest projected gradient.
    """
    bounds = dual.lower, dual.upper, dual.epsilon
    return max(0.0, violation(beta, g, errors, *bounds, *dual.membership, len(dual.totals)))


def violators(dual: Dual, beta: Vector, g: Vector, tol: float) -> NDArray[np.bool_]:
    """Return whether each variable violates the conditions by more than tol, alone or with the best partner."""
    grow, shrink = dual.growth(beta, g), dual.shrinkage(beta, g)
    if not dual.totals:
        return np.maximum(grow, shrink) > tol
    wrong = np.zeros(len(beta), bool)
    for tie in dual.ties():
        up, down = grow[tie], shrink[tie]
        wrong[tie] = np.maximum(up + down.max(), down + up.max()) > tol
    return wrong
