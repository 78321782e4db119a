"""Programs against their primal problems, as the textbooks print them: at the solution both have one value."""

import numpy as np
import pytest

from adatron.problems import ball, csvc, feasible_nu, nusvc, nusvr, oneclass, quantile, svr, with_targets
from twins import programs
from twins.primal import AUGMENT, BIASES, data, drawn, function, least, solved


@drawn(bias=BIASES)
def test_strong_duality_of_csvc(seed, bias):
    """|w|^2 / 2 + sum C_i max(0, 1 - y_i f(x_i))."""
    K, y, C, _ = data(seed)
    beta, value = solved(K, csvc(y, C, bias, AUGMENT))
    f, half = function(K, beta, bias)
    kinks = y - f if bias == "explicit" else [0.0]
    assert half + least(lambda b: C @ np.maximum(0.0, 1.0 - y * (f + b)), kinks) == pytest.approx(value, abs=1e-6)


def test_a_hard_margin_has_no_bound_on_the_side_of_the_label():
    dual = csvc(np.array([1.0, -1.0]), np.full(2, np.inf))
    assert dual.hard_margin
    np.testing.assert_array_equal([dual.lower, dual.upper], [[0.0, -np.inf], [np.inf, 0.0]])


@drawn(bias=BIASES, slack=("feature", "input"))
def test_strong_duality_of_input_margin(seed, bias, slack):
    """Sample i asks for y_i f(x_i) >= size_i."""
    K, y, C, _ = data(seed)
    size = np.random.default_rng(seed).uniform(0.2, 3.0, len(y))
    beta, value = solved(K, with_targets(csvc(y, C, bias, AUGMENT), size, slack))
    f, half = function(K, beta, bias)
    kinks = y * size - f if bias == "explicit" else [0.0]
    C = C / size if slack == "input" else C
    assert half + least(lambda b: C @ np.maximum(0.0, size - y * (f + b)), kinks) == pytest.approx(value, abs=1e-6)


def largest(y, w):
    """The largest nu that two classes have enough weight for."""
    return 2.0 * min(w[y > 0].sum(), w[y < 0].sum()) / w.sum()


@drawn(bias=BIASES, part=(0.2, 0.6, 0.95))
def test_strong_duality_of_nusvc(seed, bias, part):
    """|w|^2 / 2 + sum w_i max(0, rho - y_i f(x_i)) - rho nu W."""
    K, y, w, _ = data(seed)
    total = part * largest(y, w) * w.sum()
    beta, value = solved(K, nusvc(y, w, total / w.sum(), bias, AUGMENT))
    f, half = function(K, beta, bias)
    # With an explicit b each class has a threshold of its own, rho - b and rho + b.
    groups = (y > 0, y < 0) if bias == "explicit" else (y != 0,)
    loss = sum(
        least(lambda p, g=g: w[g] @ np.maximum(0.0, p - (y * f)[g]) - p * total / len(groups), (y * f)[g])
        for g in groups
    )
    assert half + loss == pytest.approx(value, abs=1e-6)


@drawn(bias=BIASES)
def test_several_problems_are_the_parts_of_one_program(seed, bias):
    K, y, w, _ = data(seed)
    order = np.concatenate([np.argsort(-y[:6], kind="stable"), 6 + np.argsort(-y[6:], kind="stable")])
    K, y, w = K[np.ix_(order, order)], y[order], w[order]
    y[6], y[11] = 1.0, -1.0
    first = np.array([0, 6])
    whole = nusvc(y, w, 0.3, bias, AUGMENT, first)
    parts = [nusvc(y[part], w[part], 0.3, bias, AUGMENT) for part in (slice(0, 6), slice(6, 12))]
    assert whole.totals == parts[0].totals + parts[1].totals
    together = np.concatenate([np.pad(programs.matrix(one), ((0, 0), ends))
                               for one, ends in zip(parts, ((0, 6), (6, 0)), strict=True)])  # fmt: skip
    np.testing.assert_array_equal(programs.matrix(whole), together)
    np.testing.assert_array_equal(whole.upper, np.concatenate([one.upper for one in parts]))
    np.testing.assert_array_equal(whole.lower, np.concatenate([one.lower for one in parts]))


@drawn(part=(0.5, 0.999, 1.001, 1.5))
def test_a_nu_is_feasible_if_both_classes_have_its_weight(seed, part):
    _, y, w, _ = data(seed)
    nu = part * largest(y, w)
    assert feasible_nu(1.0, 2.0, 2.0)  # all of both
    assert feasible_nu(nu, w[y > 0].sum(), w[y < 0].sum()) == (part < 1.0)
    capped = min(w[y > 0].sum(), w[y < 0].sum())
    wanted = min(0.5 * nu * w.sum(), capped)
    np.testing.assert_allclose(nusvc(y, w, nu).totals, [wanted, -wanted])


