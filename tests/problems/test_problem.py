"""Targets far from zero are solved around their middle."""

import warnings

import numpy as np
import pytest

import adatron
from adatron import selection
from adatron.problems import EpsilonRegression

PROBLEM = EpsilonRegression(1.0, 0.1)
FAR = [2e3, 1e7, 1e9, -1e7, -1e9]


def samples(offset, n=200):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    return X, offset + 0.2 * np.sin(X[:, 0]) + 0.02 * rng.normal(size=n)


@pytest.mark.parametrize("offset", [*FAR, 3.0, 1e300, -1e-300])
def test_nothing_is_rounded_by_moving_the_targets(offset):
    y = offset * np.random.default_rng(0).uniform(1.0, 8.0 / 7.0, 100)
    middle = PROBLEM.middle(y)
    assert middle != 0.0
    exact = y.astype(np.longdouble) - np.longdouble(middle)
    assert ((y - middle).astype(np.longdouble) == exact).all()


def test_targets_around_zero_stay():
    for y in ([], [0.0], [-1.0, 2.0], [0.0, 5.0], [1.0, 2.5], [1.0, 1.2], [-2.5, -1.0]):
        assert PROBLEM.middle(np.array(y, np.float64)) == 0.0
    assert EpsilonRegression(1.0, 0.1, "none").middle(np.array([7.0, 8.0])) == 0.0


@pytest.mark.parametrize("offset", FAR)
@pytest.mark.parametrize("name", ["SVR", "NuSVR"])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_far_targets_converge_as_near_ones(name, kernel, offset):
    X, y = samples(offset)
    weight = np.random.default_rng(1).random(len(y)).astype(np.float32)
    own = {"epsilon": 0.01} if name == "SVR" else {}
    near, far = (getattr(adatron, name)(kernel=kernel, gap_tol=1e-6, **own) for _ in range(2))
    middle = PROBLEM.middle(y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        near.fit(X, y - middle, sample_weight=weight)
        far.fit(X.astype(np.float64), y, sample_weight=weight)
    for attribute in ("support_", "dual_coef_", "dual_objective_", "primal_objective_", "duality_gap_"):
        np.testing.assert_array_equal(getattr(far, attribute), getattr(near, attribute), attribute)
    np.testing.assert_array_equal(far.intercept_, near.intercept_ + middle)
    if name == "NuSVR":
        assert far.epsilon_ == near.epsilon_


@pytest.mark.parametrize("bias", ["augmented", "none"])
def test_a_penalised_bias_keeps_the_targets(bias):
    X, y = samples(2e3)
    model = adatron.SVR(bias=bias, C=100.0).fit(X, y)
    expected = model.dual_coef_.sum() if bias == "augmented" else 0.0
    np.testing.assert_allclose(model.intercept_, expected, rtol=1e-12)


def test_a_search_scores_far_targets_as_near_ones():
    X, y = samples(1e7)
    middle, grid = PROBLEM.middle(y), {"C": [0.1, 1.0]}
    found = [selection.GridSearchCV(adatron.SVR(epsilon=0.01), grid).fit(X, one) for one in (y, y - middle)]
    for name in ("mean_test_score", "std_test_score"):
        np.testing.assert_allclose(*(one.cv_results_[name] for one in found), rtol=1e-6)
