"""Small matrices in compiled code, against NumPy: factors by loops and by LAPACK, solutions, ranks, halves.

Also tested here: ``cholesky``, ``lapack`` and ``submatrix``.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adatron.compiled.cholesky import backward, drop, forward, has_factor, invert_factor, rank_of
from adatron.compiled.submatrix import asymmetry, mean_halves, mirror, transpose


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
