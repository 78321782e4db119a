"""The margin system against a dense one."""

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from adatron.kernels import RBF
from adatron.solvers.linalg.bordered import Margin

pytestmark = pytest.mark.plain


def dense(H, A, r, sums):
    """d and mu of the margin system, where A has full rank."""
    m, equalities = A.shape
    system = np.block([[H, A], [A.T, np.zeros((equalities, equalities))]])
    both = np.linalg.solve(system, np.concatenate([r, sums]))
    return both[:m], both[m:]


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
