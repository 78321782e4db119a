"""Labels that a search calls proven are those of fits that are solved as far as float64 goes."""

import signal
import time

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification, make_moons
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import StratifiedKFold

from adatron import SVC, NuSVC, OneClassSVM
from adatron.selection import GridSearchCV

CV = StratifiedKFold(3)
CASES = {
    "svc": (SVC(), {"C": [0.1, 3.0, 100.0], "gamma": [0.2, 2.0]}, 2),
    "pairs": (SVC(), {"C": [0.1, 3.0], "gamma": [0.2, 2.0]}, 3),
    "rest": (SVC(multi_class="ovr"), {"C": [0.1, 3.0], "gamma": [0.2]}, 3),
    "no bias": (SVC(bias="none"), {"C": [0.1, 3.0], "gamma": [0.2]}, 2),
    "augmented": (SVC(bias="augmented"), {"C": [0.1, 3.0], "gamma": [0.2]}, 2),
    "nusvc": (NuSVC(), {"nu": [0.3, 0.6], "gamma": [0.2, 2.0]}, 2),
    "novelty": (OneClassSVM(), {"nu": [0.1, 0.5], "gamma": [0.2, 2.0]}, 2),
}


def data(classes, n=150):
    return make_classification(
        n, 4, n_informative=4, n_redundant=0, n_classes=classes, n_clusters_per_class=1, flip_y=0.1, random_state=3
    )


def labels(estimator, params, X, y):
    """The labels of the left-out samples by fits that are solved to a relative gap of 1e-10."""
    out = np.empty(len(y), int)
    for train, test in CV.split(X, y):
        model = clone(estimator).set_params(**params, tol=1e-6, gap_tol=1e-10).fit(X[train], y[train])
        out[test] = model.predict(X[test])
    return out


@pytest.mark.parametrize("name", CASES)
def test_proven_scores_are_those_of_the_optimum(name):
    estimator, grid, classes = CASES[name]
    X, y = data(classes)
    if name == "novelty":
        y = np.where(y > 0, 1, -1)
    loose = clone(estimator).set_params(tol=0.1)
    found = GridSearchCV(loose, grid, cv=CV, scoring="accuracy", refit=False, prove=True).fit(X, y)
    results, once = found.cv_results_, None
    assert any(results["proven"])
    for number, params in enumerate(results["params"]):
        best = labels(estimator, params, X, y)
        scores = [np.mean(best[test] == y[test]) for _, test in CV.split(X, y)]
        if results["proven"][number]:
            once = once or number
            np.testing.assert_allclose([results[f"split{i}_test_score"][number] for i in range(3)], scores, atol=1e-12)
    best = found.best_index_
    doubt = found.unproven_samples_[best]
    assert results["proven"][best] or len(doubt) > 0


def test_loose_solutions_prove_little_and_near_ones_much():
    X, y = make_moons(200, noise=0.3, random_state=0)
    proven = []
    for gap_tol in (None, 1e-11):
        search = GridSearchCV(SVC(tol=0.5, gap_tol=gap_tol), {"C": [1.0, 30.0], "gamma": [1.0]}, refit=False)
        proven.append(list(search.fit(X, y).cv_results_["proven"]))
    assert proven == [[False, False], [True, True]]


def test_scores_of_more_than_labels_are_never_proven():
    X, y = data(2)
    search = GridSearchCV(SVC(gap_tol=1e-11), {"C": [1.0]}, scoring="roc_auc", refit=False, prove=True).fit(X, y)
    assert not any(search.cv_results_["proven"])


def test_candidates_that_may_be_best_are_proven_on_request():
    X, y = make_moons(200, noise=0.3, random_state=0)
    search = GridSearchCV(SVC(tol=0.5), {"C": [1.0, 30.0], "gamma": [1.0]}, refit=False, prove=True).fit(X, y)
    assert search.cv_results_["proven"][search.best_index_]
    assert len(search.unproven_samples_[search.best_index_]) == 0


def test_proofs_go_with_ranges_that_are_found():
    X, y = make_moons(120, noise=0.3, random_state=0)
    search = GridSearchCV(SVC(tol=0.5), {"C": [0.1, 10.0], "gamma": "auto"}, cv=3, refit=False, prove=True).fit(X, y)
    results = search.cv_results_
    assert results["proven"][search.best_index_]
    assert len(search.unproven_samples_) == len(results["params"])
    for proven, doubt in zip(results["proven"], search.unproven_samples_, strict=True):
        assert proven == (doubt is not None and len(doubt) == 0)


def ended_by(number, act):
    """A score of labels that does something when it is asked for the n-th time."""
    calls = []

    def score(y_true, y_pred):
        calls.append(1)
        if len(calls) == number:
            act()
        return accuracy_score(y_true, y_pred)

    return make_scorer(score)


@pytest.mark.parametrize("way", ["Ctrl-C", "max_time"])
def test_what_was_found_stays_if_proofs_are_broken_off(way):
    X, y = make_moons(120, noise=0.3, random_state=0)
    grid = {"C": [0.1, 10.0], "gamma": [0.5, 2.0]}
    plain = GridSearchCV(SVC(tol=0.5), grid, cv=3, refit=False, scoring="accuracy").fit(X, y)
    seconds = None if way == "Ctrl-C" else 10.0
    act = (lambda: signal.raise_signal(signal.SIGINT)) if way == "Ctrl-C" else (lambda: time.sleep(10.0))
    scoring = ended_by(3 * 4 + 1, act)
    search = GridSearchCV(SVC(tol=0.5), grid, cv=3, refit=False, scoring=scoring, prove=True, max_time=seconds)
    search.fit(X, y)
    scores = search.cv_results_["mean_test_score"]
    np.testing.assert_array_equal(scores, plain.cv_results_["mean_test_score"])
    assert len(search.unproven_samples_) == len(scores)
    assert search.best_score_ == scores.max()
