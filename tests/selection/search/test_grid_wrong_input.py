"""Wrong arguments of searches end with an error about the argument."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import make_moons

from adatron import SVC
from adatron.selection import GridSearchCV

X, y = make_moons(60, noise=0.3, random_state=0)


@pytest.mark.parametrize("form", [np.asarray, csr_matrix])
def test_equal_samples_have_a_range(form):
    equal = form(np.ones((20, 2)))
    assert GridSearchCV(SVC(), "auto", cv=2).fit(equal, y[:20]).best_params_["gamma"] == 1.0
    with pytest.raises(ValueError, match="too small for the kernel"):
        GridSearchCV(SVC(), "auto", cv=2).fit(form(1e-170 * X), y)
