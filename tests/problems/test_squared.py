"""Errors that cost their square: strong duality with the textbook's primal problem, and weights of 0."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from adatron.problems import SquaredClassification, SquaredRegression, csvc, svr
from adatron.problems.problem import no_diagonal
from twins import programs
from twins.primal import AUGMENT, BIASES, data, drawn, function


def strong(K, dual, bias, loss):
    """Compare -D at the solution with the primal problem there, |w|^2 / 2 + loss(f + b), b the best one."""
    Q = K + np.diag(dual.ridge)
    beta = programs.solve(Q, dual, tol=1e-9)
    np.testing.assert_allclose(programs.matrix(dual) @ beta, dual.totals, atol=1e-9)
    f, half = function(K, beta, bias)
    best = minimize_scalar(lambda b: loss(f + b), tol=1e-12).fun if bias == "explicit" else loss(f)
    assert half + best == pytest.approx(-programs.objective(Q, dual, beta), rel=1e-6, abs=1e-6)


@drawn(bias=BIASES, C=(0.01, 1.0, 100.0))
def test_strong_duality_of_squared_classification(seed, bias, C):
    """|w|^2 / 2 + sum C_i max(0, 1 - y_i f(x_i))^2."""
    K, y, weight, _ = data(seed)
    weight[2:4] = 0.0
    dual = SquaredClassification(C, bias, AUGMENT).dual(y, weight, no_diagonal)
    strong(K, dual, bias, lambda f: C * weight @ np.maximum(0.0, 1.0 - y * f) ** 2)


@drawn(bias=BIASES, C=(0.01, 1.0, 100.0), epsilon=(0.0, 0.3))
def test_strong_duality_of_squared_regression(seed, bias, C, epsilon):
    """|w|^2 / 2 + sum C_i max(0, |y_i - f(x_i)| - epsilon)^2."""
    K, _, weight, y = data(seed)
    weight[2:4] = 0.0
    dual = SquaredRegression(C, epsilon, bias, AUGMENT).dual(y, weight, no_diagonal)
    strong(K, dual, bias, lambda f: C * weight @ np.maximum(0.0, np.abs(y - f) - epsilon) ** 2)


def test_samples_without_weight_keep_bounds_of_0_and_no_error_is_a_hard_margin():
    y, weight = np.array([1.0, -1.0, 1.0]), np.array([2.0, 0.5, 0.0])
    dual = SquaredClassification(4.0).dual(y, weight, no_diagonal)
    np.testing.assert_array_equal(dual.ridge, [0.0625, 0.25, 0.0])  # 1 / (2 C_i), and 0 where the bounds are 0
    np.testing.assert_array_equal([dual.lower, dual.upper], [[0.0, -np.inf, 0.0], [np.inf, 0.0, 0.0]])
    assert not dual.hard_margin
    part = dual.take(np.array([2, 0]))
    np.testing.assert_array_equal(part.ridge, [0.0, 0.0625])
    unlimited = np.where(weight > 0.0, np.inf, 0.0)
    for problem, plain in (
        (SquaredClassification(np.inf), csvc(y, unlimited)),
        (SquaredRegression(np.inf, 0.1), svr(y, unlimited, 0.1)),
    ):
        dual = problem.dual(y, weight, no_diagonal)
        assert dual.ridge is None
        np.testing.assert_array_equal([dual.lower, dual.upper], [plain.lower, plain.upper])
        assert problem.ends(y, weight) == (np.inf, np.inf)
