"""Compiled code against NumPy: factors by loops and by LAPACK, solutions, ranks, halves; panels and their products.

Also tested here: ``cholesky``, ``lapack``, ``panels`` and ``submatrix``.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from adatron.compiled.cholesky import backward, drop, forward, has_factor, invert_factor, rank_of
from adatron.compiled.micro import BLOCK_POINTS, rows_width
from adatron.compiled.panels import PRODUCTS, TILE, squared_norms
from adatron.compiled.submatrix import asymmetry, mean_halves, mirror, transpose
from adatron.gram import Source
from adatron.kernels import RBF, Linear
from adatron.threads import Pool
from twins.tiles import chained_products, l1_distances, pack


def factor(m, seed=0):
    A = np.random.default_rng(seed).normal(size=(m, m + 2))
    return A @ A.T, np.linalg.cholesky(A @ A.T)


@pytest.mark.plain
@pytest.mark.parametrize("m", [1, 2, 3, 8, 9])
def test_solutions_with_the_leading_rows(m):
    _, L = factor(10)
    r = np.random.default_rng(1).normal(size=m)
    down, up = r.copy(), r.copy()
    forward(L, down)
    backward(L, up)
    np.testing.assert_allclose(L[:m, :m] @ down, r, atol=1e-12)
    np.testing.assert_allclose(L[:m, :m].T @ up, r, atol=1e-12)


@pytest.mark.plain
@pytest.mark.parametrize("place", [0, 3, 6])
def test_a_factor_without_a_row_is_that_of_the_smaller_matrix(place):
    A, L = factor(7)
    drop(L, 7, place)
    kept = np.delete(np.arange(7), place)
    np.testing.assert_allclose(np.tril(L[:6, :6]) @ np.tril(L[:6, :6]).T, A[np.ix_(kept, kept)], atol=1e-12)


@pytest.mark.plain
def test_inverted_factor():
    rng = np.random.default_rng(0)
    for n in (1, 2, 30):
        A = rng.normal(size=(n, n + 2))
        A = A @ A.T
        L = A.copy()
        invert_factor(L, 0.0)
        assert np.allclose(L, np.linalg.inv(np.linalg.cholesky(A)))


@pytest.mark.plain
@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 40), rank=st.integers(1, 12), most=st.integers(1, 20))
def test_the_rank_of_a_matrix(seed, n, rank, most):
    X = np.random.default_rng(seed).normal(size=(n, rank))
    assert rank_of(X @ X.T, most, 1e-9) in (min(n, rank, most), min(np.linalg.matrix_rank(X, 1e-3), most))
    for nothing in (np.zeros((n, n)), -X @ X.T):
        assert rank_of(nothing, most, 1e-9) == 0


@pytest.mark.parametrize("n", [0, 1, 2, 60, 300])
@pytest.mark.parametrize("least", [-1e-6, 1e-6])
def test_whether_a_matrix_has_a_cholesky_factor(n, least, rng):
    Q, _ = np.linalg.qr(rng.normal(size=(n, n)))
    values = np.append(rng.random(max(0, n - 1)) + 0.1, [least] * min(n, 1))
    A = (Q * values) @ Q.T
    A = 0.5 * (A + A.T)
    L = A.copy()
    found = has_factor(L)
    assert found == (least > 0 or not n)
    if found:
        np.testing.assert_allclose(np.triu(L).T @ np.triu(L), A, atol=1e-12)


@pytest.mark.plain
@pytest.mark.parametrize("n", [1, 7, 8, 30, 41])
def test_halves_of_a_matrix(n, rng):
    K = rng.normal(size=(n + 3, n + 3))
    mirrored, before = K.copy(), K.copy()
    mirror(mirrored, n)
    np.testing.assert_array_equal(mirrored[:n, :n], np.tril(K[:n, :n]) + np.tril(K[:n, :n], -1).T)
    half = n // 2
    transpose(K, 0, half, half, n)
    np.testing.assert_array_equal(K[:half, half:n], before[half:n, :half].T)
    for changed in (mirrored, K):
        changed[:n, :n] = before[:n, :n]
        np.testing.assert_array_equal(changed, before)


@pytest.mark.plain
@pytest.mark.parametrize("n", [1, 7, 8, 30, 41, 67])
def test_two_halves_that_differ(n, rng):
    K = rng.normal(size=(n, n))
    parts = [asymmetry(K, first, min(n, first + 13)) for first in range(0, n, 13)]
    assert max(parts) == np.abs(K - K.T).max()
    mean = K.copy()
    mean_halves(mean)
    np.testing.assert_array_equal(np.tril(mean), np.tril(K))
    np.testing.assert_allclose(np.triu(mean), np.triu(0.5 * (K + K.T)), rtol=0, atol=1e-15)


@pytest.mark.plain
def test_the_mean_of_equal_halves_has_their_bits(rng):
    K = rng.uniform(0.5, 1.5, (30, 30)) * 1e308
    K = np.tril(K) + np.tril(K, -1).T
    mean = K.copy()
    mean_halves(mean)
    np.testing.assert_array_equal(mean, K)


pytestmark = pytest.mark.plain

DTYPES = (np.float32, np.float64)


def tolerance(dtype):
    return 2e-5 if dtype == np.float32 else 1e-12


@pytest.mark.parametrize("dtype", DTYPES)
def test_packed_panels(dtype, rng):
    X = rng.normal(size=(50, 5)) + 3
    source = Source.of(X, np.arange(50), RBF())
    pool = Pool(1)
    for operand, width in (
        (source.as_points(dtype, pool), BLOCK_POINTS),
        (source.as_rows(dtype, pool), rows_width(dtype)),
    ):
        np.testing.assert_array_equal(operand.panels, pack(X, width, source.center, dtype))


@pytest.mark.parametrize("d", [0, 1, 9])
def test_squared_norms(d, rng):
    """The same bits for a row alone and among others."""
    X, center, weights = rng.normal(size=(9, d)), rng.normal(size=d), rng.random(d)
    for n in range(10):
        ids, out = rng.permutation(9)[:n], np.empty(n)
        squared_norms(X, ids, center, weights, out)
        np.testing.assert_allclose(out, np.square(X[ids] - center) @ weights, rtol=1e-14)
        for i, row in enumerate(ids):
            alone = np.empty(1)
            squared_norms(X, np.array([row]), center, weights, alone)
            assert alone[0] == out[i]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("product", ["dot", "l1"])
@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("d", [1, 7])
@pytest.mark.parametrize("width", [64, TILE])
def test_products(dtype, product, storage, d, width, rng):
    X = rng.normal(size=(40, d)) * (rng.random((40, d)) < 0.7)
    source = Source.of(storage(X), np.arange(40), Linear())
    points, rows = source.take(slice(0, 13)).as_points(dtype, Pool(1)), source.as_rows(dtype, Pool(1))
    tile = np.zeros((240, width), dtype)
    PRODUCTS[type(rows), product](points, 0, -(-13 // BLOCK_POINTS), rows, 0, -(-40 // rows_width(dtype)), tile)
    twin = chained_products if product == "dot" else l1_distances
    expected = twin(X[:13].astype(dtype), X.astype(dtype))
    np.testing.assert_allclose(tile[:13, :40], expected, atol=tolerance(dtype))
