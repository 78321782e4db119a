"""Weights of samples and classes: zero is absent, an integer is a repetition, of all estimators and of many classes.

Also tested here: ``binary``.
"""

import numpy as np
import pytest
import sklearn.svm
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification, make_regression
from sklearn.utils import compute_class_weight

from adatron import SVC, SVR, NuSVC, NuSVR, OneClassSVM
from machines import values


def two_classes():
    return make_classification(120, 5, flip_y=0.2, random_state=0)


def many_classes():
    X, y = load_iris(return_X_y=True)
    rng = np.random.default_rng(0)
    return X + 0.5 * rng.normal(size=X.shape), np.array(["setosa", "versicolor", "virginica"])[y]


def targets():
    X, y = make_regression(100, 5, noise=10, random_state=0)
    return X, y / 50


GAMMA = {"gamma": 0.3}  # 'scale' looks at X alone, as scikit-learn's does
CASES = {
    "SVC": (SVC(**GAMMA), two_classes),
    "SVC, augmented bias": (SVC(bias="augmented", **GAMMA), two_classes),
    "SVC, one against one": (SVC(**GAMMA), many_classes),
    "SVC, one against the rest": (SVC(multi_class="ovr", **GAMMA), many_classes),
    "NuSVC": (NuSVC(nu=0.3, **GAMMA), two_classes),
    "NuSVC, one against one": (NuSVC(nu=0.3, **GAMMA), many_classes),
    "SVR": (SVR(**GAMMA), targets),
    "NuSVR": (NuSVR(**GAMMA), targets),
    "OneClassSVM": (OneClassSVM(**GAMMA), two_classes),
}
CLASSIFIERS = [name for name in CASES if "SVC" in name]
SCIKIT_LEARN = [name for name in CASES if "bias" not in name and "rest" not in name]


def prepared(case, **parameters):
    estimator, data = CASES[case]
    return clone(estimator).set_params(**parameters), *data()


def theirs(model, **more):
    """scikit-learn's model with the same parameters."""
    one = getattr(sklearn.svm, type(model).__name__)
    known = {key: value for key, value in model.get_params().items() if key in one().get_params()}
    return one(**known, **more)


def equal_certificates(a, b):
    for name in ("dual_objective_", "primal_objective_", "duality_gap_", "kkt_violation_"):
        assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("case", CASES)
def test_no_weight_and_negative_weight_mean_absent(case, storage):
    model, X, y = prepared(case)
    X, rng = storage(X), np.random.default_rng(1)
    weight = rng.uniform(0.5, 2, len(y)) * (rng.random(len(y)) < 0.7)
    negative = np.where(weight == 0, -rng.random(len(y)), weight)
    used = np.flatnonzero(weight)
    without = clone(model).fit(X[used], y[used], weight[used])
    for given in (weight, negative):
        model.fit(X, y, given)
        assert_array_equal(model.support_, used[without.support_])
        for name in ("dual_coef_", "support_vectors_"):
            mine, other = getattr(model, name), getattr(without, name)
            assert_array_equal(*(m.toarray() if sparse.issparse(m) else m for m in (mine, other)), err_msg=name)
        assert_array_equal(model.intercept_, without.intercept_)
        assert_array_equal(values(model, X), values(without, X))
        equal_certificates(model, without)


@pytest.mark.parametrize("case", CASES)
def test_an_integer_weight_is_a_repetition(case):
    model, X, y = prepared(case)
    weight = np.random.default_rng(2).integers(0, 4, len(y))
    repeated = clone(model).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    model.fit(X, y, weight)
    # The same problem to the last bit; only sums over repeated support vectors may round differently.
    equal_certificates(model, repeated)
    assert_array_equal(model.intercept_, repeated.intercept_)
    assert_allclose(values(repeated, X), values(model, X), rtol=0, atol=1e-12)


