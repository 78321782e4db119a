"""The factor of the second-order finish, and the margin system, against NumPy.

Also tested here: ``bordered``.
"""

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from adatron.kernels import RBF, Laplacian
from adatron.problems import Dual
from adatron.solvers.linalg.bordered import Margin, System, norm
from adatron.solvers.linalg.factor import Factor
from adatron.threads import Pool
from problems import samples, view_of


@given(st.integers(1, 500), st.integers(1, 4), st.floats(0, 2), st.integers(0, 2**31), st.booleans())
@settings(max_examples=40, deadline=None)
def test_a_factor_solves(n, parts, shift, seed, holding):
    """Every diagonal block minimises x'(K + shift)x/2 - r'x with some of its variables held at zero."""
    rng = np.random.default_rng(seed)
    parts = min(parts, n)
    X, r = rng.normal(size=(n, 6)), rng.normal(size=n)
    held = np.flatnonzero(rng.random(n) < 0.1 * holding)
    factor = Factor(view_of(X, RBF(1.0)), shift, parts)
    assert factor.exact == (parts == 1)
    K = RBF(1.0)(X) + shift
    for chosen in (held[: len(held) // 2], held):  # the second adds to the first
        x = factor.solve(r[:, None], chosen)[:, 0]
        assert not x[chosen].any()
        free = np.setdiff1d(np.arange(n), chosen)
        for a, b in factor.spans:
            F = free[(free >= a) & (free < b)]
            assert np.allclose(K[np.ix_(F, F)] @ x[F], r[F], rtol=0, atol=1e-8 * max(1.0, np.abs(x).max()))


@given(st.integers(1, 400), st.integers(1, 30), st.floats(0, 2), st.integers(0, 2**31))
@settings(max_examples=40, deadline=None)
def test_a_factor_serves_what_joins(n, more, shift, seed):
    """Variables that join in two turns and some that are held, old and new ones: the solution of the rest."""
    rng = np.random.default_rng(seed)
    X, R = rng.normal(size=(n + 2 * more, 6)), rng.normal(size=(n + 2 * more, 2))
    K, whole = RBF(1.0)(X) + shift, view_of(X, RBF(1.0))
    factor = Factor(whole.narrowed(np.arange(n)), shift)
    for size in (n + more, n + 2 * more):
        factor.join(whole.narrowed(np.arange(size)), shift)
        held = np.flatnonzero(rng.random(size) < 0.1)
        x = factor.solve(R[:size], held)
        F = np.setdiff1d(np.arange(size), held)
        assert not x[held].any()
        assert np.allclose(K[np.ix_(F, F)] @ x[F], R[F], rtol=0, atol=1e-8 * max(1.0, np.abs(x).max(initial=0.0)))


@pytest.mark.parametrize("form", ["none", "one", "two"])
@pytest.mark.parametrize("parts", [1, 3])
def test_a_float32_factor_leads_to_a_solution(form, parts):
    """Beside equalities that hold, conjugate gradients leave nothing of the gradient; a large multiplier is no part."""
    rng = np.random.default_rng(5)
    n = 800
    X, side = rng.normal(size=(n, 5)), rng.integers(0, 2, n)
    more = {"none": {}, "one": {"totals": (0.0,)}, "two": {"totals": (0.0, 0.0), "row": side}}[form]
    dual = Dual(np.ones(n), np.full(n, -1.0), np.full(n, 1.0), **more)
    view = view_of(X, RBF(0.5 if parts == 1 else 3.0), np.float32)
    system = System(view, dual, parts, rng.permutation(n)[: n - 10], lambda: False)
    held = np.arange(3, 60, 5)
    r = rng.normal(size=n - 10) + (1e3 if form == "one" else 0.0)
    totals = rng.normal(size=len(dual.totals))
    x, product = system.solve(r, held, totals, 1e-6)
    assert not x[held].any()
    np.testing.assert_allclose(system.dual.sums(x), totals, rtol=0, atol=1e-9 * np.abs(x).sum())
    np.testing.assert_allclose(product, system.times(x)[0], rtol=0, atol=1e-6 * np.abs(x).sum())
    before, after = (norm(system.slope(v, held)) for v in (r, r - product))
    assert after <= 1e-3 * before


@pytest.mark.parametrize("parts", [1, 2])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("tied", [False, True])
def test_a_poor_factor_still_leads_down(tied, seed, parts):
    """A nearly singular matrix in float32: along what the factor says the length that goes down most is taken."""
    rng = np.random.default_rng(seed)
    X, kernel = rng.normal(size=(1000, 6)), RBF(0.1)
    dual = Dual(np.ones(1000), np.full(1000, -1.0), np.full(1000, 1.0), totals=(0.0,) if tied else ())
    system = System(view_of(X, kernel, np.float32), dual, parts, np.arange(1000), lambda: False)
    r = rng.choice([-1.0, 1.0], 1000)
    x, _ = system.solve(r, np.empty(0, np.int64), np.zeros(int(tied)), 0.05)
    assert 0.5 * x @ kernel(X) @ x <= r @ x


@pytest.mark.plain
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_factor_has_the_same_bits_for_any_number_of_threads(dtype):
    X, r = samples(3, 900, 5)
    solutions = []
    for n_threads in (1, 4):
        with Pool(n_threads) as pool:
            factor = Factor(view_of(X, RBF(0.2), dtype, [300, 600], pool), 1.0, 2)
            solutions.append(factor.solve(r[:, None], np.arange(5, 600, 7)))
    assert np.array_equal(*solutions)


@pytest.mark.parametrize("held", [[], [1, 200]])
def test_copies_of_a_row_stay_where_they_are(held):
    """A singular matrix has no noise to amplify: the copies get no part in the solution."""
    X, r = samples(4, 200, 3)
    X, r = np.vstack([X, X]), np.concatenate([r, r])
    x = Factor(view_of(X, Laplacian(1.0)), 0.0).solve(r[:, None], np.array(held, np.int64))[:, 0]
    assert np.abs(x).max() < 1e3
    free = np.setdiff1d(np.arange(200), held)
    assert np.allclose(Laplacian(1.0)(X)[free] @ x, r[free], atol=1e-8)


def dense(H, A, r, sums):
    """d and mu of the margin system, where A has full rank."""
    m, equalities = A.shape
    system = np.block([[H, A], [A.T, np.zeros((equalities, equalities))]])
    both = np.linalg.solve(system, np.concatenate([r, sums]))
    return both[:m], both[m:]


@pytest.mark.plain
@settings(max_examples=80, deadline=None)
@given(seed=st.integers(0, 10**6), equalities=st.integers(0, 2), moves=st.lists(st.integers(0, 29), max_size=60))
def test_the_margin_system_is_that_of_its_variables_whoever_came_and_went(seed, equalities, moves):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 3))
    H, A = RBF(0.5)(X) + 0.1 * np.eye(30), np.zeros((30, equalities))
    if equalities:
        A[np.arange(30), rng.integers(0, equalities, 30)] = rng.choice([-1.0, 1.0], 30)
    margin, ids = Margin(equalities, 1.0, 1e-12), []
    for one in moves:
        if one in ids:
            margin.remove(ids.index(one))
            ids.remove(one)
        else:
            assert margin.append(H[one, ids], H[one, one], A[one])
            ids.append(one)
    held = A[ids].any(axis=0)
    r, sums = rng.normal(size=len(ids)), rng.normal(size=equalities) * held
    d, mu = margin.solve(r, sums)
    want, nu = dense(H[np.ix_(ids, ids)], A[ids][:, held], r, sums[held])
    np.testing.assert_allclose(d, want, atol=1e-8)
    np.testing.assert_allclose(mu[held], nu, atol=1e-8)
    assert (mu[~held] == 0).all()
    D, M = margin.inverse()
    for k, one in enumerate(np.eye(len(ids))):
        d, mu = margin.solve(one, np.zeros(equalities))
        np.testing.assert_allclose(D[k], d, atol=1e-8)
        np.testing.assert_allclose(M[k], mu, atol=1e-8)


@pytest.mark.plain
@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), rank=st.integers(1, 6), tied=st.booleans())
@example(seed=1068, rank=4, tied=True)  # the fifth variable all but depends on the others
def test_what_depends_on_the_others_stays_outside_and_says_how_all_move(seed, rank, tied):
    rng = np.random.default_rng(seed)
    X, border = rng.normal(size=(12, rank)), np.ones((12, int(tied)))
    H, margin, ids = X @ X.T, Margin(int(tied), 1.0, 1e-10), []
    for one in range(12):
        if margin.append(H[one, ids], H[one, one], border[one]):
            ids.append(one)
            continue
        d = np.zeros(12)
        d[ids], d[one] = margin.along(H[one, ids], border[one])[0], 1.0
        np.testing.assert_allclose(H @ d, 0.0, atol=1e-6 * (1 + np.abs(d).max()))
        np.testing.assert_allclose(border.T @ d, 0.0, atol=1e-12 * (1 + np.abs(d).sum()))
    assume((np.diagonal(margin.factor[0])[: margin.n] ** 2).min() > 1e-5)  # else rounding may look like one more pivot
    assert len(ids) == rank + tied
