"""A range is widened while the best candidate is at its edge."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.linear_model import LogisticRegression

from adatron import SVC
from adatron.selection import GridSearchCV
from adatron.selection.ranges.auto import Axis, geometric

X, y = make_moons(60, noise=0.25, random_state=0)


def search(C, gamma=1.0, **more):
    """A search with the best score at some C and gamma."""

    def score(model, X, y):
        return -abs(np.log(model.C / C)) - abs(np.log(model.gamma / gamma))

    return GridSearchCV(SVC(tol=1.0), "auto", scoring=score, cv=2, refit=False, **more).fit(X, y)


@pytest.mark.parametrize(("C", "rounds"), [(1.0, 0), (1e5, 2), (1e6, 3), (0.03, 1)])
def test_as_far_as_the_best_candidate_asks(C, rounds):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = search(C)
    assert found.best_params_["C"] == C
    values = np.unique(np.asarray(found.cv_results_["param_C"], float))
    assert len(values) == 5 + rounds + (C > 1e3)  # one value is behind the best one
    gammas = len(np.unique(np.asarray(found.cv_results_["param_gamma"], float)))
    assert len(found.cv_results_["params"]) == len(values) * gammas


def test_both_at_once():
    found = search(1e4, 1e-6)
    assert found.best_params_["C"] == 1e4
    assert found.best_params_["gamma"] < 1e-4


def test_a_best_candidate_still_at_the_edge_is_said():
    with pytest.warns(UserWarning, match=r"at the edge .* after 6 steps .*: the largest C, 1e\+09\. Better ones"):
        search(1e30)


def test_nothing_is_sought_where_nothing_changes():
    """Below some C all variables are at the bound."""
    found = search(1e-30)
    assert 1e-3 <= found.best_params_["C"] <= 0.1
    flat = GridSearchCV(SVC(), "auto", scoring=lambda model, X, y: 0.5, cv=2).fit(X, y)
    assert len(np.unique(np.asarray(flat.cv_results_["param_C"], float))) == 5


def test_the_user_s_own_range_stays():
    best = GridSearchCV(SVC(), {"C": [1e-3, 1e-2]}, cv=2).fit(X, y)
    assert len(best.cv_results_["params"]) == 2
    assert len(GridSearchCV(LogisticRegression(), {"C": [1e-3, 1e-2]}, cv=2).fit(X, y).cv_results_["params"]) == 2


def test_several_metrics():
    common = {"scoring": ["accuracy", "f1"], "cv": 2}
    assert "C" in GridSearchCV(SVC(), "auto", refit="f1", **common).fit(X, y).best_params_
    assert not hasattr(GridSearchCV(SVC(), "auto", refit=False, **common).fit(X, y), "best_params_")
    chosen = GridSearchCV(SVC(), "auto", refit=lambda results: 0, **common).fit(X, y)
    assert chosen.best_index_ == 0


@pytest.mark.parametrize(
    ("axis", "edge", "value"),
    [
        (Axis((0.1, 1.0, 10.0), 10.0), "largest", 100.0),
        (Axis((0.1, 1.0, 10.0), 10.0), "smallest", 0.01),
        (Axis((0.1, 1.0), 10.0, least=0.05), "smallest", 0.05),
        (Axis((0.1, 1.0), 10.0, least=0.1), "smallest", None),
        (Axis((0.1, 0.5), 2.0, most=0.8), "largest", 0.8),
        (Axis((0.1, 0.799), 2.0, most=0.8), "largest", None),
        (Axis((1e308,), 10.0), "largest", None),
    ],
)
def test_beyond(axis, edge, value):
    assert axis.beyond(edge) == value
    if value is not None:
        assert axis.wider(edge).values == tuple(sorted((*axis.values, value)))


def test_geometric():
    assert geometric(0.01, 10.0, 1.0, 10.0, 9) == (0.01, 0.1, 1.0, 10.0)
    many = geometric(1e-9, 1e9, 1.0, 10.0, 5)
    assert len(many) == 5
    np.testing.assert_allclose(np.diff(np.log10(many)), 1.0)
