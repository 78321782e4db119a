"""What the outcome of a search says of its range."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, OneClassSVM

from adatron.outcome import best_of, edges, edges_of, measure_of, metric_of, positions, values_of, varied


def results(scores, **params):
    """``cv_results_`` with one metric; a value of None is absent."""
    n = len(scores)
    columns = {
        f"param_{name}": np.ma.MaskedArray(np.array(given, object), mask=[value is None for value in given])
        for name, given in params.items()
    }
    named = [{name: given[k] for name, given in params.items() if given[k] is not None} for k in range(n)]
    return {"params": named, "mean_test_score": np.array(scores, float), **columns}


def test_values_are_numbers_in_order_then_others():
    found = results([0, 0, 0, 0], gamma=["scale", 1.0, 0.1, "scale"], C=[1, 1, 1, 1])
    assert values_of(found, "gamma") == [0.1, 1.0, "scale"]
    assert varied(found) == ["gamma"]
    assert values_of(results([0, 0], w=[{0: 1}, {0: 1}]), "w") == [{0: 1}]


@pytest.mark.parametrize(
    ("scores", "C", "edge"),
    [
        ([0.5, 0.6, 0.7], [1, 10, 100], {"C": "largest"}),
        ([0.7, 0.6, 0.5], [1, 10, 100], {"C": "smallest"}),
        ([0.5, 0.7, 0.5], [1, 10, 100], {}),
        ([0.5, 0.7, 0.7], [1, 10, 100], {}),  # a candidate inside is as good
        ([0.7, 0.6, np.nan], [1, 10, 100], {"C": "smallest"}),
        ([np.nan, np.nan, np.nan], [1, 10, 100], {}),
        ([0.7, 0.6, 0.5], [0, 10, 100], {}),  # nothing is beyond 0
        ([0.5, 0.6, 0.7], [0.1, 1, np.inf], {}),
        ([0.7, 0.6, 0.5], ["scale", "auto", 0.1], {}),  # words have no order
        ([0.7, 0.6, 0.5], [True, False, None], {}),
    ],
)
def test_the_best_candidate_may_be_at_the_edge(scores, C, edge):
    found = results(scores, C=C)
    assert edges(found, best_of(found)) == edge


def test_nan_is_a_value_of_its_own():
    nan = float("nan")
    results = {
        "param_a": np.ma.array([1.0, nan, nan, 2.0]),
        "param_b": np.ma.array([nan, "x", np.float64(nan), 1.0], dtype=object),
    }
    results["params"] = [
        {"a": a, "b": b} for a, b in zip(results["param_a"].data, results["param_b"].data, strict=True)
    ]
    for name, places in (("a", [0, 2, 2, 1]), ("b", [1, 2, 1, 0])):
        values = values_of(results, name)
        assert len(values) == 3
        assert positions(results, name, values).tolist() == places
    assert varied(results) == ["a", "b"]


def test_the_metric_that_chose_is_meant():
    X, y = make_classification(60, random_state=0)
    grid = {"C": [0.1, 1.0, 10.0]}
    several = GridSearchCV(SVC(), grid, scoring=["accuracy", "f1"], refit="f1").fit(X, y)
    assert metric_of(several) == "f1"
    assert metric_of(several, "accuracy") == "accuracy"
    with pytest.raises(ValueError, match=r"metric is 'roc', and the metrics of the search are \['accuracy', 'f1'\]"):
        metric_of(several, "roc")
    with pytest.raises(ValueError, match="metric is missing"):
        metric_of(GridSearchCV(SVC(), grid, scoring=["accuracy", "f1"], refit=False).fit(X, y))
    chosen = GridSearchCV(SVC(), grid, refit=lambda results: 2).fit(X, y)
    assert edges_of(chosen) == {"C": "largest"}


def test_a_whole_number_beyond_floats_is_a_value():
    huge = 10**400
    found = results([0, 0, 0], seed=[huge, 1, huge])
    assert positions(found, "seed", [1, huge]).tolist() == [1, 0, 1]


@pytest.mark.parametrize(
    ("estimator", "scoring", "metric", "name"),
    [
        (SVC(), None, "score", "accuracy"),
        (SVR(), None, "score", "R²"),
        (make_pipeline(StandardScaler(), SVC()), None, "score", "accuracy"),
        (SVC(), "balanced_accuracy", "score", "balanced accuracy"),
        (SVC(), max, "score", "score"),
        (SVC(), ["f1", "roc_auc"], "roc_auc", "roc auc"),
        (OneClassSVM(), None, "score", "score"),
    ],
)
def test_a_measure_has_its_name(estimator, scoring, metric, name):
    assert measure_of(GridSearchCV(estimator, {}, scoring=scoring), metric) == name
