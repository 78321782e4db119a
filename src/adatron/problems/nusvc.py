"""Nu-support vector classification: nu is an upper bound of the fraction of margin errors."""

from __future__ import annotations

import numpy as np

from .bias import Bias, penalty
from .dual import Dual, Vector


def nusvc(y: Vector, w: Vector, nu: float, bias: Bias = "explicit", augment: float = 1.0) -> Dual:
    """Return the program of a nu-SVC: t = 0, beta_i between 0 and y_i w_i.

    Let W = sum(w). The positive beta sum to nu W / 2, the negative ones to -nu W / 2; unless the bias is explicit, only
    sum |beta| = nu W holds. The classifier is (sum_i beta_i k(x_i, x) + b) / rho, where rho is half of the margin.

    Parameters
    ----------
    y : (n,) labels, -1 or 1
    w : (n,) weights
    nu : in (0, 1]; see ``feasible_nu``
    bias, augment : as in ``csvc``

    References
    ----------
    B. Schoelkopf, A. J. Smola, R. C. Williamson, P. L. Bartlett, New support vector algorithms, Neural Computation 12
    (2000).
    """
    total, zero = nu * float(w.sum()), np.zeros_like(y)
    lower, upper = np.minimum(y * w, zero), np.maximum(y * w, zero)
    if bias == "explicit":
        return Dual(zero, lower, upper, 0.0, (0.5 * total, -0.5 * total), row=(y < 0).astype(np.int64))
    return Dual(zero, lower, upper, penalty(bias, augment), (total,), sign=y)


def feasible_nu(y: Vector, w: Vector, nu: float) -> bool:
    """Return whether both classes have the weight that nu asks of them."""
    return nu * float(w.sum()) / 2.0 <= min(float(w[y > 0].sum()), float(w[y < 0].sum()))
