"""Factors that lose a row, and solutions with them, against NumPy."""

import numpy as np
import pytest

from adatron.compiled.cholesky import backward, drop, forward

pytestmark = pytest.mark.plain


def factor(m, seed=0):
    A = np.random.default_rng(seed).normal(size=(m, m + 2))
    return A @ A.T, np.linalg.cholesky(A @ A.T)


@pytest.mark.parametrize("m", [1, 2, 3, 8, 9])
def test_solutions_with_the_leading_rows(m):
    _, L = factor(10)
    r = np.random.default_rng(1).normal(size=m)
    down, up = r.copy(), r.copy()
    forward(L, down)
    backward(L, up)
    np.testing.assert_allclose(L[:m, :m] @ down, r, atol=1e-12)
    np.testing.assert_allclose(L[:m, :m].T @ up, r, atol=1e-12)


@pytest.mark.parametrize("place", [0, 3, 6])
def test_a_factor_without_a_row_is_that_of_the_smaller_matrix(place):
    A, L = factor(7)
    drop(L, 7, place)
    kept = np.delete(np.arange(7), place)
    np.testing.assert_allclose(np.tril(L[:6, :6]) @ np.tril(L[:6, :6]).T, A[np.ix_(kept, kept)], atol=1e-12)
