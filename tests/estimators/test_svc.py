"""SVC beside scikit-learn's: the same problem, attributes and conventions; and what only ours promises."""

import threading
import warnings

import numpy as np
import pytest
import sklearn.svm
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_iris, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

from adatron import SVC, estimators
from adatron.fitting.engine import _source
from adatron.kernels import RBF
from machines import spread


def test_the_lazy_module_lists_its_names():
    assert dir(estimators) == sorted(estimators.__all__)


def iris():
    X, y = load_iris(return_X_y=True)
    return X, np.array(["setosa", "versicolor", "virginica"])[y]


def two_classes(n=300, d=6):
    X, y = make_classification(n, d, flip_y=0.1, random_state=0)
    return X, y


def dual_value(model, K):
    """Dual objective of a binary model from its coefficients."""
    (beta,) = spread(model, len(K))
    return np.abs(beta).sum() - 0.5 * beta @ K @ beta


CASES = [
    {},
    {"kernel": "linear", "C": 0.5},
    {"kernel": "poly", "coef0": 1.0, "degree": 2},
    {"gamma": "auto", "C": 30.0},
    {"gamma": 0.3, "class_weight": "balanced"},
    {"gamma": 0.3, "kernel": lambda A, B: np.exp(-0.3 * ((A[:, None] - B[None]) ** 2).sum(-1))},
]


@pytest.mark.parametrize("parameters", CASES, ids=lambda case: "-".join(case) or "defaults")
@pytest.mark.parametrize("data", [iris, two_classes])
def test_the_same_model_as_scikit_learn(data, parameters):
    X, y = data()
    X = StandardScaler().fit_transform(X)
    ours, theirs = (kind(**{"tol": 1e-7, **parameters}).fit(X, y) for kind in (SVC, sklearn.svm.SVC))
    values = {"decision_function_shape": "ovo"}
    a, b = ours.set_params(**values).decision_function(X), theirs.set_params(**values).decision_function(X)
    np.testing.assert_allclose(a, b, atol=1e-3)
    np.testing.assert_array_equal(ours.classes_, theirs.classes_)
    assert (ours.predict(X) == theirs.predict(X)).mean() > 0.99
    for name in ("dual_coef_", "support_", "intercept_", "n_support_", "n_iter_", "class_weight_"):
        mine, other = getattr(ours, name), getattr(theirs, name)
        assert mine.dtype == other.dtype, name
        assert mine.ndim == other.ndim, name
    np.testing.assert_array_equal(ours.support_vectors_, X[ours.support_])
    assert ours.shape_fit_ == theirs.shape_fit_
    assert ours.fit_status_ == 0
    if data is two_classes and "kernel" not in parameters and "class_weight" not in parameters:
        K = RBF(ours._gamma)(X)
        assert dual_value(ours, K) == pytest.approx(dual_value(theirs, K), rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("density", [0.05, 0.5])
def test_dense_rows_of_zeros_are_dense_to_the_outside(density):
    """Inside they are CSR rows, which nobody sees: not in the model, not in the certificate."""
    rng = np.random.default_rng(0)
    X = rng.random((1500, 120)) * (rng.random((1500, 120)) < density)
    y = X @ rng.normal(size=120) + rng.normal(size=1500) > 0
    dense, csr = (SVC().fit(data, y) for data in (X, sparse.csr_matrix(X)))
    assert isinstance(dense.support_vectors_, np.ndarray)
    assert dense.duality_gap_ <= 1e-2
    assert abs(dense.dual_objective_ - csr.dual_objective_) <= 1e-4 * csr.dual_objective_
    assert np.array_equal(dense.dual_coef_, csr.dual_coef_.toarray()) == (density == 0.05)
    np.testing.assert_allclose(dense.decision_function(X), csr.decision_function(X), rtol=0, atol=1e-2)


def test_a_large_feature_that_hardly_varies_keeps_rows_dense():
    """Only centred rows leave float32 enough to tell samples apart."""
    rng = np.random.default_rng(0)
    X = rng.random((1500, 120)) * (rng.random((1500, 120)) < 0.05)
    for offset, storage in ((0.0, sparse.csr_array), (1e6, np.ndarray)):
        X[:, 0] = offset + rng.random(1500)
        assert isinstance(_source(X, np.arange(1500), RBF(0.1), as_given=False).X, storage)


@pytest.mark.parametrize("bias", ["augmented", "none"])
def test_other_forms_of_the_bias(bias):
    X, y = two_classes()
    model = SVC(bias=bias, augment=2.0, gamma=0.2, tol=1e-8).fit(X, y)
    K = RBF(0.2)(X) + (4.0 if bias == "augmented" else 0.0)
    (beta,) = spread(model, len(y))
    assert model.intercept_[0] == pytest.approx(4.0 * beta.sum() if bias == "augmented" else 0.0, abs=1e-9)
    free = (beta != 0) & (np.abs(beta) < 1)
    np.testing.assert_allclose((K @ beta)[free], np.where(y == 1, 1.0, -1.0)[free], atol=1e-6)


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10**6), n=st.integers(6, 60), classes=st.integers(2, 4), gamma=st.sampled_from([0.5, "scale"])
)
def test_the_order_of_the_rows_does_not_matter(seed, n, classes, gamma):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, 3)).round(1), rng.permutation(np.arange(n) % classes)
    perm = rng.permutation(n)
    model, shuffled = SVC(gamma=gamma).fit(X, y), SVC(gamma=gamma).fit(X[perm], y[perm])
    # equal samples may change places: compare the coefficients of each set of equal samples in increasing order
    same = np.unique(np.c_[X, y], axis=0, return_inverse=True)[1].ravel()  # NumPy 2.0.0 gives a column
    for a, b in zip(spread(model, n)[:, perm], spread(shuffled, n), strict=True):
        np.testing.assert_array_equal(a[np.lexsort((a, same[perm]))], b[np.lexsort((b, same[perm]))])
    np.testing.assert_array_equal(model.intercept_, shuffled.intercept_)
    np.testing.assert_array_equal(model.duality_gap_, shuffled.duality_gap_)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "classes", "multi_class"),
    [(2600, 2, "ovo"), (2600, 4, "ovr"), (5200, 4, "ovo"), (2000, 4, "ovo")],  # the last: each pair is one block
)
def test_threads_and_stored_rows_do_not_change_a_bit(n, classes, multi_class):
    X, y = make_classification(n, 200, n_informative=20, n_classes=classes, class_sep=2.0, random_state=1)
    fits = [
        SVC(n_jobs=jobs, cache_size=size, multi_class=multi_class).fit(X, y)
        for jobs, size in ((1, 500), (2, 500), (4, 500), (4, 40))
    ]
    for name in ("support_", "dual_coef_", "intercept_", "duality_gap_", "primal_objective_", "n_iter_"):
        for other in fits[1:]:
            np.testing.assert_array_equal(getattr(fits[0], name), getattr(other, name))
    assert fits[0].fit_status_ == 0


