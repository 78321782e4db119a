"""The factor of the second-order finish against NumPy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adatron.kernels import RBF, Laplacian
from adatron.problems import Dual
from adatron.solvers.linalg.factor import Factor
from adatron.solvers.linalg.newton_system import System, norm
from adatron.threads import Pool
from problems import samples, view_of

BIASES = ["explicit", "augmented", "none"]


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
    np.testing.assert_allclose(system.sums(x), totals, rtol=0, atol=1e-9 * np.abs(x).sum())
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
