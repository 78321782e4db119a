"""What a fit claims is true for the data as given: sums, kernel values, tolerances, and what cannot be proven.

Also tested here: ``solvers/units`` and ``gram/symmetry``.
"""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import make_blobs, make_classification

from adatron import SVC, SVR, NuSVC, NuSVR, OneClassSVM
from adatron.gram import Gram, Source, View
from adatron.kernels import RBF, Function, Laplacian, Linear, Polynomial, Precomputed
from adatron.threads import Pool
from problems import view_of
from twins.fitted import true_claims
from twins.values import values

L = np.longdouble


def fitted(model, *data):
    """The model, and what it said."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model.fit(*data)
    return model, [str(one.message) for one in said]


def violations(model, *given):
    """The true violations, after a check of what is claimed."""
    return [true.violation.value for true in true_claims(model, *given, objectives=False)]


def equal_terms(C=1.0001e8):
    """Kernel values of which thousands in a row are equal: each addition is rounded in the same direction."""
    t, weight = 1.0976181725876704, {0: 1.0880739856496465, 1: 0.95276089622103}
    first, second = int(1024 * weight[0] / weight[1]) + 200, int(1024 * weight[1] / weight[0]) + 200
    x = np.r_[np.ones(1024), np.full(second, t), np.ones(first), np.full(1024, t)]
    y = np.r_[np.zeros(1024 + second), np.ones(first + 1024)].astype(int)
    return np.outer(x, x), y, {"C": C, "class_weight": weight}


@pytest.mark.slow
@pytest.mark.parametrize("C", [1.0001e8, 1.0001e5])
def test_equal_terms_round_in_one_direction(C):
    K, y, parameters = equal_terms(C)
    model, said = fitted(SVC(kernel="precomputed", **parameters), K, y)
    (violation,) = violations(model, ("given", K), K, y)
    assert said or violation <= model.tol


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.sampled_from([3, 70, 700, 1300]),
    kernel=st.sampled_from([RBF(0.3), Linear(), Polynomial(0.5, 3, 1.0), Laplacian(0.5), Precomputed(), "function"]),
    equal=st.booleans(),
    dtype=st.sampled_from([np.float32, np.float64]),
)
def test_exact_sums_are_off_by_no_more_than_their_bound(seed, n, kernel, equal, dtype):
    rng = np.random.default_rng(seed)
    X = np.repeat(rng.normal(size=(1, 3)), n, axis=0) if equal else rng.normal(size=(n, 3))
    spec = {"RBF": ("rbf", 0.3), "Linear": ("linear",), "Polynomial": ("poly", 0.5, 3, 1.0)}
    K, error = values(spec.get(type(kernel).__name__, ("laplacian", 0.5)), X)
    data = np.asarray(K, np.float64)
    if isinstance(kernel, Precomputed):
        view, K, error = view_of(data, kernel), data.astype(L), 0.0 * K
    elif kernel == "function":
        view, K, error = view_of(X, Function(Laplacian(0.5))), Laplacian(0.5)(X).astype(L), 0.0 * K
    else:
        view = view_of(X, kernel, dtype)
    v = rng.normal(size=n) ** 3 if not equal else np.full(n, 1.0 + 1e-9)
    rows, ids = np.arange(n), np.flatnonzero(rng.random(n) < 0.9)
    got, bound = view.exact(rows, ids, v[ids])
    off = np.abs(got - K[:, ids] @ v[ids].astype(L)) - error[:, ids] @ np.abs(v[ids]).astype(L)
    assert (off <= bound).all()
    few = rows[:: max(1, n // 7)]
    off = np.abs(view.exact(few, ids, v[ids])[0] - K[few][:, ids] @ v[ids].astype(L))
    assert (off - error[few][:, ids] @ np.abs(v[ids]).astype(L) <= bound[few]).all()


def time_stamps(n=300):
    """Seconds: two days most of a year apart, and some minutes in each of them."""
    rng = np.random.default_rng(0)
    day = np.array([0.0, 3.0e7])[rng.integers(0, 2, n)]
    X = np.column_stack([1.7e9 + day + rng.uniform(0, 300, n), rng.normal(size=n)])
    return X, (np.sin(X[:, 0] / 30) + 0.5 * rng.normal(size=n) > 0).astype(int)


@pytest.mark.slow
@pytest.mark.parametrize("n", [300, 1100])
@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("gamma", [1e-3, 1.0])
def test_clusters_that_are_far_apart(gamma, storage, n):
    X, y = time_stamps(n)
    model, said = fitted(SVC(gamma=gamma, C=10, tol=1e-6), storage(X), y)
    assert not said
    assert max(violations(model, ("rbf", gamma), X, y)) <= 1e-6
    beta = np.zeros(n, L)
    beta[model.support_] = np.asarray(sparse.csr_matrix(model.dual_coef_).toarray())[0]
    exact = values(("rbf", gamma), X)[0] @ beta + model.intercept_[0]
    np.testing.assert_allclose(model.decision_function(storage(X)), np.asarray(exact, float), rtol=0, atol=1e-9)


def test_squared_distances_of_differences_know_their_error():
    X, _ = time_stamps(80)
    K, _ = values(("rbf", 0.1), X)
    near = RBF(0.1).by_differences()
    for data in (X, sparse.csr_matrix(X)):
        view = view_of(data, RBF(0.1)) if not sparse.issparse(data) else None
        source = Source.of(data, np.arange(80), RBF(0.1)).by_differences()
        got = View.of(Gram(source, np.float64, [80], Pool(1))).rows(np.arange(80))
        assert np.abs(got - K).max() <= near.error_bound(float((X**2).sum(axis=1).max()), 2, 2.0**-53) <= 1e-14
        if view is not None:  # what norms and products make of it
            assert np.abs(view.rows(np.arange(80)) - K).max() > 1e-5
    assert (RBF(0.1) + Linear()).by_differences() == near + Linear()
    assert (0.5 * RBF(0.1) * Linear()).by_differences() == 0.5 * near * Linear()
    assert Laplacian(0.1).by_differences() == Laplacian(0.1)


def test_a_matrix_that_is_nearly_symmetric():
    """Either half may be meant: by rows, as a prediction reads it, by columns, and their mean."""
    X, y = make_classification(500, 6, n_informative=4, flip_y=0.2, random_state=0)
    K = RBF(0.1)(X) * (1 + 7e-9 / 4 * np.random.default_rng(0).normal(size=(500, 500)))
    for C in (1.0, 1e5):
        model, said = fitted(SVC(kernel="precomputed", C=C), K, y)
        for meant in (K, K.T, 0.5 * (K + K.T)):
            violations(model, ("given", meant), meant, y)
        assert bool(said) == (C == 1e5)
    assert "not symmetric, by up to" in said[0]


@pytest.mark.parametrize("n", [60, 2100])
def test_a_matrix_that_is_not_symmetric_is_refused_before_it_is_solved(n):
    X, y = make_classification(n, 6, n_informative=4, flip_y=0.2, random_state=0)
    K = RBF(0.1)(X) + 0.05 * np.random.default_rng(0).normal(size=(n, n))
    with pytest.raises(ValueError, match="X is not symmetric:"):
        SVC(kernel="precomputed").fit(K, y)
    with pytest.raises(ValueError, match=r"function returned .* is not symmetric"):
        SVC(kernel=lambda A, B: A @ B.T + (B @ (B.T @ B) @ A.T).T[:, ::-1]).fit(X[:60], y[:60])


@pytest.mark.parametrize("seed", range(12))
def test_a_tolerance_below_rounding_is_said_to_be(seed):
    X, y = make_classification(60, 4, n_informative=3, n_redundant=1, flip_y=0.2, random_state=seed)
    model, said = fitted(SVC(kernel="linear", C=1e6, tol=1e-9), X, y)
    (violation,) = violations(model, ("linear",), X, y)
    assert said or violation <= 1e-9


@pytest.mark.parametrize("size", [1e180, 1e300])
@pytest.mark.parametrize("kind", [SVC, SVR, NuSVC])
def test_overflow_has_its_own_words(kind, size):
    X, y = make_classification(40, 4, random_state=0)
    model, said = fitted(kind(kernel="precomputed"), size * (X @ X.T), y)
    assert bool(model.fit_status_) == bool(said)
    assert model.fit_status_ or kind is NuSVC  # whose solution may be one of bounds alone
    assert not any("positive semi-definite" in text for text in said)
    assert any("too large for double precision" in text for text in said) == (size == 1e300)


NU = [1e-2, 1e-3, 1e-4, 1e-6]


@pytest.mark.slow
@pytest.mark.parametrize("nu", NU)
def test_no_more_than_nu_are_outside(nu):
    X = np.random.default_rng(15).random((2000, 4))
    model, said = fitted(OneClassSVM(nu=nu), X)
    outside = model.decision_function(X) < -1e-3 * np.abs(model.score_samples(X)).max()
    assert not said
    assert outside.mean() <= nu
    violations(model, ("rbf", model.kernel_.gamma), X, np.zeros(2000))


@pytest.mark.parametrize("nu", [1e-2, 1e-3, 1e-5])
@pytest.mark.parametrize("bias", ["explicit", "augmented"])
def test_a_small_nu_finds_the_margin(nu, bias):
    X, side = make_blobs(1000, 3, centers=[[-4, 0, 0], [4, 0, 0]], random_state=0)
    sign = np.where(side == 1, 1.0, -1.0)
    model, said = fitted(NuSVC(nu=nu, gamma=0.1, bias=bias), X, sign)
    own = sign * model.decision_function(X)
    assert not said
    assert (own < 0.99).mean() <= nu
    hard = SVC(C=np.inf, gamma=0.1, bias=bias, tol=1e-6).fit(X, sign)  # what a small nu comes to
    np.testing.assert_allclose(own, sign * hard.decision_function(X), atol=0.02 * np.abs(own).max())


@pytest.mark.parametrize("nu", [2 / 7, 0.5, 0.05])
def test_margins_much_smaller_than_what_the_gradient_varies_by(nu):
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X = rng.choice([0.0, 0.0, 0.0, 1 / 3, 0.5, 1.0], (4, 13))[rng.integers(0, 4, 6)]
        X[:, 9] += 0.3 * (rng.random(6) < 0.5)
        y = rng.permutation([False] * 3 + [True] * 3)
        model, said = fitted(NuSVC(kernel="poly", coef0=10.0, gamma="auto", nu=nu), X, y)
        if said:
            assert all("have no margin" in text for text in said)
            continue
        own = np.where(y, 1.0, -1.0) * model.decision_function(X)
        assert np.mean(own < 1 - 1e-2) <= nu + 1e-9 <= len(model.support_) / 6 + 2e-9


@pytest.mark.parametrize("kind", [SVR, NuSVR])
@pytest.mark.parametrize("scale", [2.0**-30, 2.0**-100])
def test_small_targets_are_the_same_program(kind, scale):
    """With C and epsilon in the same unit, to the last bit."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3))
    y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=150)
    y *= 1.9 / np.ptp(y)  # half of the range is below 1 already: the unit is a power of two below it

    def parameters(s):
        return {"C": 10.0 * s, **({"epsilon": 0.05 * s} if kind is SVR else {})}

    plain, small = kind(**parameters(1.0)).fit(X, y), kind(**parameters(scale)).fit(X, scale * y)
    np.testing.assert_array_equal(small.predict(X), scale * plain.predict(X))
    assert small.duality_gap_ == plain.duality_gap_
    assert small.dual_objective_ == scale**2 * plain.dual_objective_
    assert small.kkt_violation_ <= small.tol


