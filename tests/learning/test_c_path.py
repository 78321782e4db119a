"""Leaving one out and changing C: what the path of an incremental model tells without a fit."""

import numpy as np
import pytest
from sklearn.base import clone

from adatron import IncrementalSVC
from adatron.kernels import RBF
from adatron.learning import track
from adatron.solvers.path import Stalled
from lives import Life, values
from moments import at, raising


@pytest.mark.parametrize("kind", ["svc", "svr"])
def test_a_path_in_C_holds_the_solution_of_every_C(kind):
    life = Life(4, kind, "rbf", False)
    model = life.model.set_C(0.1)
    (path,) = model.C_path(50.0)
    assert path.C[0] == 0.1
    assert path.C[-1] == 50.0
    assert (np.diff(path.C) >= 0).all()
    for C in (0.1, 0.7, 3.0, 49.0, 50.0):
        other = clone(model).set_params(C=C)
        life.call(other.fit, model.store.X, model.store.y)
        coefficients, intercept = path.at(C)
        K = RBF(0.5)(model.store.X)
        np.testing.assert_allclose(K @ coefficients, K @ other.learner.tracks[0].beta, atol=1e-6)
        np.testing.assert_allclose(intercept, other.intercept_[0], atol=1e-6)
    life.assert_solved()  # the model itself has not moved
    with pytest.raises(ValueError, match="C must be on the path"):
        path.at(51.0)


@pytest.mark.parametrize("kind", ["svc", "svr"])
def test_after_a_path_in_C_the_model_goes_on_as_before(kind):
    """The path is a copy: what it does to its bounds is not done to the model's."""
    acts = (
        lambda model: model.forget([1, 2]),
        lambda model: model.set_C(2.0),
        lambda model: model.loo_error(),
        lambda model: model.forget([5]),
    )
    for act in acts:
        life, twin = (Life(4, kind, "rbf", False, n=60) for _ in range(2))
        life.model.C_path(50.0)
        ours, theirs = act(life.model), act(twin.model)
        if isinstance(ours, float):
            np.testing.assert_allclose(ours, theirs, rtol=1e-9)
        else:
            np.testing.assert_allclose(values(ours, ours.store.X), values(theirs, ours.store.X), atol=1e-9)
            assert ours.kkt_violation_ <= 1e-9


def test_both_ends_have_the_intercept_of_a_fit_if_no_variable_is_free():
    for seed in range(10):
        random = np.random.default_rng(seed)
        y = np.arange(12) % 2
        X = random.normal(size=(12, 2)) + y[:, None]
        many, few = (IncrementalSVC(kernel="linear", C=C).fit(X, y) for C in (5.0, 0.05))
        assert many.C_path(0.05)[0].intercepts[-1] == pytest.approx(few.intercept_[0], abs=1e-9)
        assert few.C_path(5.0)[0].intercepts[0] == pytest.approx(few.intercept_[0], abs=1e-9)


def test_a_path_in_C_that_goes_nowhere_has_both_ends():
    life = Life(4, "svc", "rbf", False)
    (path,) = life.model.C_path(1.0)
    assert path.C.tolist() == [1.0, 1.0]
    np.testing.assert_array_equal(path.at(1.0)[0], life.model.learner.tracks[0].beta)


def test_a_path_in_C_without_a_way_is_an_arithmetic_error():
    life = Life(4, "svc", "rbf", False)
    with at(track.Homotopy.follow, raising(Stalled)), pytest.raises(ArithmeticError, match="Rounding leaves no way"):
        life.model.C_path(9.0)
