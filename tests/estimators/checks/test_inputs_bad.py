"""Bad input is one clear sentence; hard input never a false 'converged'."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from adatron import SVC, NuSVC
from adatron.kernels import RBF, Linear

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
y = (X[:, 0] + 0.3 * rng.normal(size=60) > 0).astype(int)
HOLE = X.copy()
HOLE[3, 1] = np.nan
ENDLESS = X.copy()
ENDLESS[3, 1] = np.inf


def test_more_memory_than_there_is():
    assert SVC(cache_size=1e308).fit(X, y).fit_status_ == 0


def proven(model, K, labels, C):
    """KKT violation of the model, recomputed dense in float64."""
    beta = np.zeros(len(K))
    beta[model.support_] = model.dual_coef_[0]
    t = np.where(labels == model.classes_[1], 1.0, -1.0)
    g = K @ beta - t
    upper, lower = np.maximum(t * C, 0), np.minimum(t * C, 0)
    near = 1e-12 * C  # shares of merged rows may miss a bound by a rounding
    rounding = 1e-13 * np.abs(beta).sum() * np.abs(K).max()
    return max(0, (-g[beta < upper - near]).max() + g[beta > lower + near].max()) - rounding


def assert_honest(features, labels, K, **parameters):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = SVC(max_iter=300_000, **parameters).fit(features, labels)
    warned = any(issubclass(w.category, ConvergenceWarning) for w in caught)
    assert warned == (model.fit_status_ != 0)
    assert np.isfinite(model.dual_coef_).all()
    assert np.isfinite(model.decision_function(features)).all()
    if model.fit_status_ == 0:
        assert proven(model, K, labels, parameters.get("C", 1.0)) <= model.tol * (1 + 1e-6)
    return model


@pytest.mark.parametrize("scale", [1e-12, 1e-6, 1e6, 1e12])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_any_scale(kernel, scale):
    Z = X * scale
    assert_honest(Z, y, RBF(1.0)(Z) if kernel == "rbf" else Linear()(Z), kernel=kernel, gamma=1.0)


@pytest.mark.parametrize("scale", [1e-12, 1e-3, 1e3, 1e12])
def test_one_feature_of_another_scale(scale):
    Z = X * np.array([scale, 1, 1])
    assert_honest(Z, y, Linear()(Z), kernel="linear", C=10.0)


@pytest.mark.parametrize("C", [1e-8, 1e-3, 1e3, 1e8])
def test_any_C(C):
    assert_honest(X, y, RBF(0.5)(X), C=C, gamma=0.5)


def test_two_samples_and_constant_features():
    for Z in (np.array([[0.0], [1.0]]), np.zeros((2, 1))):
        model = assert_honest(Z, np.array([0, 1]), RBF(1.0)(Z), gamma=1.0)
        assert model.fit_status_ == 0
    assert_honest(np.full((60, 2), 3.0), y, np.ones((60, 60)), gamma=1.0)
    assert SVC().fit(np.full((60, 2), 3.0), y).fit_status_ == 0  # gamma='scale' of no variance


def test_equal_rows_with_opposite_labels():
    Z, labels = np.repeat(X[:20], 2, axis=0), np.tile([0, 1], 20)
    assert_honest(Z, labels, RBF(0.5)(Z), gamma=0.5)
    with pytest.warns(ConvergenceWarning, match="no decision function of this kernel fits all"):
        model = SVC(C=np.inf, gamma=0.5, max_iter=10**6).fit(Z, labels)
    assert model.fit_status_ == 1


def test_kernels_that_are_not_semidefinite():
    A = rng.normal(size=(60, 60))
    with pytest.warns(
        ConvergenceWarning, match="Not certified: .*not positive semi-definite.*, and .K . K.T. / 2 of the given"
    ):
        model = SVC(kernel="precomputed", max_iter=10**5).fit(A + A.T, y)
    assert np.isnan(model.duality_gap_)
    with pytest.warns(ConvergenceWarning):
        assert SVC(kernel="sigmoid", gamma=2.0, coef0=1.0, max_iter=10**5).fit(X, y).fit_status_ == 1


def test_nu_below_every_margin():
    """scikit-learn's fit ends with an error, or with coefficients that are rounding errors divided by a margin of 0."""
    alike = np.ones((60, 2))
    with pytest.warns(ConvergenceWarning, match="have no margin: nu = 0.2 is less than"):
        model = NuSVC(kernel="linear", nu=0.2).fit(alike, y)
    assert np.abs(model.dual_coef_).max() <= 1
    assert np.abs(model.decision_function(alike)).max() <= model.tol