@pytest.mark.parametrize("epsilon", [1e9, 1e11])
def test_a_wide_tube_leaves_no_gap_of_rounding(epsilon):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = 4.0 * epsilon * np.sin(X[:, 0])
    model, _ = fitted(SVR(C=10.0, epsilon=epsilon), X, y)
    assert 0.0 <= model.duality_gap_ < 1e-9
    violations(model, ("rbf", model.kernel_.gamma), X, y)


@pytest.mark.parametrize("C", [1e-6, 1e-12])
def test_a_gap_is_compared_with_what_can_be_lost(C):
    """With a small C all objectives are far below 1: nothing would be a gap compared with 1."""
    X, y = make_classification(100, 4, flip_y=0.1, random_state=0)
    begun = fitted(SVC(C=C, max_iter=1), X, y)[0]
    assert begun.duality_gap_ > 1e-3
    assert fitted(SVC(C=C, gap_tol=1e-3), X, y)[0].duality_gap_ <= 1e-3


@pytest.mark.parametrize("sizes", [(16, 16, 140, 16), (16, 16, 200, 16), (10, 10, 60, 130, 140, 10, 10)])
def test_pairs_of_classes_of_very_different_sizes(sizes):
    """Small classes share a tile, large ones do not: what a tile held must not be read after it was overwritten."""
    y = np.repeat(np.arange(len(sizes)), sizes)
    X = np.random.default_rng(0).normal(size=(len(y), 3)) + 0.7 * y[:, None] * np.array([1.0, -0.5, 0.2])
    for precision in ("auto", "double"):
        model, said = fitted(SVC(gamma=0.5, C=3.0, precision=precision), X, y)
        assert not said
        assert max(violations(model, ("rbf", 0.5), X, y)) <= model.tol


