"""Fits that once went on and on: each ends, and says how."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning

from adatron import SVC, SVR
from adatron.kernels import Polynomial
from problems import nusvr, solve, view_of


def inseparable(name):
    """Samples that no plane separates, and parameters."""
    rng = np.random.default_rng(0)
    if name == "one sample twice":
        return np.ones((2, 1)), [0, 1], {}
    if name == "three on a line":
        return np.array([[1.0], [2.0], [3.0]]), [0, 1, 0], {"kernel": "linear"}
    if name == "rank 3":
        A = rng.normal(size=(40, 3))
        return A @ A.T, rng.integers(0, 2, 40), {"kernel": "precomputed"}
    if name == "seventy on a line":
        return rng.normal(size=(70, 1)), rng.integers(0, 2, 70), {"kernel": "linear"}
    if name == "sigmoid":
        return rng.normal(size=(70, 3)), rng.integers(0, 2, 70), {"kernel": "sigmoid", "gamma": 1e-5, "coef0": 1.0}
    X, y = make_classification(4000, 10, n_informative=5, n_redundant=0, flip_y=0.1, random_state=0)
    if name == "linear":
        return X, y, {"kernel": "linear"}
    return np.vstack([X, X[:3]]), np.append(y, 1 - y[:3]), {}


@pytest.mark.slow
@pytest.mark.parametrize("bias", ["explicit", "none", "augmented"])
@pytest.mark.parametrize(
    "name",
    ["one sample twice", "three on a line", "rank 3", "seventy on a line", "sigmoid", "linear", "three samples twice"],
)
def test_a_hard_margin_without_a_separator_says_so(name, bias):
    X, y, parameters = inseparable(name)
    with pytest.warns(ConvergenceWarning, match="no decision function of this kernel fits all"):
        model = SVC(C=np.inf, bias=bias, max_iter=60_000, **parameters).fit(X, y)
    assert model.duality_gap_ == np.inf or name == "sigmoid"


@pytest.mark.parametrize("bias", ["explicit", "none", "augmented"])
def test_targets_that_fit_into_no_tube(bias):
    X, y = np.ones((6, 2)), np.array([0.0, 1.0, 0.0, 1.0, 0.5, 0.2])
    with pytest.warns(ConvergenceWarning, match="no decision function of this kernel fits all"):
        SVR(C=np.inf, epsilon=0.1, bias=bias, max_iter=10_000).fit(X, y)
    assert SVR(C=np.inf, epsilon=0.6, bias=bias).fit(X, y).fit_status_ == 0


@pytest.mark.slow
@pytest.mark.parametrize("bias", ["explicit", "none", "augmented"])
def test_a_margin_that_float64_resolves_is_found(bias):
    """Its squared norm times the largest kernel value is 1e10; float32 tells nothing of it."""
    X, y = make_classification(1500, 20, n_informative=10, n_redundant=0, flip_y=0.1, random_state=0)
    model = SVC(C=np.inf, gamma=1e-4, bias=bias).fit(X, y)
    assert model.fit_status_ == 0
    assert (model.predict(X) == y).all()
    assert np.abs(model.dual_coef_).sum() > 1e9


@pytest.mark.parametrize("scale", [1.0, 1e12])
def test_large_targets_without_bounds_are_no_divergence(scale):
    X = np.random.default_rng(0).normal(size=(60, 2))
    model = SVR(C=np.inf, epsilon=0.1 * scale, tol=1e-3 * scale).fit(X, scale * np.sin(X[:, 0]))
    assert model.fit_status_ == 0


@pytest.mark.slow
@pytest.mark.parametrize("kind", [SVC, SVR])
@pytest.mark.parametrize("bias", ["none", "augmented"])
@pytest.mark.parametrize(("C", "gamma"), [(1e5, 1e-5), (1e4, 1e-4)])
def test_a_nearly_constant_kernel_takes_no_more_updates_than_with_an_explicit_bias(kind, bias, C, gamma):
    X, y = make_classification(2000, 6, n_informative=5, n_redundant=0, flip_y=0.3, random_state=0)
    y = y if kind is SVC else y + 0.1 * X[:, 0]
    steps = []
    for form in ("explicit", bias):
        model = kind(C=C, gamma=gamma, bias=form, max_iter=200_000).fit(X, y)
        assert model.fit_status_ == 0
        steps.append(int(np.max(model.n_iter_)))
    assert steps[1] <= 2 * steps[0]


@pytest.mark.parametrize("storage", [sparse.csr_matrix, sparse.csr_matrix.toarray])
def test_a_large_constant_feature_does_not_hide_the_others(storage):
    """Float32 products of a million and a few say nothing of the few; CSR rows are not centred."""
    X = sparse.random(5000, 1000, density=0.02, random_state=0, format="csr")
    y = np.asarray(X @ np.random.default_rng(0).normal(size=1000)) > 0
    X = sparse.hstack([X, np.full((5000, 1), 1e3)]).tocsr()
    model = SVC(kernel="linear", max_iter=200_000).fit(storage(X), y)
    assert model.fit_status_ == 0


@pytest.mark.parametrize("scale", [10.0, 1e3, 1e6])
def test_equal_samples_with_huge_kernel_values(scale):
    """The bars of the searches once vanished beside gradients of 1e60; the sum of the coefficients is fixed."""
    y = np.random.default_rng(0).normal(size=10)
    X = np.full((10, 1), scale)
    dual = nusvr(y, np.full(10, 300.0), 0.5, "none")
    found = solve(view_of(X, Polynomial(1.0, 5, 0.1), copies=2), dual, max_iter=5000, whole=100)
    assert found.status.name in ("CONVERGED", "STUCK")


@pytest.mark.slow
@pytest.mark.parametrize("kind", [SVC, SVR])
@pytest.mark.parametrize("bias", ["explicit", "none", "augmented"])
@pytest.mark.parametrize("C", [1.0, 1e4])
def test_kernel_values_beyond_all_resolution(kind, bias, C):
    """Cubes of thousands: the rounding of K is a million times what beta'K beta should be."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 3))
    y = X[:, 0] + 0.5 * rng.normal(size=3000)
    model = kind(kernel="poly", gamma=1.0, C=C, bias=bias, max_iter=300_000)
    with pytest.warns(ConvergenceWarning, match="no step makes progress"):
        model.fit(1e3 * X, y > 0 if kind is SVC else y)


@pytest.mark.parametrize("scale", [1e60, 1e100, 1e150])
def test_given_values_of_any_size_that_no_plane_separates(scale):
    """Blocks once went on for ever, and the ratio of two violations left the range of floats."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2500, 5))
    y = X[:, 0] + 0.5 * rng.normal(size=2500) > 0
    with pytest.warns(
        ConvergenceWarning, match=r"no step makes progress|too large for double precision|optimum may be 0"
    ):
        model = SVC(kernel="precomputed").fit(scale * (X @ X.T), y)
    assert model.n_iter_ < 64 * 2500


@pytest.mark.slow
@pytest.mark.parametrize("C", [1e60, 1e300])
@pytest.mark.parametrize("bias", ["explicit", "none", "augmented"])
def test_contradictory_samples_with_a_bound_beyond_all_resolution(C, bias):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1250, 5))
    y = X[:, 0] + 0.5 * rng.normal(size=1250) > 0
    with pytest.warns(ConvergenceWarning, match=r"no step makes progress|too large for double precision"):
        model = SVC(C=C, gamma=0.5, bias=bias).fit(np.vstack([X, X]), np.concatenate([y, ~y]))
    assert model.n_iter_ < 500 * 2500
