"""Folds of one sample each: exact solutions for two classes, and starts from all samples for other machines."""

import warnings

import numpy as np
import pytest
from sklearn import model_selection as theirs
from sklearn.datasets import make_classification

from adatron import SVC
from adatron.selection import GridSearchCV
from searches import both, interrupt, same_scores, score_with

TIGHT = 1e-6
X, y = make_classification(45, 4, n_informative=3, n_redundant=0, flip_y=0.1, random_state=2)
LOO = theirs.LeaveOneOut()


def compared(estimator, grid, X=X, y=y, cv=LOO, **fit):
    """Results of our search, whose scores are those of scikit-learn's."""
    ours, plain = (one.cv_results_ for one in both(estimator, grid, X, y, fit, cv=cv, refit=False))
    same_scores(ours, plain, 1e-9)
    return ours


@pytest.mark.slow
@pytest.mark.parametrize(
    ("settings", "grid"),
    [
        ({}, {"C": [0.1, 1.0, 100.0], "gamma": [0.05, 1.0]}),
        ({"gamma": 0.2}, {"class_weight": [None, {0: 3.0}, {1: 0.5}], "C": [1.0, 10.0]}),
        ({"bias": "none", "gamma": 0.2}, {"C": [0.5, 5.0]}),
        ({"bias": "augmented", "augment": 2.0, "gamma": 0.2}, {"C": [0.5, 5.0]}),
        ({"C": 1.0}, {"kernel": ["linear", "poly", "laplacian"], "gamma": [0.1], "coef0": [1.0]}),
    ],
)
@pytest.mark.parametrize("cv", [LOO, theirs.KFold(45)])
def test_two_classes_are_solved_exactly(settings, grid, cv):
    ours = compared(SVC(tol=TIGHT, **settings), grid, cv=cv)
    assert ours["converged"].all()
    assert (ours["max_duality_gap"] < 1e-6).all()
    assert ours["proven"].any()


@pytest.mark.filterwarnings("default::sklearn.exceptions.FitFailedWarning")  # of the class of one
def test_equal_samples_weights_and_a_class_of_one():
    twice, labels = np.vstack([X, X[:5]]), np.append(y, 1 - y[:5])
    twice, labels = np.vstack([twice, X[5:8]]), np.append(labels, y[5:8])
    machine, grid = SVC(gamma=0.2, tol=TIGHT), {"C": [0.5, 5.0]}
    compared(machine, grid, twice, labels)
    one = np.zeros(45, int)
    one[7] = 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        ours = compared(machine, grid, y=one)
    assert np.isnan(ours["split7_test_score"]).all()
    weight = np.random.default_rng(0).choice([0.0, 0.5, 2.0], 45)
    compared(machine, grid, sample_weight=weight)


def test_weights_of_classes_that_a_fit_refuses_cost_their_candidate():
    grid = {"class_weight": [None, {0: 1.0, 5: 2.0, 6: 1.0}, {0: 0.0}]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours = compared(SVC(gamma=0.2, tol=TIGHT), grid)
    assert np.isnan(ours["mean_test_score"]).tolist() == [False, True, True]


def test_ctrl_c_keeps_what_is_finished():
    scoring = score_with(interrupt, 45 + 10)
    search = GridSearchCV(SVC(gamma=0.2), {"C": [0.5, 5.0, 50.0]}, cv=LOO, refit=False, scoring=scoring)
    with pytest.warns(UserWarning, match="ended by Ctrl-C"):
        search.fit(X, y)
    assert np.isnan(search.cv_results_["mean_test_score"]).tolist() == [False, True, True]
    assert search.best_index_ == 0


def test_the_number_of_threads_changes_nothing():
    one, other = (
        GridSearchCV(SVC(gamma=0.2), {"C": [0.5, 5.0]}, cv=LOO, refit=False, n_jobs=n).fit(X, y).cv_results_
        for n in (1, 2)
    )
    for name in ("mean_test_score", "max_duality_gap", "proven"):
        np.testing.assert_array_equal(one[name], other[name])


def test_a_search_that_is_out_of_time_begins_no_path():
    X, y = make_classification(300, 5, flip_y=0.3, random_state=0)
    search = GridSearchCV(SVC(), {"C": [1.0, 10.0, 100.0, 1000.0]}, cv=LOO, refit=False, max_time=0.02)
    with pytest.raises(ValueError, match=r"max_time=0\.02"):
        search.fit(X, y)