@pytest.mark.slow
def test_asymmetry_counts_in_rows_that_float32_or_a_sample_would_let_pass():
    """Of more than 1,000 samples, most rows are not computed for a proof; of a function not all values are held."""
    X, y = make_classification(2100, 4, flip_y=0.1, random_state=0)
    off = 1e-5 * np.random.default_rng(1).normal(size=(2100, 2100))
    K = RBF(0.3)(X) + np.triu(off, 1) - np.triu(off, 1).T
    model, said = fitted(SVC(kernel="precomputed", C=1.0), K, y)
    for meant in (K, K.T, 0.5 * (K + K.T)):
        violations(model, ("given", meant), meant, y)
    assert said

    def turned(A, B):
        return RBF(0.3)(A, B) + 1e-5 * np.sin(A[:, :1] - B[:, :1].T)

    assert fitted(SVC(kernel=turned, C=100.0), X, y)[1]


@pytest.mark.parametrize("scale", [1e-163, 1e-200, 1e-300])
def test_targets_whose_squares_underflow(scale):
    X = np.random.default_rng(0).normal(size=(60, 2))
    seen = []
    model, _ = fitted(SVR(C=scale, epsilon=0.1 * scale, callback=seen.append), X, scale * np.sin(X[:, 0]))
    assert np.isfinite(model.predict(X)).all()
    assert not model.duality_gap_ < 0.0