@pytest.mark.parametrize("case", CASES)
def test_a_weight_is_a_repetition_of_given_kernel_values(case):
    """Rows of a matrix are not merged: another path to the same solution."""
    model, X, y = prepared(case, kernel="precomputed", tol=1e-9)
    weight = np.random.default_rng(2).integers(0, 4, len(y))
    index = np.repeat(np.arange(len(y)), weight)
    K = np.exp(-0.3 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    repeated = clone(model).fit(K[np.ix_(index, index)], y[index])
    model.fit(K, y, weight)
    assert_allclose(values(repeated, K[:, index]), values(model, K), atol=1e-6)
    assert_allclose(repeated.dual_objective_, model.dual_objective_, rtol=1e-6)


@pytest.mark.parametrize("case", CASES)
def test_what_scaling_all_weights_does(case):
    """It scales C; the part nu of the weight stays the same."""
    model, X, y = prepared(case, tol=1e-9)
    rng = np.random.default_rng(4)
    weight = rng.uniform(0.5, 2, len(y))
    scaled = clone(model)
    if "C" in model.get_params():
        scaled.set_params(C=0.25)
    scaled.fit(X, y, 4 * weight)
    factor = 4 if isinstance(model, OneClassSVM) else 1  # its function is proportional to the weights
    assert_allclose(values(scaled, X), factor * values(model.fit(X, y, weight), X), atol=1e-5)


@pytest.mark.parametrize("case", CLASSIFIERS)
def test_class_weights_multiply_sample_weights(case):
    model, X, y = prepared(case)
    classes = np.unique(y)
    class_weight = dict(zip(classes, [0.5, 1.5, 2.0], strict=False))
    weight = np.random.default_rng(5).uniform(0.5, 2, len(y))
    product = weight * np.array([class_weight[label] for label in y])
    both = clone(model).set_params(class_weight=class_weight).fit(X, y, weight)
    model.fit(X, y, product)
    assert_array_equal(both.class_weight_, [class_weight[label] for label in classes])
    assert_array_equal(both.dual_coef_, model.dual_coef_)
    assert_array_equal(both.intercept_, model.intercept_)
    if isinstance(model, SVC) and case in SCIKIT_LEARN:
        both.set_params(tol=1e-8).fit(X, y, weight)
        assert_allclose(values(both, X), values(theirs(both).fit(X, y, weight), X), atol=1e-4)


@pytest.mark.parametrize("case", CLASSIFIERS)
def test_balanced_classes(case):
    model, X, y = prepared(case, class_weight="balanced")
    keep = np.flatnonzero((y != np.unique(y)[0]) | (np.arange(len(y)) % 2 == 0))
    model.fit(X[keep], y[keep])
    assert_array_equal(model.class_weight_, compute_class_weight("balanced", classes=np.unique(y), y=y[keep]))
    weight = dict(zip(model.classes_, model.class_weight_, strict=True))
    by_hand = clone(model).set_params(class_weight=weight).fit(X[keep], y[keep])
    assert_array_equal(by_hand.dual_coef_, model.dual_coef_)


# Bugs that users of scikit-learn and cuML reported.


@pytest.mark.parametrize("how", ["sample weights", "class weight"])
@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("absent", [0, 1, 2])
@pytest.mark.parametrize("case", ["SVC, one against one", "SVC, one against the rest", "NuSVC, one against one"])
def test_a_class_without_weight_stays_a_class_and_never_wins(case, absent, storage, how):
    """scikit-learn 5150, 8566, 25380: LIBSVM forgets the class, and labels and shapes no longer fit."""
    model, X, y = prepared(case)
    X, classes = storage(X), np.unique(y)
    used = y != classes[absent]
    if how == "sample weights":
        model.fit(X, y, used.astype(float))
    else:
        model.set_params(class_weight={classes[absent]: 0}).fit(X, y)
    without = clone(model).set_params(class_weight=None).fit(X[used], y[used])
    assert_array_equal(model.classes_, classes)
    assert model.n_support_.shape == (3,)
    assert model.n_support_[absent] == 0
    assert model.decision_function(X).shape == (len(y), 3)
    assert model.intercept_.shape == (3,)
    assert_array_equal(model.predict(X), without.predict(X))
    assert (model.decision_function(X).argmax(axis=1) != absent).all()


def test_the_solver_must_fit_the_problems_that_are_there():
    """A pair of which one class has no weight is no problem, and must not decide which solver will do."""
    X, y = many_classes()
    absent = np.where(y == "setosa", 0.0, 1.0)
    for bias in ("explicit", "none"):
        with pytest.raises(ValueError, match="not made for problems with nu"):
            NuSVC(nu=0.3, solver="isda", bias=bias).fit(X, y, absent)
    assert SVC(solver="isda", bias="none").fit(X, y, absent).fit_status_ == 0


@pytest.mark.parametrize("solver", ["auto", "smo"])
@pytest.mark.parametrize("sizes", [(3, 7), (20, 30)])
@pytest.mark.parametrize("seed", range(5))
def test_where_all_are_on_their_bounds_the_bias_is_in_the_middle(solver, sizes, seed):
    """C and balanced weights whose sums are equal but for rounding: the last variable is not free for that."""
    X, y = np.random.default_rng(seed).normal(size=(sum(sizes), 2)), np.repeat([-1, 1], sizes)
    model = SVC(C=0.1, gamma=1.0, class_weight="balanced", solver=solver).fit(X, y)  # a warning is an error here
    assert model.fit_status_ == 0
    assert len(model.support_) == len(y)
    values = model.decision_function(X) - model.intercept_
    low, high = (-1 - values[y < 0]).max(), (1 - values[y > 0]).min()  # errors of both classes as b moves between them
    assert_allclose(model.intercept_, 0.5 * (low + high), atol=1e-9)


@pytest.mark.parametrize("solver", ["auto", "smo"])
@pytest.mark.parametrize("C", [1e6, 1e12])
def test_a_large_bound_does_not_round_small_coefficients(solver, C):
    """What is rounding near a bound of 1e12 is a coefficient near 0: the solution is that of a hard margin."""
    X = np.random.default_rng(0).normal(size=(60, 2))
    X[:, 0] += 3.0 * np.sign(X[:, 0])
    y = X[:, 0] > 0
    hard, soft = (SVC(C=c, gamma=0.1, tol=1e-6, solver=solver).fit(X, y) for c in (np.inf, C))
    assert abs(soft.dual_coef_.sum()) <= 1e-12 * np.abs(soft.dual_coef_).sum()
    assert_allclose(soft.decision_function(X), hard.decision_function(X), atol=1e-4)


@pytest.mark.parametrize("name", ["NuSVC", "OneClassSVM"])
def test_weights_of_any_size_ask_for_the_same(name):
    """A tolerance means the same for weights that sum to 1 and for those that sum to a billion."""
    X, y = make_classification(1500, 5, flip_y=0.2, random_state=0)
    model = CASES[name][0]
    plain = clone(model).fit(X, y)
    for scale in (2.0**-20, 2.0**20):
        scaled = clone(model).fit(X, y, sample_weight=np.full(len(X), scale))
        size = scale if isinstance(model, OneClassSVM) else 1.0
        assert_array_equal(scaled.dual_coef_, size * plain.dual_coef_)
        assert_array_equal(scaled.intercept_, size * plain.intercept_)
        assert scaled.dual_objective_ == scale**2 * plain.dual_objective_
        assert scaled.primal_objective_ == scale**2 * plain.primal_objective_
    for scale in (1e-300, 1e-6, 1e300, 1e308 if name == "NuSVC" else 1e304):  # of one class the values are as large
        other = clone(model).fit(X, y, sample_weight=np.full(len(X), scale))
        assert np.mean(other.predict(X) != plain.predict(X)) < 0.01


@pytest.mark.parametrize("C", [0.1, 0.3, 0.7, 1.0])
def test_coefficients_of_equal_samples_are_at_their_bounds(C):
    X, y = two_classes()
    model = SVC(C=C, **GAMMA).fit(np.repeat(X, 3, axis=0), np.repeat(y, 3))
    sizes = np.abs(model.dual_coef_)
    assert (sizes == C).any()
    assert not ((sizes != C) & (np.abs(sizes - C) < 1e-9 * C)).any()
