"""Halves of a matrix against NumPy."""

import numpy as np
import pytest

from adatron.compiled.submatrix import asymmetry, mean_halves, mirror, transpose

pytestmark = pytest.mark.plain


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


@pytest.mark.parametrize("n", [1, 7, 8, 30, 41, 67])
def test_two_halves_that_differ(n, rng):
    K = rng.normal(size=(n, n))
    parts = [asymmetry(K, first, min(n, first + 13)) for first in range(0, n, 13)]
    assert max(parts) == np.abs(K - K.T).max()
    mean = K.copy()
    mean_halves(mean)
    np.testing.assert_array_equal(np.tril(mean), np.tril(K))
    np.testing.assert_allclose(np.triu(mean), np.triu(0.5 * (K + K.T)), rtol=0, atol=1e-15)


def test_the_mean_of_equal_halves_has_their_bits(rng):
    K = rng.uniform(0.5, 1.5, (30, 30)) * 1e308
    K = np.tril(K) + np.tril(K, -1).T
    mean = K.copy()
    mean_halves(mean)
    np.testing.assert_array_equal(mean, K)
