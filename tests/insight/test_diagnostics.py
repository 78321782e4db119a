"""The angle between two planes, and the balance of one, beside the same numbers from the weights of a linear kernel."""

import numpy as np
import pytest
from scipy import sparse

from adatron import SVC
from adatron.estimators import angle, balance, modified_margin


def clusters(seed=0):
    rng = np.random.default_rng(seed)
    X = np.concatenate([rng.uniform(-1, 1, (25, 2)), rng.uniform(1.5, 3.5, (25, 2))])
    return X, np.repeat([-1, 1], 25)


def linear(augment, X, y):
    return SVC(kernel="linear", C=np.inf, bias="augmented", augment=augment, tol=1e-6).fit(X, y)


def expected_angle(u, v):
    return np.degrees(np.arccos(u @ v / np.linalg.norm(u) / np.linalg.norm(v)))


def test_angle_is_that_of_the_weights():
    X, y = clusters()
    first, second = linear(0.5, X, y), linear(3.0, X, y)
    assert angle(first, second) == pytest.approx(expected_angle(first.coef_[0], second.coef_[0]), rel=1e-9)
    assert angle(first, first) == pytest.approx(0.0, abs=1e-5)
    assert angle(first, SVC(kernel="linear", C=np.inf).fit(X, -y)) > 90


def test_angle_of_sparse_and_curved_models():
    X, y = clusters()
    dense, thin = (SVC(gamma=0.5, C=C).fit(sparse.csr_matrix(X) if s else X, y) for C, s in ((10, False), (10, True)))
    assert angle(dense, dense) == pytest.approx(0.0, abs=1e-5)
    assert angle(thin, thin) == pytest.approx(0.0, abs=1e-5)
    assert 0 < angle(dense, SVC(gamma=0.5, C=0.1).fit(X, y)) < 90


@pytest.mark.parametrize("factor", [0.1, 1.0, 5.0])
def test_balance_is_that_of_the_weights(factor):
    X, y = clusters(1)
    model = linear(factor, X, y)
    values = X @ model.coef_[0]
    w = 2 * model.coef_[0] / (values[y > 0].min() - values[y < 0].max())
    found = balance(model)
    assert found.value == pytest.approx(factor**2 * (w @ w), rel=1e-3)
    assert found.holds == (found.value > 0.25)


def test_a_model_that_meets_the_condition_is_balanced():
    met = 0
    for seed in range(10):
        X, y = clusters(seed)
        for factor in (1.0, 3.0):
            model = linear(factor, X, y)
            values = model.decision_function(X)
            if balance(model).holds:
                met += 1
                assert values[y > 0].min() == pytest.approx(1.0, abs=1e-3)
                assert values[y < 0].max() == pytest.approx(-1.0, abs=1e-3)
    assert met > 5


@pytest.mark.parametrize("factor", [0.1, 1.0, 5.0])
def test_the_modified_margin_is_the_least_distance_of_augmented_samples(factor):
    X, y = clusters(2)
    model, found = linear(factor, X, y), modified_margin(linear(factor, X, y))
    normal = np.append(model.coef_[0], model.intercept_[0] / factor)
    distances = y * (np.column_stack([X, np.full(len(X), factor)]) @ normal) / np.linalg.norm(normal)
    assert found.modified == pytest.approx(distances.min(), rel=1e-5)
    assert found.margin == pytest.approx(1.0 / np.linalg.norm(model.coef_[0]), rel=1e-9)
    assert found.modified**2 == pytest.approx(found.margin**2 * found.cos2, rel=1e-12)


@pytest.mark.parametrize("c", [1.0, 2.5])
def test_parallel_planes_are_c_and_minus_1_at_the_support_vectors(c):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.uniform(-2, -1, (25, 2)), rng.uniform((9, -2), (10, -1), (25, 2))])
    y = np.repeat([-1, 1], 25)
    model = linear(1.0, X, y)
    values, found = model.decision_function(X), balance(model, X, y)
    assert found.c > 1.01
    assert not found.holds
    assert balance(linear(1.0, 0.25 * X, y), 0.25 * X, y).c == pytest.approx(1.0, abs=1e-3)
    assert found.parallel(values, c)[y > 0].min() == pytest.approx(c, rel=1e-9)
    assert found.parallel(values, c)[y < 0].max() == pytest.approx(-1.0, rel=1e-9)
    assert found.parallel(values, found.c) * found.negative == pytest.approx(values, rel=1e-9, abs=1e-12)


def test_balance_knows_the_factor_chosen_by_the_fit():
    X, y = clusters()
    chosen = balance(linear("auto", X, y))
    assert chosen.value == pytest.approx(balance(linear(np.sqrt((X**2).sum() / 50), X, y)).value, rel=1e-6)
