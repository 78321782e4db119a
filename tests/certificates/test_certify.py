"""Proofs end soon, look at rows whose errors are unknown, and at both classes of a kernel that may not be convex."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from adatron import SVC
from adatron.certificates import Exact, certify
from adatron.certificates.gap import crossing
from adatron.kernels import RBF
from problems import csvc, samples, solve, view_of
from twins import programs


@pytest.mark.parametrize("shape", [np.abs, np.negative, np.positive, lambda x: -np.exp(-(x**2)), lambda x: -np.abs(x)])
@pytest.mark.parametrize("part", [0.05, 0.3, 0.7])
def test_kinks_along_a_line_are_no_harder_than_others(shape, part):
    """With the first, the middle and the last one to choose from this would take hours."""
    n = 1_000_000
    kinks = shape(np.linspace(-1.0, 1.0, n))
    assert crossing(kinks, np.ones(n), part * n) == np.sort(kinks)[int(np.ceil(part * n)) - 1]


def test_rows_whose_errors_have_no_bound_are_computed():
    X, y = samples(0, 1500, 5)
    dual, kernel = csvc(y, np.full(1500, 0.05)), RBF(0.2)
    view = view_of(X, kernel, np.float32)
    beta, K = solve(view, dual, tol=1e-3).beta, kernel(X)
    for slack in (np.inf, np.nan):
        exact = Exact(dual)
        proof = certify(view, exact, beta, np.zeros(1500), np.full(1500, slack))
        assert exact.known.all()
        assert proof.convex
        np.testing.assert_allclose(proof.gap, programs.gap(K, dual, beta), rtol=1e-6)


def test_a_proof_about_no_numbers_ends():
    X, y = samples(0, 1500, 5)
    dual = csvc(y, np.full(1500, 1.0))
    beta = np.full(1500, np.nan)
    proof = certify(view_of(X, RBF(0.2), np.float32), Exact(dual), beta, beta.copy(), np.zeros(1500))
    assert not proof.relative_gap <= 1e-3


@pytest.mark.parametrize("where", [slice(300), slice(300, None)], ids=["first", "second"])
def test_negative_eigenvalues_of_one_class_beyond_the_support_vectors(where):
    """The rows that are looked at are spread over both classes."""
    X = np.random.default_rng(0).normal(size=(600, 2)) + np.repeat([[0.0], [9.0]], 300, axis=0)
    y, K = np.repeat([0, 1], 300), RBF(0.1)(X)
    fine = SVC(kernel="precomputed").fit(K, y)
    assert np.isfinite(fine.duality_gap_)
    far = np.setdiff1d(np.arange(600)[where], fine.support_)
    sign = np.where(np.arange(len(far)) % 2, 1.0, -1.0)
    K[np.ix_(far, far)] -= 0.1 * np.outer(sign, sign)
    with pytest.warns(ConvergenceWarning, match="not positive semi-definite"):
        model = SVC(kernel="precomputed").fit(K, y)
    assert np.isnan(model.duality_gap_)
