"""Leaving one out and changing C: what the path of an incremental model tells without a fit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_iris

from adatron import IncrementalNuSVC, IncrementalOneClassSVM, IncrementalSVC, IncrementalSVR
from adatron.kernels import RBF
from adatron.learning import track
from adatron.solvers.path import Stalled
from lives import MODELS, Life
from machines import values
from moments import at, raising


def brute_force(model, X, y):
    """Decision values of each sample by a fit without it."""
    out = []
    for i in range(len(X)):
        rest = np.arange(len(X)) != i
        other = clone(model).set_params(gamma=model._gamma)
        other = other.fit(X[rest]) if y is None else other.fit(X[rest], y[rest])
        out.append(values(other, X[i : i + 1])[0])
    return np.array(out)


@pytest.mark.parametrize("kind", list(MODELS))
def test_leaving_one_out_is_n_fits(kind):
    life = Life(2, kind, "rbf", False, n=50)
    life.add(3)
    X, y = life.model.store.X, None if kind == "oneclass" else life.model.store.y
    found = life.model.loo_prediction() if kind.startswith("svr") else life.model.loo_decision()
    expected = brute_force(life.model, X, y)
    np.testing.assert_allclose(found, expected, atol=1e-6 * (1.0 + np.abs(expected).max()))
    life.assert_solved()  # nothing has changed


@pytest.mark.parametrize("kind", ["svc", "nusvc"])
@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 2**31), C=st.sampled_from([0.1, 1.0, 100.0]), equal=st.booleans())
def test_the_error_is_that_of_the_values(kind, seed, C, equal):
    model = Life(seed, kind, "rbf", equal, **({"C": C} if kind == "svc" else {})).model
    wrong = (model.loo_decision() >= 0) != model.store.y
    assert model.loo_error() == wrong.mean()


@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
def test_leaving_one_out_of_several_classes(multi_class):
    X, y = load_iris(return_X_y=True)
    X, y = X[::2], y[::2]
    model = IncrementalSVC(gamma=0.5, multi_class=multi_class, decision_function_shape="ovo").fit(X, y)
    np.testing.assert_allclose(model.loo_decision(), brute_force(model, X, y), atol=1e-6)
    assert 0.0 <= model.loo_error() < 0.2


@pytest.mark.slow
@pytest.mark.parametrize(
    "model",
    [
        IncrementalSVC(kernel="linear"),
        IncrementalSVC(kernel="linear", class_weight={0: 2.0}),
        IncrementalSVR(kernel="linear"),
        IncrementalNuSVC(kernel="linear"),
        IncrementalOneClassSVM(gamma=1.0),
    ],
    ids=lambda model: f"{type(model).__name__}-{getattr(model, 'class_weight', None)}",
)
def test_every_sample_can_be_left_out_if_no_support_vector_is_free(model):
    """Then b is the middle of an interval, for the samples that stay."""
    for seed in range(20):
        random = np.random.default_rng(seed)
        y = np.arange(12) % 2
        X = random.normal(size=(12, 2)) + y[:, None]
        name, value = ("nu", (0.25, 0.4, 0.5)[seed % 3]) if hasattr(model, "nu") else ("C", (0.05, 0.1, 0.5)[seed % 3])
        model.set_params(gamma=1.0, **{name: value})
        novelty, numbers = isinstance(model, IncrementalOneClassSVM), isinstance(model, IncrementalSVR)
        targets = None if novelty else X[:, 0] + random.normal(size=12) if numbers else y
        model.fit(X) if novelty else model.fit(X, targets)
        found = model.loo_prediction() if isinstance(model, IncrementalSVR) else model.loo_decision()
        np.testing.assert_allclose(found, brute_force(model, X, targets), atol=1e-6)


def test_the_median_sample_may_hold_the_bias_alone():
    """With epsilon=0 and all others at their bounds; its coefficient is 0, and it is not at a bound."""
    random = np.random.default_rng(0)
    X, y = random.normal(size=(9, 2)), random.normal(size=9)
    model = IncrementalSVR(C=1e-3, epsilon=0.0, gamma=0.5).fit(X, y)
    (median,) = np.setdiff1d(np.arange(9), model.support_)
    assert model.predict(X[[median]])[0] == pytest.approx(y[median], abs=1e-9)
    expected = brute_force(model, X, y)
    np.testing.assert_allclose(model.loo_prediction(), expected, atol=1e-9)
    assert expected[median] != pytest.approx(y[median], abs=1e-3)
    model.forget([median]).partial_fit(X[[median]], y[[median]])
    model.forget(model.ids_[[0]])
    np.testing.assert_allclose(model.loo_prediction(), brute_force(model, model.store.X, model.store.y), atol=1e-9)


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
