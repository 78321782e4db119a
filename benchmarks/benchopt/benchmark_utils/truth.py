"""The worth of coefficients of a C-SVM, in float64 from the data alone; nothing here knows a solver.

The dual: minimise 1/2 β'Kβ - y'β with 0 <= y_i β_i <= C and sum β_i = 0.
"""

import numpy as np
from sklearn.metrics.pairwise import pairwise_kernels

VALUES_AT_A_TIME = 2**24  # Kernel values that are computed at a time.
MOST = 1e6  # The largest value: benchopt takes an infinite one, that of no coefficients at all, for a divergence.


def truth(X, y, C, kernel, beta):
    """Return what coefficients are worth: sum_i β_i k(x_i, x) + b is the decision function, for the best b.

    The dual objective is that of near coefficients which meet the constraints, if the given ones do not.
    """
    beta = np.asarray(beta, np.float64)
    f = decisions(X, kernel, beta)
    # Each sample adds 1 to the slope of the hinge losses at its own b; the slope begins at minus the positive ones.
    at = int(np.sum(y > 0)) - 1
    b = np.partition(y - f, at)[at]
    primal = 0.5 * beta @ f + C * np.sum(np.maximum(0.0, 1.0 - y * (f + b)))
    near, missed = feasible(beta, y, C)
    if missed:
        f = decisions(X, kernel, near)
    dual = y @ near - 0.5 * near @ f
    return {
        "value": min((primal - dual) / dual, MOST) if dual > 0.0 else MOST,  # bounds the suboptimality of both
        "primal": primal,
        "dual": dual,
        "kkt_violation": violation(near, y, C, f),
        "infeasibility": missed,
        "support_vectors": int(np.count_nonzero(near)),
    }


def decisions(X, kernel, beta):
    """Return K beta."""
    support = np.flatnonzero(beta)
    if not len(support):
        return np.zeros(len(beta))
    rows, more = X[support], {name: value for name, value in kernel.items() if name != "kernel"}
    step = max(1, VALUES_AT_A_TIME // len(support))
    parts = (X[start : start + step] for start in range(0, len(beta), step))
    return np.concatenate([pairwise_kernels(part, rows, kernel["kernel"], **more) @ beta[support] for part in parts])


def feasible(beta, y, C):
    """Return coefficients within the constraints, and how far the given ones were from them, relative to C."""
    alpha = np.clip(y * beta, 0.0, C)
    missed = np.max(np.abs(alpha - y * beta))
    sums = [np.sum(alpha[y > 0]), np.sum(alpha[y < 0])]
    if (difference := abs(sums[0] - sums[1])) > 1e-10 * max(sums):  # more than rounding
        missed = max(missed, difference)
        larger = y > 0 if sums[0] > sums[1] else y < 0
        alpha[larger] *= min(sums) / max(sums)
    return y * alpha, 0.0 if missed <= 1e-10 * C else float(missed / C)


def violation(beta, y, C, f):
    """Return the largest violation of the optimality conditions by a pair of samples (LIBSVM's stopping rule)."""
    alpha, slope = y * beta, y - f
    up = np.where(y > 0, alpha < C, alpha > 0)
    down = np.where(y > 0, alpha > 0, alpha < C)
    return max(0.0, float(slope[up].max() - slope[down].min())) if up.any() and down.any() else 0.0
