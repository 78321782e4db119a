"""Dense float64 oracles of the quadratic program, its gap and its solution."""

import numpy as np


def objective(K, dual, beta):
    return 0.5 * beta @ (K + dual.lambda2) @ beta - dual.t @ beta


def gradient(K, dual, beta):
    return (K + dual.lambda2) @ beta - dual.t


def kkt(K, dual, beta):
    g = gradient(K, dual, beta)
    grow, shrink = -g[beta < dual.upper], g[beta > dual.lower]
    a, b = grow.max(initial=-np.inf), shrink.max(initial=-np.inf)
    return max(0.0, a + b if dual.total is not None else max(a, b))


def gap(K, dual, beta):
    """min over mu of sum_i max over v in [l, u] of h_i (beta_i - v), by trying every kink."""
    g = gradient(K, dual, beta)
    kinks = -g if dual.total is not None else np.zeros(1)
    if dual.unbounded:
        z = K @ beta + dual.lambda2 * beta.sum()
        b = 0.0 if dual.total is None else -0.5 * (z[dual.t > 0].min() + z[dual.t < 0].max())
        margin = (dual.t * (z + b)).min()
        value = objective(K, dual, beta)
        return np.inf if margin <= 0 else 0.5 * beta @ (K + dual.lambda2) @ beta / margin**2 + value
    h = g[None, :] + kinks[:, None]
    return np.maximum(h * (beta - dual.lower), h * (beta - dual.upper)).sum(axis=1).min()


def solve(K, dual, steps=200_000, tol=1e-10):
    """Pairs (equality) or single variables, the most violating first, until nothing moves."""
    beta, g = np.zeros(len(dual)), -dual.t.copy()
    Q = K + dual.lambda2
    for _ in range(steps):
        grow = np.where(beta < dual.upper, -g, -np.inf)
        shrink = np.where(beta > dual.lower, g, -np.inf)
        i, j = int(grow.argmax()), int(shrink.argmax())
        if dual.total is not None:
            if grow[i] + shrink[j] <= tol:
                break
            curvature = max(Q[i, i] + Q[j, j] - 2 * Q[i, j], 1e-14)
            d = min((grow[i] + shrink[j]) / curvature, dual.upper[i] - beta[i], beta[j] - dual.lower[j])
            beta[i], beta[j] = beta[i] + d, beta[j] - d
            g += d * (Q[i] - Q[j])
        else:
            if max(grow[i], shrink[j]) <= tol:
                break
            k = i if grow[i] >= shrink[j] else j
            new = np.clip(beta[k] - g[k] / max(Q[k, k], 1e-14), dual.lower[k], dual.upper[k])
            g += (new - beta[k]) * Q[k]
            beta[k] = new
    return beta
