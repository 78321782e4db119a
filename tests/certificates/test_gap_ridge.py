"""The gap of programs whose errors cost their square, against primal minus dual, and its growth with the errors."""

from fractions import Fraction

import numpy as np

from adatron.certificates import Exact, best_multipliers, certify, duality_gap
from adatron.kernels import Linear
from adatron.problems import SquaredClassification, SquaredRegression
from adatron.problems.problem import no_diagonal
from problems import view_of
from twins.primal import BIASES, drawn

L = np.longdouble
EPSILONS = (None, 0.0, 0.25)  # None: a classifier
BITS = 2.0**-10


def program(seed, bias, epsilon):
    """A program, a point within its bounds, and samples; all are multiples of 2^-10, so products are exact."""
    rng = np.random.default_rng(seed)
    n, d, C = 9, 3, 2.0 ** rng.integers(-6, 7)
    X, y = np.round(rng.normal(size=(n, d)) / BITS) * BITS, np.where(rng.random(n) < 0.5, 1.0, -1.0)
    weight = 2.0 ** rng.integers(-3, 3, n)
    weight[rng.random(n) < 0.2] = 0.0
    if epsilon is None:
        dual = SquaredClassification(C, bias, 0.5).dual(y, weight, no_diagonal)
    else:
        y = np.round(rng.normal(size=n) / BITS) * BITS
        dual = SquaredRegression(C, epsilon, bias, 0.5).dual(y, weight, no_diagonal)
    beta = np.clip(np.round(rng.normal(size=n) * (rng.random(n) < 0.7) / BITS) * BITS, dual.lower, dual.upper)
    if dual.totals:
        beta = np.where(weight > 0.0, beta, 0.0)
        beta[y * beta < 0.0] *= epsilon is not None
        plus, minus = max(0.0, beta.sum()), max(0.0, -beta.sum())
        for i in np.flatnonzero(beta):  # what is too much goes, from the first on
            less = min(plus, beta[i]) if beta[i] > 0.0 else -min(minus, -beta[i])
            plus, minus = plus - max(less, 0.0), minus + min(less, 0.0)
            beta[i] -= less
    return X, y, dual, beta, rng


def exact(X, y, dual, beta, mu, epsilon):
    """Primal minus dual in fractions; the primal point is (w, b) of beta and mu."""
    x, weights = [[Fraction(v) for v in row] for row in X.tolist()], [Fraction(v) for v in beta.tolist()]
    w = [sum(b * row[j] for b, row in zip(weights, x, strict=True)) for j in range(X.shape[1])]
    extra = Fraction(dual.lambda2) * sum(weights)  # the penalised bias
    norm = sum(v * v for v in w) + extra * sum(weights)
    primal = low = Fraction(0)
    for i, row in enumerate(x):
        f = sum(a * b for a, b in zip(w, row, strict=True)) + extra + (Fraction(float(mu[0])) if len(mu) else 0)
        t, ridge = Fraction(float(y[i])), Fraction(float(dual.ridge[i]))
        over = t * (t - f) if epsilon is None else abs(t - f) - Fraction(epsilon)
        if ridge:
            primal += max(over, Fraction(0)) ** 2 / (2 * ridge)
        low += t * weights[i] - Fraction(epsilon or 0.0) * abs(weights[i]) - ridge * weights[i] ** 2 / 2
    return primal + norm / 2 - (low - norm / 2)


@drawn(bias=BIASES, epsilon=EPSILONS)
def test_the_gap_is_primal_minus_dual(seed, bias, epsilon):
    X, y, dual, beta, rng = program(seed, bias, epsilon)
    mu = np.round(rng.normal(size=len(dual.totals)) / BITS) * BITS
    g = (X @ X.T + dual.lambda2) @ beta - dual.t + dual.ridge * beta  # exact
    true = exact(X, y, dual, beta, mu, epsilon)
    found = duality_gap(dual, beta, g, mu)
    assert Fraction(found) >= true * (1 - Fraction(1, 2**60)) - Fraction(1, 10**300)
    assert found <= float(true) * (1.0 + 1e-13) + 1e-300


@drawn(bias=BIASES, epsilon=EPSILONS, size=(1e-9, 0.02, 2.0))
def test_errors_widen_the_gap_to_that_of_any_gradient_within_them(seed, bias, epsilon, size):
    X, _, dual, beta, rng = program(seed, bias, epsilon)
    g, mu = (X @ X.T + dual.lambda2) @ beta - dual.t + dual.ridge * beta, rng.normal(size=len(dual.totals))
    errors = size * rng.random(len(g))
    wide, before = duality_gap(dual, beta, g, mu, errors), duality_gap(dual, beta, g, mu)
    assert wide >= before
    assert duality_gap(dual, beta, g, mu, 2.0 * errors) >= wide
    for _ in range(5):
        assert duality_gap(dual, beta, g + errors * rng.choice([-1.0, 0.3, 1.0], len(g)), mu) <= wide


@drawn(bias=BIASES, epsilon=EPSILONS, scale=(1e-6, 1.0, 1e6))
def test_a_certificate_bounds_what_long_doubles_say(seed, bias, epsilon, scale):
    X, y, dual, beta, _ = program(seed, bias, epsilon)
    X = scale * X
    g = np.zeros(len(beta))
    proof = certify(view_of(X, Linear()), Exact(dual), beta, g, np.full(len(beta), 1e300))
    near = X.astype(L)
    slope = near @ (near.T @ beta.astype(L)) + L(dual.lambda2) * beta.sum() - dual.t + dual.ridge.astype(L) * beta
    np.testing.assert_allclose(g, slope.astype(float), atol=1e-12 * (1.0 + np.abs(near @ near.T) @ np.abs(beta)).max())
    mu = best_multipliers(dual, beta, g)  # infinite for one class
    true = float(exact(X, y, dual, beta, mu, epsilon)) if np.isfinite(mu).all() else 0.0
    low = float(-0.5 * beta @ (slope - dual.t) - dual.epsilon * np.abs(beta).sum())
    assert proof.gap >= true * (1.0 - 1e-12)
    assert abs(proof.dual - low) <= proof.doubt + 1e-12 * abs(low)
    assert proof.primal >= low + true - 1e-12 * abs(low)
