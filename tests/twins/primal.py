"""Strong duality, the test of a program: at its solution the textbook's primal problem has the value -D."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from adatron.kernels import RBF
from twins import programs

BIASES = ("explicit", "augmented", "none")
AUGMENT = 0.7


def drawn(**more):
    """The mark of a test of small random data: a seed, a form of the bias, and more."""
    strategies = {"seed": st.integers(0, 10**6), **{name: st.sampled_from(values) for name, values in more.items()}}
    return lambda test: settings(max_examples=15, deadline=None)(given(**strategies)(test))


def data(seed, n=12):
    """Kernel values, labels, weights and targets of a few samples."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    y = np.where(X[:, 0] + rng.normal(size=n) > 0, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    return RBF(0.7)(X), y, rng.uniform(0.5, 2.0, n), np.sin(2.0 * X[:, 0]) + 0.3 * rng.normal(size=n)


def solved(K, dual):
    """The solution of a program by the slow twin: beta and -D."""
    beta = programs.solve(K, dual, tol=1e-9)
    np.testing.assert_allclose(programs.matrix(dual) @ beta, dual.totals, atol=1e-9)
    return beta, -programs.objective(K, dual, beta)


def function(K, beta, bias):
    """The values of the function without an explicit bias, and its penalty, |w|^2 / 2 with the augmented bias in w."""
    b = AUGMENT**2 * beta.sum() if bias == "augmented" else 0.0
    return K @ beta + b, 0.5 * (beta @ K @ beta + (b / AUGMENT) ** 2)


def least(loss, kinks):
    """The least value of a convex, piecewise linear function of one number: it is at a kink."""
    return min(loss(kink) for kink in kinks)