def test_a_factor_from_the_data_is_that_of_their_numbers():
    X, y = two_classes()
    dense, csr = (SVC(bias="augmented", augment="auto").fit(form(X), y) for form in (np.asarray, sparse.csr_matrix))
    assert csr.intercept_ == pytest.approx(dense.intercept_, abs=1e-3)


def test_fits_say_once_that_a_kernel_is_not_semidefinite():
    X, y = two_classes(200)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("default")
        for C in (0.5, 1.0, 2.0):
            SVC(kernel="sigmoid", gamma=1.0, C=C).fit(X, y)
            SVC(kernel="sigmoid", gamma=1.0, C=C).fit(X, y + 2 * (X[:, 0] > 0))
    assert len(told) == 2  # one for each line
    assert str(told[0].message).startswith("Not certified: the kernel is not positive")
    assert "K.T" not in str(told[0].message)  # nobody gave a matrix


def test_more_memory_than_there_is():
    assert SVC(cache_size=1e308).fit(*two_classes()).fit_status_ == 0


def test_a_callback_stops():
    X, y = make_classification(4000, 20, flip_y=0.3, random_state=0)
    seen = []

    def callback(state):
        seen.append((threading.current_thread() is threading.main_thread(), state.n_iter, state.duality_gap))
        return len(seen) == 2

    with pytest.warns(ConvergenceWarning, match="callback"):
        SVC(C=1e4, callback=callback).fit(X, y)
    assert len(seen) == 2
    assert all(main for main, _, _ in seen)


def test_callbacks_of_many_problems_run_on_the_main_thread():
    X, y = make_classification(5000, 30, n_informative=10, n_classes=4, flip_y=0.3, random_state=0)
    seen = set()

    def callback(state):
        seen.add((threading.current_thread() is threading.main_thread(), state.problem, state.n_problems))

    SVC(C=100, max_iter=20000, callback=callback, n_jobs=3, tol=0.05).fit(X, y)
    assert seen
    assert all(main and n == 6 for main, _, n in seen)


@pytest.mark.parametrize("centre", [0.0, 1000.0, 1987.0])
@pytest.mark.parametrize("parameters", [{"kernel": "linear"}, {"kernel": "poly", "degree": 2, "coef0": 1.0}], ids=str)
def test_columns_that_nobody_scaled_are_no_proof_against_the_kernel(parameters, centre):
    """The rounding of large float32 kernel values is no negative curvature."""
    rng = np.random.default_rng(0)
    X = rng.normal((centre, 0.0), size=(1500, 2))
    y = (X[:, 0] + 0.3 * rng.normal(size=1500) > centre).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = SVC(**parameters).fit(X, y)
    assert model.fit_status_ == 0
    assert model.kkt_violation_ <= model.tol
    assert 0.0 <= model.duality_gap_ < 1e-3


@pytest.mark.plain
def test_a_whole_fit(rng):
    X = rng.normal(size=(30, 2))
    y = (X[:, 0] > 0).astype(int)
    model = SVC(gamma=0.5).fit(X, y)
    assert model.kkt_violation_ <= model.tol
    assert (model.predict(X) == y).mean() > 0.9
