"""What the papers' pages share."""

import warnings

import numpy as np
import pytest
from reproductions.fits import coefficients_of, dense_program, quietly, standard_error, timed
from sklearn.datasets import make_moons

from adatron import SVC
from adatron.kernels import RBF

X, labels = make_moons(40, noise=0.3, random_state=0)
y = 2.0 * labels - 1.0


@pytest.mark.parametrize("interior", [False, True])
def test_the_dense_program_has_the_optimum_of_the_library(interior):
    model = SVC(C=2.0, gamma=1.0, tol=1e-9).fit(X, y)
    found = dense_program(RBF(1.0)(X), y, 2.0, interior)
    assert found.objective == pytest.approx(model.dual_objective_, rel=1e-5)
    np.testing.assert_allclose(found.alpha, np.abs(coefficients_of(model, 40)), atol=1e-2)
    assert found.iterations > 1


def test_a_limit_of_iterations_gives_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = quietly(SVC(max_iter=1, solver="smo"), X, y)
    assert model.fit_status_ != 0


def test_standard_error_is_that_of_a_mean():
    assert standard_error([1.0, 3.0]) == pytest.approx(1.0)


def test_timed_returns_the_result():
    result, seconds = timed(lambda: 7)
    assert result == 7
    assert isinstance(seconds, float)