@drawn(bias=BIASES, epsilon=(0.0, 0.1, 0.5))
def test_strong_duality_of_svr(seed, bias, epsilon):
    """|w|^2 / 2 + sum C_i max(0, |y_i - f(x_i)| - epsilon)."""
    K, _, C, y = data(seed)
    beta, value = solved(K, svr(y, C, epsilon, bias, AUGMENT))
    f, half = function(K, beta, bias)
    kinks = np.concatenate([y - f - epsilon, y - f + epsilon]) if bias == "explicit" else [0.0]
    loss = least(lambda b: C @ np.maximum(0.0, np.abs(y - f - b) - epsilon), kinks)
    assert half + loss == pytest.approx(value, abs=1e-6)


@drawn(bias=BIASES, nu=(0.1, 0.4, 0.9))
def test_strong_duality_of_nusvr(seed, bias, nu):
    """|w|^2 / 2 + sum C_i max(0, |y_i - f(x_i)| - epsilon) + epsilon nu sum C."""
    K, _, C, y = data(seed)
    dual = nusvr(y, C, nu, bias, AUGMENT)
    both, value = solved(np.tile(K, (2, 2)), dual)
    beta = both[: len(y)] + both[len(y) :]
    f, half = function(K, beta, bias)
    rest, total = y - f, nu * C.sum()
    if bias == "explicit":  # the tube's upper and lower edge, epsilon + b and epsilon - b, are two variables
        above = least(lambda p: C @ np.maximum(0.0, rest - p) + 0.5 * total * p, rest)
        below = least(lambda q: C @ np.maximum(0.0, -rest - q) + 0.5 * total * q, -rest)
        loss = above + below
    else:
        sides = np.concatenate([rest, -rest])
        loss = least(lambda e: np.tile(C, 2) @ np.maximum(0.0, sides - e) + total * e, sides)
    assert half + loss == pytest.approx(value, abs=1e-6)


@drawn(bias=BIASES, tau=(0.05, 0.5, 0.8))
def test_strong_duality_of_quantile(seed, bias, tau):
    """|w|^2 / 2 and the pinball losses."""
    K, _, C, y = data(seed)
    beta, value = solved(K, quantile(y, (1.0 - tau) * C, tau * C, bias, AUGMENT))
    f, half = function(K, beta, bias)

    def loss(b):
        error = y - f - b
        return C @ np.maximum(tau * error, (tau - 1.0) * error)

    assert half + least(loss, y - f if bias == "explicit" else [0.0]) == pytest.approx(value, abs=1e-6)


@drawn(nu=(0.1, 0.5, 1.0))
def test_strong_duality_of_oneclass(seed, nu):
    """|w|^2 / 2 + sum w_i max(0, rho - f(x_i)) - rho nu W."""
    K, _, w, _ = data(seed)
    beta, value = solved(K, oneclass(w, nu))
    f = K @ beta
    loss = least(lambda rho: w @ np.maximum(0.0, rho - f) - rho * nu * w.sum(), f)
    assert 0.5 * beta @ f + loss == pytest.approx(value, abs=1e-6)


@drawn(C=(0.1, 0.3, np.inf), kernel=("rbf", "linear"))
def test_strong_duality_of_ball(seed, C, kernel):
    """R^2 + C sum max(0, |phi(x_i) - c|^2 - R^2)."""
    K, y, w, _ = data(seed)
    K = K if kernel == "rbf" else np.outer(w, w) + np.outer(y, y)
    beta, value = solved(K, ball(np.diagonal(K), C))
    squares = np.diagonal(K) - 2.0 * K @ beta + beta @ K @ beta  # of the distances from the centre
    if C >= 1.0:  # all points are inside
        assert squares.max() == pytest.approx(2.0 * value, abs=1e-6)
    else:
        loss = least(lambda square: square + C * np.maximum(0.0, squares - square).sum(), squares)
        assert loss == pytest.approx(2.0 * value, abs=1e-6)


@drawn(C=(0.2, 0.5, 2.0), kernel=("rbf", "linear"))
def test_negatives_are_to_lie_outside(seed, C, kernel):
    K, y, w, _ = data(seed)
    y[:6] = 1.0
    K = K if kernel == "rbf" else np.outer(w, w) + np.outer(y, y)
    beta, value = solved(K, ball(np.diagonal(K), C, y))
    squares = np.diagonal(K) - 2.0 * K @ beta + beta @ K @ beta
    loss = least(lambda square: square + C * np.maximum(0.0, y * (squares - square)).sum(), squares)
    assert loss == pytest.approx(2.0 * value, abs=1e-6)


def test_without_negatives_no_bound_above_one_has_an_effect():
    for C in (1.0, 5.0, np.inf):
        assert ball(np.ones(2), C, np.ones(2)).upper.tolist() == [1.0, 1.0]
