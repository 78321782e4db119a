"""Nu-support vector classification: nu is an upper bound of the fraction of margin errors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .bias import Bias, penalty
from .dual import Dual, Ids, Vector

ALONE = np.zeros(1, np.int64)  # Where one problem begins.


def nusvc(y: Vector, w: Vector, nu: float, bias: Bias = "explicit", augment: float = 1.0, first: Ids = ALONE) -> Dual:
    """Return the program of a nu-SVC: t = 0, beta_i between 0 and y_i w_i.

    Let W = sum(w). The positive beta sum to nu W / 2, the negative ones to -nu W / 2; unless the bias is explicit, only
    sum |beta| = nu W holds. The classifier is (sum_i beta_i k(x_i, x) + b) / rho, where rho is half of the margin.
    Several problems are the parts of one program, each with equalities of its own.

    Parameters
    ----------
    y : (n,) labels, -1 or 1
    w : (n,) weights
    nu : in (0, 1]; if it asks more of a class than there is, all of the class counts, see ``feasible_nu``
    bias, augment : as in ``csvc``
    first : where each problem begins

    References
    ----------
    B. Schoelkopf, A. J. Smola, R. C. Williamson, P. L. Bartlett, New support vector algorithms, Neural Computation 12
    (2000).
    """
    zero, sides = np.zeros_like(y), _sides(y, w, first)
    half = np.minimum(0.5 * nu * sides.sum(axis=1), sides.min(axis=1))
    number = None if len(first) == 1 else np.repeat(np.arange(len(first)), np.diff(first, append=len(y)))
    lower, upper = np.minimum(y * w, zero), np.maximum(y * w, zero)
    if bias == "explicit":
        negative = (y < 0).astype(np.int64)
        totals, row = np.stack([half, -half], axis=1), negative if number is None else 2 * number + negative
        return Dual(zero, lower, upper, 0.0, tuple(totals.ravel().tolist()), row=row)
    return Dual(zero, lower, upper, penalty(bias, augment), tuple((2.0 * half).tolist()), row=number, sign=y)


def feasible_nu(nu: float, one: Any, other: Any) -> NDArray[np.bool_]:
    """Return whether two classes of these weights have what nu asks of them."""
    return 0.5 * nu * (one + other) <= np.minimum(one, other)


def _sides(y: Vector, w: Vector, first: Ids) -> Vector:
    """Return the weights of the positive and the negative samples of each problem, (n_problems, 2)."""
    begins = np.ones(len(y), bool)
    begins[1:] = y[1:] != y[:-1]
    begins[first] = True
    runs = np.flatnonzero(begins)
    side = 2 * (np.searchsorted(first, runs, side="right") - 1) + (y[runs] < 0)
    return np.asarray(np.bincount(side, np.add.reduceat(w, runs), 2 * len(first)), np.float64).reshape(-1, 2)
