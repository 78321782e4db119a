"""Factors by LAPACK, called from compiled code."""

import numpy as np
import pytest

from adatron.compiled.cholesky import has_factor


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
