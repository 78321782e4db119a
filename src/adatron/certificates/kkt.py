"""How far a point is from the Karush-Kuhn-Tucker conditions, in units of the gradient (margins)."""

from __future__ import annotations

import numpy as np

from ..problems import Dual
from ..problems.dual import Vector


def kkt_violation(dual: Dual, beta: Vector, g: Vector) -> float:
    """The largest violation; 0 at a solution.

    With an equality: max(m - M, 0), where m is the largest -g of a variable that can grow and M the smallest of one
    that can shrink (S. S. Keerthi et al., Neural Computation 13 (2001); the stopping rule of LIBSVM). Without one:
    the largest projected gradient.
    """
    grow = float(np.max(dual.growth(beta, g), initial=-np.inf))
    shrink = float(np.max(dual.shrinkage(beta, g), initial=-np.inf))
    return max(0.0, grow + shrink if dual.total is not None else max(grow, shrink))
