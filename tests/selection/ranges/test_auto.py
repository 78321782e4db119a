"""Ranges of parameters that follow from the data."""

import numpy as np
import pytest
from scipy import sparse
from sklearn import svm
from sklearn.datasets import make_classification, make_regression
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from adatron import SVC, SVR, NuSVC, NuSVR, OneClassSVM
from adatron.kernels import RBF
from adatron.selection import GridSearchCV

X, y = make_classification(80, 4, n_informative=3, n_redundant=0, random_state=0)
NUMBERS = make_regression(80, 4, noise=10.0, random_state=0)


def tried(search, name):
    return np.unique(np.asarray(search.cv_results_[f"param_{name}"], float))


def fitted(estimator, grid="auto", X=X, y=y, **more):
    return GridSearchCV(estimator, grid, cv=2, **more).fit(X, y)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix, np.ndarray.tolist])
def test_gamma_reaches_beyond_the_quantiles_of_the_distances(form):
    gammas = tried(fitted(SVC(), X=form(X)), "gamma")
    between = euclidean_distances(X, squared=True)[np.triu_indices(80, 1)]
    near, far = np.quantile(between, [0.1, 0.9])
    assert gammas[0] <= 1 / (2 * far)
    assert gammas[-1] >= 2 / near
    assert np.isclose(gammas, 1 / (4 * X.var()), rtol=1e-2).any()  # 'scale'
    assert 5 <= len(gammas) <= 16


def test_units_of_the_features_change_gamma_and_nothing_else():
    one, other = fitted(SVC()), fitted(SVC(), X=1000.0 * X)
    np.testing.assert_allclose(tried(one, "gamma"), 1e6 * tried(other, "gamma"), rtol=1e-2)
    np.testing.assert_array_equal(tried(one, "C"), tried(other, "C"))
    assert one.best_score_ == other.best_score_


def test_c_follows_the_scale_of_the_kernel():
    one, other = fitted(SVC(kernel="linear")), fitted(SVC(kernel="linear"), X=100.0 * X)
    np.testing.assert_allclose(tried(one, "C"), 1e4 * tried(other, "C"), rtol=1e-6)
    assert set(one.best_params_) == {"C"}


@pytest.mark.parametrize("kind", [SVR, NuSVR])
def test_a_regression_follows_the_scale_of_its_targets(kind):
    X, y = NUMBERS
    settings = {"gamma": 0.01} if kind is SVR else {"kernel": "linear", "max_iter": 10_000}
    one, other = fitted(kind(**settings), X=X, y=y), fitted(kind(**settings), X=X, y=1000.0 * y)
    np.testing.assert_allclose(1000.0 * tried(one, "C")[:5], tried(other, "C")[:5], rtol=1e-6)
    if kind is SVR:
        np.testing.assert_allclose(1000.0 * tried(one, "epsilon"), tried(other, "epsilon"), rtol=1e-6)
    assert one.best_score_ == pytest.approx(other.best_score_, abs=1e-3)


def test_nu_is_feasible():
    rare = np.r_[0:40, 60:70][np.argsort(y[np.r_[0:40, 60:70]])]
    few = rare[np.cumsum(y[rare] == 1) <= 8]
    search = fitted(NuSVC(), X=X[few], y=y[few])
    counts = np.bincount(y[few])
    assert tried(search, "nu")[-1] < 2 * counts.min() / counts.sum()
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert tried(fitted(OneClassSVM(), y=2 * y - 1, scoring="accuracy"), "nu")[0] <= 0.01


def test_parameters_in_a_pipeline():
    pipeline = make_pipeline(StandardScaler(), SVC())
    search = fitted(pipeline, X=X * [1.0, 1e3, 1e-3, 1.0])
    assert set(search.best_params_) == {"svc__C", "svc__gamma"}
    np.testing.assert_array_equal(
        tried(search, "svc__gamma"), tried(fitted(SVC(), X=StandardScaler().fit_transform(X)), "gamma")
    )


def test_a_range_beside_lists():
    search = fitted(SVC(), {"C": [1.0, 2.0], "gamma": "auto"})
    assert tried(search, "C").tolist() == [1.0, 2.0]
    assert len(tried(search, "gamma")) >= 5
    search = fitted(SVC(), [{"kernel": ["linear"], "C": "auto"}, {"C": [1.0], "gamma": "auto"}, {"C": [5.0]}])
    assert {len(one) for one in search.cv_results_["params"]} == {1, 2}


def settings(search):
    """What was tried, whatever the order."""
    return {tuple(sorted((name, str(value)) for name, value in one.items())) for one in search.cv_results_["params"]}


@pytest.mark.parametrize(
    ("estimator", "lists", "auto"),
    [
        (SVC(), {"kernel": ["rbf", "linear", "laplacian"]}, ["C", "gamma"]),
        (SVC(kernel="poly", gamma=1e-4), {"degree": [1, 4]}, ["C"]),
        (Pipeline([("scale", None), ("svc", SVC())]), {"scale": [StandardScaler(), "passthrough"]}, ["svc__gamma"]),
        (svm.NuSVC(gamma=0.1), {"class_weight": [None, "balanced"]}, ["nu"]),
        (Pipeline([("m", SVC())]), {"m": [SVC(gamma=1.0), SVC(kernel="linear")]}, ["m__C"]),
    ],
)
def test_the_order_of_a_list_changes_no_range(estimator, lists, auto):
    """Ranges follow from all values of a list that they depend on, not from its first one."""
    tried_ = []
    for order in (1, -1):
        grid = {name: values[::order] for name, values in lists.items()} | dict.fromkeys(auto, "auto")
        tried_.append(settings(fitted(estimator, grid, X=X * [1.0, 100.0, 1.0, 1.0])))
    assert tried_[0] == tried_[1]


def test_a_kernel_without_the_parameter_goes_without():
    params = fitted(SVC(), {"kernel": ["linear", "rbf"], "C": [1.0], "gamma": "auto"}).cv_results_["params"]
    assert [one for one in params if one["kernel"] == "linear"] == [{"kernel": "linear", "C": 1.0}]
    assert len(params) > 5


@pytest.mark.parametrize(
    ("estimator", "names"),
    [
        (SVC(kernel="laplacian"), {"C", "gamma"}),
        (SVC(kernel="poly"), {"C", "gamma"}),
        (SVC(kernel=RBF(0.1)), {"C"}),
        (SVC(kernel=lambda A, B: A @ B.T), {"C"}),
        (svm.SVC(), {"C", "gamma"}),
        (svm.NuSVC(kernel="linear"), {"nu"}),
    ],
)
def test_a_kernel_has_its_ranges(estimator, names):
    assert set(fitted(estimator).best_params_) == names


def test_given_kernel_values():
    K = X @ X.T
    search = fitted(SVC(kernel="precomputed"), X=K)
    np.testing.assert_array_equal(tried(search, "C"), tried(fitted(SVC(kernel="linear")), "C"))


def test_equal_samples_have_a_range():
    assert tried(fitted(SVC(), X=np.ones((80, 4))), "gamma").tolist() == [1.0]
