"""Degenerate problems of the five estimators: finite models or scikit-learn's error, and never a hang."""

import warnings

import numpy as np
import pytest
import sklearn.svm
from scipy import sparse
from scipy.optimize import linprog
from sklearn.exceptions import ConvergenceWarning

from adatron import SVC, SVR, NuSVC, NuSVR, OneClassSVM
from covering import parametrized

KERNELS = ["rbf", "linear", "poly"]
NUS = [1e-9, 0.1, 0.5, 1.0]
BIASES = ["explicit", "augmented", "none"]


def attempt(model, X, y=None, weight=None):
    """The fitted model, certified and finite; or None where scikit-learn's error was raised, or there is no margin."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        try:
            model.set_params(max_time=20.0).fit(X, y, sample_weight=weight)
        except ValueError as error:
            if not str(error).startswith(("The dual coefficients or intercepts are not finite", "specified nu is inf")):
                raise
            return None
        except ConvergenceWarning as warning:
            if "have no margin" not in str(warning):
                raise
            return None
    values = model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)
    assert np.isfinite(values).all()
    assert np.max(model.kkt_violation_) <= model.tol
    size = X.shape[0] if hasattr(X, "shape") else len(X)
    size *= 1.0 if y is None else 1.0 + np.abs(y).max()
    zero = np.abs(model.primal_objective_) <= 1e-9 * size  # an optimum of 0 has no relative gap
    assert (np.isfinite(model.duality_gap_) | zero).all()
    return model


@pytest.mark.slow
@parametrized(n=[2, 7, 60, 1200], kernel=KERNELS, nu=NUS, bias=BIASES)
def test_equal_points_with_opposite_labels(n, kernel, nu, bias):
    """No margin: rho is 0, and LIBSVM divides by it."""
    X, y = np.ones((n, 2)), np.arange(n) % 2
    model = NuSVC(nu=nu, kernel=kernel, bias=bias, tol=1e-3 * nu)
    assert attempt(model, X, y, np.where(y, 1.0, y.sum() / (n - y.sum()))) is None
    half = np.vstack([X, np.random.default_rng(0).normal(size=(n, 2))])
    attempt(NuSVC(nu=nu, kernel=kernel, bias=bias), half, np.concatenate([y, 1 - y]))


def test_nu_below_every_margin():
    """scikit-learn's fit ends with an error, or with coefficients that are rounding errors divided by a margin of 0."""
    alike, y = np.ones((60, 2)), np.arange(60) % 2
    with pytest.warns(ConvergenceWarning, match="have no margin: nu = 0.2 is less than"):
        model = NuSVC(kernel="linear", nu=0.2).fit(alike, y)
    assert np.abs(model.dual_coef_).max() <= 1
    assert np.abs(model.decision_function(alike)).max() <= model.tol


