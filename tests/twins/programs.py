"""Dense float64 oracles of the quadratic program, its gap and its solution."""

import numpy as np


def objective(K, dual, beta):
    return 0.5 * beta @ (K + dual.lambda2) @ beta - dual.t @ beta + dual.epsilon * np.abs(beta).sum()


def gradient(K, dual, beta):
    return (K + dual.lambda2) @ beta - dual.t


def slopes(dual, beta, g):
    """What D falls by per unit of growth and of shrinkage of each variable, from the definition of |beta|."""
    up = -g - dual.epsilon * np.where(beta >= 0, 1.0, -1.0)
    down = g - dual.epsilon * np.where(beta <= 0, 1.0, -1.0)
    return np.where(beta < dual.upper, up, -np.inf), np.where(beta > dual.lower, down, -np.inf)


def kkt(K, dual, beta):
    grow, shrink = slopes(dual, beta, gradient(K, dual, beta))
    a, b = grow.max(initial=-np.inf), shrink.max(initial=-np.inf)
    return max(0.0, a + b if dual.total is not None else max(a, b))


def gap(K, dual, beta):
    """min over mu of sum_i max over v of h_i (beta_i - v) + epsilon (|beta_i| - |v|), by trying every kink."""
    g = gradient(K, dual, beta)
    kinks = np.concatenate([-g - dual.epsilon, -g + dual.epsilon]) if dual.total is not None else np.zeros(1)
    if dual.unbounded:
        z = K @ beta + dual.lambda2 * beta.sum()
        b = 0.0 if dual.total is None else -0.5 * (z[dual.t > 0].min() + z[dual.t < 0].max())
        margin = (dual.t * (z + b)).min()
        value = objective(K, dual, beta)
        return np.inf if margin <= 0 else 0.5 * beta @ (K + dual.lambda2) @ beta / margin**2 + value
    h = g[None, :] + kinks[:, None]
    ends = [dual.lower, dual.upper, np.clip(0.0, dual.lower, dual.upper)]
    terms = [h * (beta - v) + dual.epsilon * (np.abs(beta) - np.abs(v)) for v in ends]
    return np.max(terms, axis=0).sum(axis=1).min()


def solve(K, dual, steps=200_000, tol=1e-10):
    """Pairs (equality) or single variables, the most violating first, until nothing moves."""
    beta, g = np.zeros(len(dual)), -dual.t.copy()
    Q = K + dual.lambda2
    for _ in range(steps):
        grow, shrink = slopes(dual, beta, g)
        top = np.where((beta < 0) & (dual.epsilon > 0), 0.0, dual.upper)
        bottom = np.where((beta > 0) & (dual.epsilon > 0), 0.0, dual.lower)
        i, j = int(grow.argmax()), int(shrink.argmax())
        if dual.total is not None:
            if grow[i] + shrink[j] <= tol:
                break
            curvature = max(Q[i, i] + Q[j, j] - 2 * Q[i, j], 1e-14)
            d = min((grow[i] + shrink[j]) / curvature, top[i] - beta[i], beta[j] - bottom[j])
            beta[i], beta[j] = beta[i] + d, beta[j] - d
            g += d * (Q[i] - Q[j])
        else:
            if max(grow[i], shrink[j]) <= tol:
                break
            k = i if grow[i] >= shrink[j] else j
            positive = beta[k] >= 0 if k == i else beta[k] > 0
            slope = g[k] + dual.epsilon * (1.0 if positive else -1.0)
            new = np.clip(beta[k] - slope / max(Q[k, k], 1e-14), bottom[k], top[k])
            g += (new - beta[k]) * Q[k]
            beta[k] = new
    return beta
