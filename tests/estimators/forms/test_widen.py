"""Models of more features: the added ones are 0 in every support vector."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from adatron import SVC, SVR, InputMarginSVC
from adatron.estimators.forms.adopt import widened
from problems import samples

MACHINES = {
    "dense": SVC(gamma=0.5),
    "sparse": SVC(gamma=0.5),
    "regression": SVR(gamma=0.5),
    "tilted": InputMarginSVC(C=10.0, gamma=0.5, algorithm="full"),
}


@pytest.mark.parametrize("kind", MACHINES)
def test_added_features_only_shrink_the_values_of_a_gaussian(kind):
    X, y = samples(0, 60, 3, noise=0.5)
    new = np.random.default_rng(1).normal(size=(20, 5))
    shrink = np.exp(-0.5 * np.square(new[:, 3:]).sum(axis=1))  # k(x, z) has this factor more, and so have its slopes
    as_rows = sparse.csr_matrix if kind == "sparse" else np.asarray
    model = MACHINES[kind].fit(as_rows(X), y)
    values = "predict" if kind == "regression" else "decision_function"
    expected = shrink * (getattr(model, values)(as_rows(new[:, :3])) - model.intercept_) + model.intercept_
    wide = widened(model, 5)
    assert wide.n_features_in_ == 5
    assert_allclose(getattr(wide, values)(as_rows(new)), expected, rtol=1e-9, atol=1e-9)
