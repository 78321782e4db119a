"""Factors of small matrices against NumPy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adatron.compiled.cholesky import invert_factor, rank_of

pytestmark = pytest.mark.plain


def test_inverted_factor():
    rng = np.random.default_rng(0)
    for n in (1, 2, 30):
        A = rng.normal(size=(n, n + 2))
        A = A @ A.T
        L = A.copy()
        invert_factor(L, 0.0)
        assert np.allclose(L, np.linalg.inv(np.linalg.cholesky(A)))


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 40), rank=st.integers(1, 12), most=st.integers(1, 20))
def test_the_rank_of_a_matrix(seed, n, rank, most):
    X = np.random.default_rng(seed).normal(size=(n, rank))
    assert rank_of(X @ X.T, most, 1e-9) in (min(n, rank, most), min(np.linalg.matrix_rank(X, 1e-3), most))
    for nothing in (np.zeros((n, n)), -X @ X.T):
        assert rank_of(nothing, most, 1e-9) == 0
