"""Bad input is one clear sentence; hard input never a false 'converged'."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from adatron import SVC, NuSVC

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
y = (X[:, 0] + 0.3 * rng.normal(size=60) > 0).astype(int)


def test_more_memory_than_there_is():
    assert SVC(cache_size=1e308).fit(X, y).fit_status_ == 0


def test_kernels_that_are_not_semidefinite():
    A = rng.normal(size=(60, 60))
    with pytest.warns(
        ConvergenceWarning, match="Not certified: .*not positive semi-definite.*, and .K . K.T. / 2 of the given"
    ):
        model = SVC(kernel="precomputed", max_iter=10**5).fit(A + A.T, y)
    assert np.isnan(model.duality_gap_)
    with pytest.warns(ConvergenceWarning):
        assert SVC(kernel="sigmoid", gamma=2.0, coef0=1.0, max_iter=10**5).fit(X, y).fit_status_ == 1


def test_nu_below_every_margin():
    """scikit-learn's fit ends with an error, or with coefficients that are rounding errors divided by a margin of 0."""
    alike = np.ones((60, 2))
    with pytest.warns(ConvergenceWarning, match="have no margin: nu = 0.2 is less than"):
        model = NuSVC(kernel="linear", nu=0.2).fit(alike, y)
    assert np.abs(model.dual_coef_).max() <= 1
    assert np.abs(model.decision_function(alike)).max() <= model.tol
