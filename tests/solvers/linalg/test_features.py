"""Sums and systems over features against dense ones, on any number of threads."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from adatron.kernels import Linear
from adatron.solvers.linalg.features import ByFeatures, Features
from adatron.threads import Pool
from problems import view_of

FORMS = {
    "dense": lambda X: X,
    "float32": lambda X: X.astype(np.float32),
    "CSR": csr_matrix,
    "full CSR": lambda X: csr_matrix(np.where(X == 0.0, 0.5, X)),
}


def rows(n=3000, d=7):
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.15) * np.logspace(-2, 2, d), rng


@pytest.mark.parametrize("lambda2", [0.0, 0.36])
@pytest.mark.parametrize("memory", [0.0, 1e9])
@pytest.mark.parametrize("form", FORMS)
def test_sums_are_those_of_the_rows_with_a_border(form, memory, lambda2):
    """The border is the last feature of each row if there is a penalised bias."""
    X, rng = rows()
    X = FORMS[form](X)
    features = Features(view_of(X, Linear()), lambda2, memory)
    near = X.toarray() if form.endswith("CSR") else X.astype(float)
    near = np.column_stack([near, np.full(len(near), 0.6)]) if lambda2 else near
    n, d = near.shape
    assert (features.n, features.d) == (n, d)
    P, H, E = rng.normal(size=(d, 2)), rng.normal(size=(n, 3)), rng.random(n) * (rng.random(n) < 0.7)
    close = {"rtol": 1e-11, "atol": 1e-9}
    np.testing.assert_allclose(features.times(P), near @ P, **close)
    np.testing.assert_allclose(features.sums(H), near.T @ H, **close)
    np.testing.assert_allclose(features.squares(E), (near * E[:, None]).T @ near, **close)


@pytest.mark.parametrize("lambda2", [0.0, 0.36])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("weights", [1e-6, 1.0, 1e6])
def test_a_system_by_features_is_that_of_all_rows(form, weights, lambda2):
    X, rng = rows(300, 5)
    X = FORMS[form](X)
    system = ByFeatures(view_of(X, Linear()), lambda2, lambda: False)
    near = X.toarray() if form.endswith("CSR") else X.astype(float)
    K, E, h = near @ near.T + lambda2, weights * rng.random(300), rng.normal(size=(300, 2))
    assert len(system) == 300
    np.testing.assert_allclose(system.times(h[:, 0]), K @ h[:, 0], rtol=1e-10, atol=1e-9)
    x, M = system.factor(E)(h), E[:, None] * K
    error = np.abs(x + M @ x - h).max()
    assert error <= 1e-9 * np.abs(h).max() + 1e-13 * (np.abs(M) @ np.abs(x)).max()


@pytest.mark.parametrize("form", FORMS)
def test_bits_do_not_depend_on_the_number_of_threads(form):
    X, rng = rows(5001, 9)
    P, H, E = rng.normal(size=(10, 2)), rng.normal(size=(5001, 2)), rng.random(5001)
    one, three = (Features(view_of(FORMS[form](X), Linear(), pool=Pool(k)), 0.36) for k in (1, 3))
    np.testing.assert_array_equal(one.times(P), three.times(P))
    np.testing.assert_array_equal(one.sums(H), three.sums(H))
    np.testing.assert_array_equal(one.squares(E), three.squares(E))
