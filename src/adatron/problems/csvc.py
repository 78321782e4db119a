"""C-support vector classification, soft and hard margin."""

from __future__ import annotations

import numpy as np

from .bias import Bias, penalty
from .dual import Dual, Vector


def csvc(y: Vector, C: Vector, bias: Bias = "explicit", augment: float = 1.0) -> Dual:
    """Return the program of a C-SVC: t = y, beta_i between 0 and y_i C_i.

    Parameters
    ----------
    y : (n,) labels, -1 or 1
    C : (n,) bound of each variable (C times class weight times sample weight); inf is a hard margin
    bias : 'explicit' adds sum(beta) = 0; 'augmented' adds ``augment``^2 to the kernel; 'none' does neither
    augment : augmenting factor lambda

    References
    ----------
    C. Cortes, V. Vapnik, Support-vector networks, Machine Learning 20 (1995); augmented: O. L. Mangasarian,
    D. R. Musicant, Successive overrelaxation for support vector machines (1999).
    """
    bound, zero = y * C, np.zeros(len(y))
    totals = (0.0,) if bias == "explicit" else ()
    return Dual(y, np.minimum(bound, zero), np.maximum(bound, zero), penalty(bias, augment), totals)
