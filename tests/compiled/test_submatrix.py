"""Halves of a matrix against NumPy."""

import numpy as np
import pytest

from adatron.compiled.submatrix import mirror, transpose

pytestmark = pytest.mark.plain


@pytest.fixture
def rng():
    return np.random.default_rng(0)


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
