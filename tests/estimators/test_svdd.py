"""Support vector data description: against the one-class SVM, a dense solver and the identities of Tax and Duin.

Also tested here: ``novelty``.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import adatron
from adatron import SVDD, OneClassSVM
from adatron.kernels import RBF, Linear, Polynomial
from adatron.problems import ball
from adatron.selection import GridSearchCV as OurSearch
from machines import spread
from twins import programs

KERNELS = {
    "rbf": RBF(0.5),
    "linear": Linear(),
    "poly": Polynomial(gamma=0.5, degree=3, coef0=1.0),
    "sum": RBF(0.7) + 0.3 * Linear(),
}
EXACT = {"tol": 1e-9, "gap_tol": 1e-9, "precision": "double"}
rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3)) + 1.0
NEGATIVE = np.where(np.arange(60) < 6, -1, 1)


def squares(K, beta):
    """The squared distances of the samples from the centre."""
    return np.diagonal(K) - 2.0 * K @ beta + beta @ K @ beta


@pytest.mark.parametrize("nu", [0.05, 0.3, 1.0])
def test_with_a_constant_diagonal_it_is_the_one_class_machine(nu):
    ball, plane = (kind(nu=nu, gamma=0.5, **EXACT).fit(X) for kind in (SVDD, OneClassSVM))
    values = 2.0 / (nu * len(X)) * plane.decision_function(X)
    np.testing.assert_allclose(ball.decision_function(X), values, atol=1e-8)
    np.testing.assert_array_equal(ball.support_, plane.support_)


@pytest.mark.parametrize("kernel", list(KERNELS))
@settings(max_examples=8, deadline=None)
@given(
    seed=st.integers(0, 10**6), bound=st.sampled_from([{"nu": 0.1}, {"nu": 0.5}, {"C": 0.2}, {"C": 3.0}]),
    negatives=st.integers(0, 3), weighted=st.booleans(),
)  # fmt: skip
def test_a_dense_solver_finds_the_same_ball(kernel, seed, bound, negatives, weighted):
    rng = np.random.default_rng(seed)
    Z, y, weight = rng.normal(size=(14, 2)) + 1.0, np.ones(14), np.ones(14)
    y[:negatives] = -1
    weight[:] = rng.uniform(0.5, 2.0, 14) if weighted else 1.0
    model = SVDD(kernel=KERNELS[kernel], **bound, **EXACT).fit(Z, y, sample_weight=weight)
    C = bound.get("C", 1.0 / (bound.get("nu", 1.0) * weight[y > 0].sum()))
    K = KERNELS[kernel](Z)
    dual = ball(np.diagonal(K), C * weight, y)
    beta = programs.solve(K, dual, tol=1e-10)
    distances = squares(K, beta)
    np.testing.assert_allclose(model.score_samples(Z), -distances, atol=1e-6 * (1.0 + distances.max()))
    assert model.dual_objective_ == pytest.approx(-programs.objective(K, dual, beta), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("y", [None, NEGATIVE], ids=["ordinary", "negatives"])
@pytest.mark.parametrize("kernel", list(KERNELS))
def test_the_identities_of_tax_and_duin(kernel, y):
    model = SVDD(kernel=KERNELS[kernel], nu=0.25, **EXACT).fit(X, y)
    K, n = KERNELS[kernel](X), len(X)
    own = n if y is None else np.count_nonzero(y == 1)
    beta, C = spread(model, n)[0] / 2, 1.0 / (0.25 * own)
    assert beta.sum() == pytest.approx(1.0, abs=1e-12)
    assert model.center_norm_ == pytest.approx(np.sqrt(beta @ K @ beta), rel=1e-9)
    square, distances = model.radius_**2, squares(K, beta)
    sides = np.ones(n) if y is None else y
    size = np.abs(beta)
    free = (size > 1e-9) & (size < C - 1e-9)
    assert free.any()
    np.testing.assert_allclose(distances[free], square, rtol=1e-6)  # on the sphere
    assert (sides * (distances - square))[size >= C - 1e-9].min() >= -1e-6 * square  # on the wrong side
    assert (sides * (distances - square))[size <= 1e-9].max() <= 1e-6 * square  # on the right side
    assert (beta * sides >= 0.0).all()
    if y is None:
        assert np.mean(distances > square * (1.0 + 1e-6)) <= 0.25
    np.testing.assert_allclose(model.decision_function(X), square - distances, atol=1e-8 * distances.max())
    np.testing.assert_allclose(model.offset_, -square)
    np.testing.assert_allclose(model.intercept_, square - model.center_norm_**2, atol=1e-9 * square)


def test_a_hard_ball_is_the_smallest_one():
    model = SVDD(kernel="linear", C=np.inf, **EXACT).fit([[0.0, 0.0], [2.0, 0.0], [1.0, 0.5]])
    assert model.radius_ == pytest.approx(1.0)
    np.testing.assert_allclose(model.coef_ / 2.0, [[1.0, 0.0]], atol=1e-9)  # the centre
    np.testing.assert_array_equal(model.predict([[1.0, 0.99], [1.0, 1.01]]), [1, -1])
    assert model.primal_objective_ == pytest.approx(model.radius_**2 / 2.0)


def test_a_shift_of_the_samples_moves_the_ball_alone():
    first, second = (SVDD(kernel="linear", nu=0.2, tol=1e-7).fit(X + by) for by in (0.0, 100.0))
    assert second.radius_ == pytest.approx(first.radius_, rel=1e-6)
    np.testing.assert_allclose(second.decision_function(X + 100.0), first.decision_function(X), atol=1e-6)


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_the_tolerance_means_the_same_in_every_scale(kernel):
    first = SVDD(kernel=kernel, nu=0.1).fit(X)
    for scale in (1e-4, 1e4):
        other = SVDD(kernel=kernel, nu=0.1, gamma="scale").fit(scale * X)
        factor = 1.0 if kernel == "rbf" else scale
        assert other.radius_ / factor == pytest.approx(first.radius_, rel=0.02)
        assert other.fit_status_ == 0


def test_the_default_tolerance_is_near_the_optimum_with_many_samples():
    Z = np.random.default_rng(1).normal(size=(3000, 20))
    rough, exact = SVDD(nu=0.5, gamma=0.1).fit(Z), SVDD(nu=0.5, gamma=0.1, tol=1e-7).fit(Z)
    values = [model.decision_function(Z) for model in (rough, exact)]
    assert np.abs(values[0] - values[1]).max() < 0.02 * np.ptp(values[1])


@pytest.mark.parametrize("y", [None, NEGATIVE])
def test_given_values_need_those_of_new_samples_with_themselves(y):
    kernel, new = KERNELS["sum"], X + 0.1
    model = SVDD(kernel=kernel, nu=0.2, **EXACT).fit(X, y)
    given = SVDD(kernel="precomputed", nu=0.2, **EXACT).fit(kernel(X), y)
    K, own = kernel(new, X), np.diagonal(kernel(new))
    for method in ("decision_function", "score_samples", "predict"):
        found = getattr(given, method)(K, diagonal=own)
        np.testing.assert_allclose(found, getattr(model, method)(new), atol=1e-8)
        with pytest.raises(ValueError, match=r"k\(x, x\) of the new samples, too. Pass diagonal="):
            getattr(given, method)(K)
    with pytest.raises(ValueError, match="diagonal must have a finite k"):
        given.predict(K[:5], diagonal=own)
    small = given.compact()
    values = small.decision_function(K[:, small.support_], own)
    np.testing.assert_allclose(values, model.decision_function(new), atol=1e-8)
    assert small.radius_ == given.radius_ == pytest.approx(model.radius_)
    inside = clone(given).fit(kernel(X), y).predict(kernel(X), diagonal=np.diagonal(kernel(X)))
    np.testing.assert_array_equal(given.fit_predict(kernel(X), y), inside)


def test_a_function_of_rows_and_of_other_samples():
    named = SVDD(kernel="poly", gamma=0.5, coef0=1.0, nu=0.2, **EXACT).fit(X)
    called = SVDD(kernel=lambda A, B: (0.5 * A @ B.T + 1.0) ** 3, nu=0.2, **EXACT).fit(X)
    np.testing.assert_allclose(called.decision_function(X), named.decision_function(X), atol=1e-7)
    words = ["a", "ab", "abc", "abcd", "zzz", "abab", "ba"]

    def common(A, B):
        return np.array([[float(sum(a.count(c) * b.count(c) for c in set(a))) for b in B] for a in A])

    model = SVDD(kernel=common, nu=0.5, **EXACT).fit(words)
    K = common(words, words)
    distances = squares(K, spread(model, len(words))[0] / 2)
    np.testing.assert_allclose(model.score_samples(words), -distances, atol=1e-7)


@pytest.mark.parametrize("kernel", list(KERNELS))
def test_a_row_has_its_value_whatever_is_beside_it(kernel):
    model = SVDD(kernel=KERNELS[kernel], nu=0.2).fit(X)
    many = np.random.default_rng(3).normal(size=(9000, 3))
    values = model.decision_function(many)
    np.testing.assert_array_equal(values[:5], [model.decision_function(row[None])[0] for row in many[:5]])
    np.testing.assert_array_equal(model.predict(many), np.where(values >= 0.0, 1, -1))
    single = clone(model).set_params(precision="single").fit(X)
    np.testing.assert_allclose(single.decision_function(many), values, rtol=1e-3, atol=1e-2)


def test_ranges_follow_from_the_data():
    y = np.where(np.arange(len(X)) % 10 == 0, -1, 1)
    found = OurSearch(SVDD(), "auto", cv=3, scoring="accuracy").fit(X, y)
    assert set(found.best_params_) == {"gamma", "nu"}


def test_distances_from_the_sphere():
    model = SVDD(gamma=0.5, nu=0.2, **EXACT).fit(X)
    plane = OneClassSVM(gamma=0.5, nu=0.2, **EXACT).fit(X)
    found, other = (adatron.input_margin(one, X[:10]) for one in (model, plane))
    np.testing.assert_allclose(found.distance, other.distance, rtol=1e-4)
    with pytest.raises(TypeError, match="slopes of an SVDD are known for kernels of x - z only"):
        adatron.input_margin(SVDD(kernel="linear").fit(X), X)
