"""Certificates are true: never below the gap of a dense float64 recomputation, never below the real suboptimality."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from adatron import SVC
from adatron.certificates import Exact, bounded, certify, loosely, prove, semidefinite
from adatron.certificates.gap import crossing
from adatron.kernels import RBF, Precomputed
from adatron.problems import Dual
from problems import (
    ball,
    csvc,
    nusvc,
    nusvr,
    oneclass,
    samples,
    solve,
    svr,
    view_of,
)
from twins import programs


@settings(max_examples=100, deadline=None)
@given(
    seed=st.integers(0, 10**6), n=st.integers(1, 80), rank=st.integers(0, 80), shift=st.sampled_from([0.0, 1e-6, 1e-3])
)
def test_negative_eigenvalues_are_found(seed, n, rank, shift):
    """Of given matrices of any rank, from which a little is taken along one direction."""
    rng = np.random.default_rng(seed)
    A, v = rng.normal(size=(n, rank)), rng.normal(size=n)
    K = A @ A.T / max(1, rank) - shift * np.outer(v, v) / (v @ v)
    K = 0.5 * (K + K.T)
    lowest, size = np.linalg.eigvalsh(K)[0], np.abs(K).max()
    assume(lowest >= -1e-14 * size or lowest < -1e-9 * size)  # what is between is rounding or not
    view = view_of(K, Precomputed())
    assert semidefinite(view, rng.permutation(n)[: n // 2]) == bool(lowest >= -1e-14 * size)


WITH_EQUALITIES = {
    "csvc": lambda y, w, K: csvc(y, w),
    "hard margin": lambda y, w, K: csvc(y, np.full(len(y), np.inf)),
    "svr": lambda y, w, K: svr(y + K[0], w, 0.1),
    "svr at 0": lambda y, w, K: svr(y + K[0], w, 0.0),
    "nusvc": lambda y, w, K: nusvc(y, w, 0.3),
    "nusvc without bias": lambda y, w, K: nusvc(y, w, 0.3, "none"),
    "nusvr": lambda y, w, K: nusvr(y + K[0], w, 0.3),
    "oneclass": lambda y, w, K: oneclass(w, 0.3),
    "ball": lambda y, w, K: ball(np.diag(K)),
}


@pytest.mark.parametrize("name", WITH_EQUALITIES)
def test_off_the_equalities_nothing_is_claimed(name):
    X, y = samples(0, 20)
    K = RBF(0.5)(X)
    dual = WITH_EQUALITIES[name](y, np.ones(20), K)
    copies = len(dual) // 20
    view = view_of(X, RBF(0.5), copies=copies)
    best = solve(view, dual, tol=1e-8).beta
    for off in (0.0, 1e-3, 1e-7):
        beta = best.copy()
        beta[beta > 0.0] *= 1.0 - off
        g, none = np.tile(K, (copies, copies)) @ beta + dual.lambda2 * beta.sum() - dual.t, np.zeros(len(dual))
        for got in (
            prove(view, dual, beta, g),
            certify(view, Exact(dual), beta, g.copy(), none),
            loosely(view, dual, beta, g, none),
            bounded(dual, beta, g, none, view.magnitude),
        ):
            if off:
                assert got.gap == got.kkt_violation == got.relative_gap == np.inf
                assert np.isfinite(got.resolution)  # no overflow
            else:
                assert got.kkt_violation <= 1e-6
                assert np.isfinite(got.gap)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.sampled_from([1, 7, 5_000, 20_000]),
    part=st.sampled_from([0.0, 1e-4, 0.3, 1.0, 2.0]),
    ties=st.booleans(),
)
def test_the_kink_where_steps_add_up_is_that_of_a_sort(seed, n, part, ties):
    rng = np.random.default_rng(seed)
    kinks = rng.integers(0, 6, n).astype(float) if ties else rng.normal(size=n) ** 3
    assert_the_kink_of_a_sort(kinks, rng.integers(0, 4, n).astype(float), part)  # sums of these are exact


@pytest.mark.parametrize("shape", [np.abs, np.negative, np.positive, lambda x: -np.exp(-(x**2)), lambda x: -np.abs(x)])
@pytest.mark.parametrize("part", [0.05, 0.3, 0.7])
def test_kinks_along_a_line_are_no_harder_than_others(shape, part):
    """With the first, the middle and the last one to choose from this would take hours."""
    assert_the_kink_of_a_sort(shape(np.linspace(-1.0, 1.0, 1_000_000)), np.ones(1_000_000), part)


def assert_the_kink_of_a_sort(kinks, steps, part):
    order, total = np.argsort(kinks), part * steps.sum()
    at = np.flatnonzero(np.cumsum(steps[order]) >= total)
    expected = kinks[order[at[0] if len(at) else -1]]
    assert crossing(kinks, steps, total) == expected


def test_rows_whose_errors_have_no_bound_are_computed():
    X, y = samples(0, 1500, 5)
    dual, kernel = csvc(y, np.full(1500, 0.05)), RBF(0.2)
    view = view_of(X, kernel, np.float32)
    beta, K = solve(view, dual, tol=1e-3).beta, kernel(X)
    for slack in (np.inf, np.nan):
        exact = Exact(dual)
        proof = certify(view, exact, beta, np.zeros(1500), np.full(1500, slack))
        assert exact.known.all()
        assert proof.convex
        np.testing.assert_allclose(proof.gap, programs.gap(K, dual, beta), rtol=1e-6)


def test_a_proof_about_no_numbers_ends():
    X, y = samples(0, 1500, 5)
    dual = csvc(y, np.full(1500, 1.0))
    beta = np.full(1500, np.nan)
    proof = certify(view_of(X, RBF(0.2), np.float32), Exact(dual), beta, beta.copy(), np.zeros(1500))
    assert not proof.relative_gap <= 1e-3


@pytest.mark.parametrize("where", [slice(300), slice(300, None)], ids=["first", "second"])
def test_negative_eigenvalues_of_one_class_beyond_the_support_vectors(where):
    """The rows that are looked at are spread over both classes."""
    X = np.random.default_rng(0).normal(size=(600, 2)) + np.repeat([[0.0], [9.0]], 300, axis=0)
    y, K = np.repeat([0, 1], 300), RBF(0.1)(X)
    fine = SVC(kernel="precomputed").fit(K, y)
    assert np.isfinite(fine.duality_gap_)
    far = np.setdiff1d(np.arange(600)[where], fine.support_)
    sign = np.where(np.arange(len(far)) % 2, 1.0, -1.0)
    K[np.ix_(far, far)] -= 0.1 * np.outer(sign, sign)
    with pytest.warns(ConvergenceWarning, match="not positive semi-definite"):
        model = SVC(kernel="precomputed").fit(K, y)
    assert np.isnan(model.duality_gap_)


@pytest.mark.parametrize("apart", [(0, 1), (5, 170)])
def test_one_pair_that_no_support_vector_is_in(apart):
    """Up to 512 samples all are looked at."""
    X = np.random.default_rng(1).normal(size=(300, 6)) + np.repeat([[0.0], [1.5]], 150, axis=0)
    y, K = np.repeat([0, 1], 150), RBF(0.1)(X)
    others = np.setdiff1d(np.arange(300), SVC(kernel="precomputed").fit(K, y).support_)
    i, j = others[np.searchsorted(others, apart)]
    K[i, j] = K[j, i] = -8.0
    with pytest.warns(ConvergenceWarning, match="not positive semi-definite"):
        assert np.isnan(SVC(kernel="precomputed").fit(K, y).duality_gap_)


def test_the_bias_bends_the_objective_where_a_sum_lacks_something():
    """K is the identity, and g is 0: the optimum that keeps the sum is known."""
    n, lambda2, lack = 4, 1e12, 5e-10
    beta = np.array([1.0, -1.0, 1.0, -1.0]) + lack / n
    everywhere = np.full(n, np.inf)
    dual = Dual(beta + lambda2 * beta.sum(), -everywhere, everywhere, lambda2, totals=(0.0,))
    found = bounded(dual, beta, np.zeros(n), np.zeros(n), 1.0)
    bent = 0.5 * beta.sum() ** 2 * (lambda2 + 1.0 / n)
    assert found.lower <= found.dual - bent <= found.primal
    assert found.slip <= 1.1 * bent