@pytest.mark.filterwarnings("error::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("n", [2, 3, 20, 61])
@pytest.mark.parametrize("kernel", KERNELS)
def test_nu_at_its_end(kernel, n):
    """Every sample of the smaller class is at its bound, and rho any number from some one on: that one is taken.

    LIBSVM finds it, too, where rounding leaves one of these samples off its bound; else it has no finite intercept,
    or never ends.
    """
    X, y = np.random.default_rng(n).normal(size=(n, 2)), (np.arange(n) >= max(1, n // 3)).astype(int)
    nu = 2.0 * min(np.bincount(y)) / n
    model = attempt(NuSVC(nu=nu, kernel=kernel, tol=1e-8), X, y)
    if model is None:  # no margin: all of the smaller class balance a part of the other, w = 0
        assert kernel in ("linear", "poly")
        a, b = X.T
        features = X if kernel == "linear" else np.column_stack([a**3, a * a * b, a * b * b, b**3])
        few, many = sorted((features[y == 0], features[y == 1]), key=len)
        rows, sums = np.vstack([many.T, np.ones(len(many))]), np.append(few.sum(axis=0), len(few))
        assert linprog(np.zeros(len(many)), A_eq=rows, b_eq=sums, bounds=(0, 1)).status == 0
        return
    smaller = np.flatnonzero(y == np.argmin(np.bincount(y)))
    assert set(smaller) <= set(model.support_)
    own = np.where(y == 1, 1, -1) * model.decision_function(X)
    assert own[smaller].max() == pytest.approx(1.0, abs=1e-5)
    try:
        theirs = sklearn.svm.NuSVC(nu=nu, kernel=kernel, tol=1e-8, max_iter=20_000).fit(X, y)
    except (ValueError, ConvergenceWarning):
        return
    np.testing.assert_allclose(model.decision_function(X), theirs.decision_function(X), atol=1e-4)


@pytest.mark.parametrize("kernel", KERNELS)
def test_all_of_one_class_are_outside(kernel):
    X = np.random.default_rng(0).normal(size=(30, 2))
    model = attempt(OneClassSVM(nu=1.0, kernel=kernel, tol=1e-8), X)
    assert len(model.support_) == 30
    assert model.decision_function(X).max() == pytest.approx(0.0, abs=1e-6)


@parametrized(n=[1, 2, 5, 700], kernel=KERNELS, nu=NUS, bias=["explicit", "augmented"])
def test_targets_that_are_all_equal(n, kernel, nu, bias):
    X = np.random.default_rng(n).normal(size=(n, 2))
    for target in (0.0, 3.0, -1e6):
        model = attempt(NuSVR(nu=nu, kernel=kernel, bias=bias), X, np.full(n, target))
        if bias == "explicit":
            assert model.predict(X) == pytest.approx(np.full(n, target), abs=1e-3)
            assert model.epsilon_ == pytest.approx(0.0, abs=1e-3)


@parametrized(
    n=[1, 2, 3, 40, 1100],
    kind=[SVC, NuSVC, SVR, NuSVR, OneClassSVM],
    kernel=KERNELS,
    make=[np.ones, np.zeros, sparse.csr_matrix],
)
def test_constant_features(n, kind, kernel, make):
    """One point in feature space: the bias alone predicts."""
    X, y = make((n, 3)), np.random.default_rng(n).normal(size=n)
    if kind in (SVC, NuSVC):
        if n == 1:
            return
        y = (np.arange(n) >= n // 3 + (n == 2)).astype(int)
    for nu in NUS if hasattr(kind(), "nu") else [None]:
        parameters = {} if nu is None else {"nu": nu}
        if kind is OneClassSVM:
            model = attempt(kind(kernel=kernel, **parameters), X)
            assert model is not None
        else:
            model = attempt(kind(kernel=kernel, **parameters), X, y)
            assert (model is None) == (kind is NuSVC)


@pytest.mark.parametrize("kind", [SVR, NuSVR, OneClassSVM])
def test_one_sample(kind):
    model = attempt(kind(), [[1.0, 2.0]], [4.0])
    if kind is OneClassSVM:  # decision 0: inside by scikit-learn's convention of outlier detectors, outside by LIBSVM
        assert model.decision_function([[1.0, 2.0]]) == 0
        assert model.predict([[1.0, 2.0]]) == 1
        return
    peer = getattr(sklearn.svm, kind.__name__)
    try:
        theirs = peer().fit([[1.0, 2.0]], [4.0])
    except ValueError:
        return
    assert model.predict([[1.0, 2.0]]) == pytest.approx(theirs.predict([[1.0, 2.0]]))


@pytest.mark.parametrize(("kind", "offset", "scale", "seed"), [(NuSVR, 1e6, 1e-6, 7),
                                                               (SVR, 1e9, 1e-5, 3), (NuSVR, 1e9, 3e-5, 7)])  # fmt: skip
def test_rounding_of_large_targets_is_not_taken_for_an_indefinite_kernel(kind, offset, scale, seed):
    """A normal that is small beside the targets: its squared length, a difference, may be computed below 0."""
    rng = np.random.default_rng(seed)
    X, y = scale * rng.normal(size=(40, 2)), offset + rng.normal(size=40) + rng.normal(size=40)
    assert attempt(kind(gamma=1.0, C=10.0, tol=1e-9 * offset), X, y) is not None
