"""Dense float64 oracles of the quadratic program, its gap and its solution, from its definition."""

import numpy as np


def objective(K, dual, beta):
    return 0.5 * beta @ (K + dual.lambda2) @ beta - dual.t @ beta + dual.epsilon * np.abs(beta).sum()


def gradient(K, dual, beta):
    return (K + dual.lambda2) @ beta - dual.t


def matrix(dual):
    """A, one row for each equality."""
    row = np.zeros(len(dual), int) if dual.row is None else dual.row
    sign = np.ones(len(dual)) if dual.sign is None else dual.sign
    return np.array([np.where(row == r, sign, 0.0) for r in range(len(dual.totals))]).reshape(-1, len(dual))


def slopes(dual, beta, g):
    """What D falls by per unit of growth and of shrinkage of each variable, from the definition of |beta|."""
    up = -g - dual.epsilon * np.where(beta >= 0, 1.0, -1.0)
    down = g - dual.epsilon * np.where(beta <= 0, 1.0, -1.0)
    return np.where(beta < dual.upper, up, -np.inf), np.where(beta > dual.lower, down, -np.inf)


def kkt(K, dual, beta):
    up, down = slopes(dual, beta, gradient(K, dual, beta))
    if not dual.totals:
        return max(0.0, up.max(initial=-np.inf), down.max(initial=-np.inf))
    worst = 0.0
    for a in matrix(dual):
        more, less = np.where(a > 0, up, down)[a != 0], np.where(a > 0, down, up)[a != 0]
        worst = max(worst, more.max(initial=-np.inf) + less.max(initial=-np.inf))
    return worst


def gap(K, dual, beta):
    """min over mu of sum_i max over v of h_i (beta_i - v) + epsilon (|beta_i| - |v|), by trying every kink."""
    g = gradient(K, dual, beta)
    if dual.unbounded:
        z = K @ beta + dual.lambda2 * beta.sum()
        plus, minus = dual.t > 0, dual.t < 0
        pairs = np.subtract.outer(z[plus], z[minus]) / np.subtract.outer(dual.t[plus], dual.t[minus])
        margin = pairs.min() if dual.totals else (z / dual.t).min()  # the largest m with (z + b) / t >= m
        value = objective(K, dual, beta)
        return np.inf if margin <= 0 else 0.5 * beta @ (K + dual.lambda2) @ beta / margin**2 + value
    ends = [dual.lower, dual.upper, np.clip(0.0, dual.lower, dual.upper)]

    def terms(h):
        return np.max([h * (beta - v) + dual.epsilon * (np.abs(beta) - np.abs(v)) for v in ends], axis=0)

    if not dual.totals:
        return terms(g).sum()
    total = 0.0
    for a in matrix(dual):
        kinks = np.concatenate([-a * (g - dual.epsilon), -a * (g + dual.epsilon)])
        total += min(terms(g + a * mu)[a != 0].sum() for mu in kinks[np.tile(a != 0, 2)])
    return total


def solve(K, dual, steps=200_000, tol=1e-10):
    """Pairs (equality) or single variables, the most violating first, until nothing moves."""
    if dual.totals:
        return _pairs(K, dual, steps, tol)
    beta, g = np.zeros(len(dual)), -dual.t.copy()
    Q = K + dual.lambda2
    for _ in range(steps):
        up, down = slopes(dual, beta, g)
        i, j = int(up.argmax()), int(down.argmax())
        if max(up[i], down[j]) <= tol:
            break
        k, direction = (i, 1.0) if up[i] >= down[j] else (j, -1.0)
        d = min(max(up[i], down[j]) / max(Q[k, k], 1e-14), _room(dual, beta, k, direction))
        beta[k] += direction * d
        g += direction * d * Q[k]
    return beta


def _room(dual, beta, k, direction):
    """How far a variable can go: to its bound or, with epsilon, to 0."""
    if dual.epsilon and direction * beta[k] < 0:
        return abs(beta[k])
    return dual.upper[k] - beta[k] if direction > 0 else beta[k] - dual.lower[k]


def _pairs(K, dual, steps, tol):
    """From the first feasible point: the most violating pair of the worst equality, until nothing moves."""
    A, Q = matrix(dual), K + dual.lambda2
    beta = np.zeros(len(dual))
    for a, total in zip(A, dual.totals, strict=True):
        rest = total
        for k in np.flatnonzero(a):
            limit = dual.upper[k] if a[k] * np.sign(rest) > 0 else dual.lower[k]
            d = np.sign(rest) * min(abs(limit), abs(rest))
            beta[k], rest = a[k] * d, rest - d
    g = gradient(K, dual, beta)
    for _ in range(steps):
        up, down = slopes(dual, beta, g)
        best = (tol, 0, 0, A[0])
        for a in A:
            more = np.where(a == 0, -np.inf, np.where(a > 0, up, down))
            less = np.where(a == 0, -np.inf, np.where(a > 0, down, up))
            i, j = int(more.argmax()), int(less.argmax())
            best = max(best, (more[i] + less[j], i, j, a), key=lambda one: one[0])
        violation, i, j, a = best
        if violation <= tol:
            break
        curvature = max(Q[i, i] + Q[j, j] - 2 * a[i] * a[j] * Q[i, j], 1e-14)
        d = min(violation / curvature, _room(dual, beta, i, a[i]), _room(dual, beta, j, -a[j]))
        beta[i] += a[i] * d
        beta[j] -= a[j] * d
        g += d * (a[i] * Q[i] - a[j] * Q[j])
    return beta
