"""Quantile regression: the optimum, what it means, its forms of input, and several curves at once."""

import numpy as np
import pytest
from sklearn.metrics import d2_pinball_score

from adatron import QuantileSVR
from adatron.kernels import RBF
from adatron.problems import quantile
from adatron.selection import GridSearchCV
from machines import spread
from twins import programs

QUANTILES = (0.05, 0.3, 0.5, 0.9)
SEVERAL = [0.9, 0.1, 0.5]


def waves(n=150, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3.0, 3.0, (n, 2))
    return X, np.sin(X[:, 0]) + (0.2 + 0.1 * np.abs(X[:, 0])) * rng.normal(size=n)


@pytest.mark.parametrize("tau", QUANTILES)
@pytest.mark.parametrize("bias", ["explicit", "augmented", "none"])
def test_the_optimum_is_that_of_a_dense_program(tau, bias):
    X, y = waves(60)
    weight = np.random.default_rng(1).uniform(0.5, 2.0, len(y))
    model = QuantileSVR(quantile=tau, C=3.0, gamma=0.5, bias=bias, tol=1e-6, gap_tol=1e-8).fit(X, y, weight)
    C = 3.0 * weight
    dual, K = quantile(y, (1.0 - tau) * C, tau * C, bias), RBF(0.5)(X)
    best = programs.objective(K, dual, programs.solve(K, dual, tol=1e-10))
    assert model.dual_objective_ == pytest.approx(-best, rel=1e-6)
    assert model.dual_objective_ <= -best * (1.0 + 1e-9)
    assert -best <= model.primal_objective_ * (1.0 + 1e-9)
    assert model.kkt_violation_ <= 1e-6
    assert dual.contains(spread(model, len(y))[0])


@pytest.mark.parametrize("tau", QUANTILES)
@pytest.mark.parametrize("weighted", [False, True])
def test_at_most_the_quantile_is_below_and_at_most_the_rest_above(tau, weighted):
    X, y = waves()
    weight = np.random.default_rng(2).uniform(0.2, 3.0, len(y)) if weighted else np.ones(len(y))
    model = QuantileSVR(quantile=tau, C=2.0, tol=1e-5).fit(X, y, weight)
    error = y - model.predict(X)
    assert weight[error < -1e-4].sum() <= tau * weight.sum()
    assert weight[error > 1e-4].sum() <= (1.0 - tau) * weight.sum()


@pytest.mark.parametrize("bias", ["explicit", "augmented", "none"])
def test_each_of_several_curves_has_the_bits_of_a_fit_of_its_own(bias):
    X, y = waves()
    X, y = np.vstack([X, X[:40]]), np.concatenate([y, y[:40]])  # equal samples are merged
    several = QuantileSVR(quantile=SEVERAL, C=5.0, bias=bias).fit(X, y)
    assert several.predict(X).shape == (len(y), 3)
    for number, tau in enumerate(SEVERAL):
        alone = QuantileSVR(quantile=tau, C=5.0, bias=bias).fit(X, y)
        np.testing.assert_array_equal(spread(several, len(y))[number], spread(alone, len(y))[0])
        assert several.intercept_[number] == alone.intercept_[0]
        for name in ("duality_gap_", "kkt_violation_", "dual_objective_", "primal_objective_", "n_iter_"):
            assert getattr(several, name)[number] == getattr(alone, name)
        np.testing.assert_allclose(several.predict(X)[:, number], alone.predict(X), atol=1e-10)
        assert spread(alone, len(y)).max() <= tau * 5.0
        assert spread(alone, len(y)).min() >= -(1.0 - tau) * 5.0


def test_curves_share_the_values_of_a_function():
    X, y = waves()
    calls = []

    def kernel(a, b):
        calls.append(len(a) * len(b))
        return RBF(0.5)(a, b)

    def asked(**parameters):
        calls.clear()
        QuantileSVR(kernel=kernel, **parameters).fit(X, y)
        return sum(calls)

    one, two, three = (asked(quantile=levels) for levels in ([0.5], [0.1, 0.9], [0.1, 0.5, 0.9]))
    assert three - two < one / 2  # two of them are also predicted, to count where they cross


def test_curves_that_cross_are_counted_and_sorted():
    rng = np.random.default_rng(0)
    X, y = rng.uniform(size=(60, 1)), rng.normal(size=60)
    model = QuantileSVR(quantile=[0.6, 0.4, 0.5], C=1e3, gamma=100.0)
    with pytest.warns(UserWarning, match=r"cross at \d+ of 60 training samples\. rearrange=True"):
        model.fit(X, y)
    plain = model.predict(X)
    falls = np.diff(plain[:, [1, 2, 0]], axis=1) < -model.tol
    assert model.n_crossed_ == np.count_nonzero(falls.any(axis=1)) > 0
    model.set_params(rearrange=True)
    ordered = model.predict(X)
    np.testing.assert_array_equal(np.sort(plain, axis=1), ordered[:, [1, 2, 0]])
    assert model.fit(X, y).n_crossed_ > 0  # and no warning, which would be an error here
    assert model.score(X, y) == pytest.approx(
        np.mean([d2_pinball_score(y, one, alpha=tau) for tau, one in zip(model.quantile, ordered.T, strict=True)])
    )
    model.set_params(quantile=[0.1, 0.9])
    with pytest.raises(ValueError, match="The model has 3 curves"):
        model.predict(X)


def test_one_quantile_crosses_nothing_and_a_list_of_one_is_a_column():
    X, y = waves()
    assert QuantileSVR().fit(X, y).n_crossed_ == 0
    model = QuantileSVR(quantile=[0.3]).fit(X, y)
    assert model.predict(X).shape == (len(y), 1)
    assert model.n_crossed_ == 0
    assert model.kkt_violation_.shape == (1,)
    assert model.score(X, y) == pytest.approx(QuantileSVR(quantile=0.3).fit(X, y).score(X, y))


def test_a_callback_hears_of_each_curve_and_ends_all_of_them():
    X, y = waves()
    seen = []
    QuantileSVR(quantile=SEVERAL, callback=seen.append).fit(X, y)
    assert sorted({one.problem for one in seen}) == [0, 1, 2]
    assert {one.n_problems for one in seen} == {3}
    assert seen[-1].n_finished == 3
    with pytest.warns(UserWarning, match="asked to stop"):
        model = QuantileSVR(quantile=SEVERAL, solver="smo", callback=lambda _: True, rearrange=True).fit(X, y)
    assert model.fit_status_ == 1


@pytest.mark.slow
def test_a_search_shares_rows_and_has_the_scores_of_single_fits():
    X, y = waves()
    grid = {"C": [0.1, 1.0, 10.0], "gamma": [0.1, 1.0], "quantile": [0.2, 0.7]}
    search = GridSearchCV(QuantileSVR(tol=1e-6), grid, cv=3, refit=False).fit(X, y)
    assert "converged" in search.cv_results_  # so the fits were shared
    folds = [(np.setdiff1d(np.arange(150), test), test) for test in np.split(np.arange(150), 3)]
    for number, params in enumerate(search.cv_results_["params"]):
        for fold, (train, test) in enumerate(folds):
            alone = QuantileSVR(tol=1e-6, **params).fit(X[train], y[train])
            expected = d2_pinball_score(y[test], alone.predict(X[test]), alpha=params["quantile"])
            assert search.cv_results_[f"split{fold}_test_score"][number] == pytest.approx(expected, abs=1e-4)
    several = GridSearchCV(QuantileSVR(quantile=[0.2, 0.7]), {"C": [1.0, 10.0]}, cv=3).fit(X, y)
    assert several.predict(X).shape == (150, 2)