def test_the_trace_of_a_margin_that_was_refined_is_in_one_unit():
    X, side = make_blobs(300, 3, centers=[[-1, 0, 0], [1, 0, 0]], cluster_std=0.3, random_state=0)
    model, _ = fitted(NuSVC(nu=0.02, gamma=1e-3), X, side)
    heights = model.trace_["dual_objective"]
    assert (np.diff(heights) >= -1e-9 * np.abs(heights).max()).all()


@pytest.mark.parametrize("C", [0.1, 100.0])
def test_a_tighter_tolerance_is_no_worse(C):
    """Below what float64 can prove, a fit goes as far as it can, and ends."""
    X, y = make_classification(2000, 15, n_informative=8, flip_y=0.05, random_state=1)
    reached = [fitted(SVC(C=C, tol=tol), X, y)[0] for tol in (1e-6, 1e-10, 1e-13, 1e-17)]
    assert reached[0].fit_status_ == 0
    for model in reached[1:]:
        assert model.kkt_violation_ <= max(1e-8, model.tol)
        assert model.n_iter_[0] < 100 * reached[0].n_iter_[0]


def test_nothing_to_solve_leaves_no_gap():
    """A tube that holds all targets: the bias of the proof is in the middle of those that will do."""
    X = np.random.default_rng(0).normal(size=(300, 3))
    model, said = fitted(SVR(gap_tol=1e-3), X, 1e-9 * X[:, 0])
    assert not said
    assert model.duality_gap_ <= 1e-3
