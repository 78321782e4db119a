"""Leaving one out: what the path of an incremental model tells without a fit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_iris

from adatron import IncrementalSVC
from lives import MODELS, Life, values


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
    found = life.model.loo_prediction() if kind == "svr" else life.model.loo_decision()
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


@pytest.mark.parametrize("kind", ["svc", "svr"])
def test_leaving_one_out_after_a_path_in_C(kind):
    life = Life(4, kind, "rbf", False, n=40)
    leave_out = life.model.loo_decision if kind == "svc" else life.model.loo_prediction
    before = leave_out()
    life.model.C_path(50.0)
    np.testing.assert_allclose(leave_out(), before, atol=1e-9)
