"""The progress of a search; Ctrl-C and a limit of time keep what is finished."""

import contextlib
import time
import warnings

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression

from adatron import SVC
from adatron.selection import GridSearchCV, RandomizedSearchCV
from adatron.selection.search.watch import CellCount, SearchWatch
from searches import interrupt, score_with

X, y = make_classification(90, 5, n_informative=4, n_redundant=0, flip_y=0.1, random_state=0)
GRID = {"C": [0.1, 1.0, 10.0], "gamma": [0.1, 1.0]}


def assert_kept(search, scored):
    """Some candidates have all their scores, the others none that count; the best of the former is fitted."""
    results = search.cv_results_
    means = results["mean_test_score"]
    known = ~np.isnan(means)
    assert 0 < known.sum() < len(means)
    splits = np.array([results[f"split{k}_test_score"] for k in range(search.n_splits_)])
    assert np.isfinite(splits).sum() == scored
    assert search.best_score_ == means[known].max()
    assert known[search.best_index_]
    assert search.best_estimator_.score(X, y) > 0.6
    assert (results["rank_test_score"][~known] > known.sum()).all()


# The scores of plain fits come one by one; those of a shared kernel come when all its fits are done.
@pytest.mark.parametrize(
    ("estimator", "grid"),
    [(LogisticRegression(), {"C": [0.1, 1.0, 10.0]}), (SVC(), GRID), (SVC(probability=True), {"C": [0.1, 1.0, 10.0]})],
)
@pytest.mark.parametrize("train", [False, True])
def test_ctrl_c_keeps_what_is_finished(estimator, grid, train):
    times = 2 if train else 1
    score = score_with(interrupt, 8 * times)
    search = GridSearchCV(estimator, grid, scoring=score, cv=3, return_train_score=train)
    with pytest.warns(UserWarning, match=r"ended by Ctrl-C: \d+ of \d+ fits were not finished") as told:
        search.fit(X, y)
    assert not [one for one in told if "non-finite" in str(one.message)]
    finished = next(str(one.message) for one in told if "Ctrl-C" in str(one.message))
    assert "'C': " in finished
    assert_kept(search, 7)


def test_ctrl_c_before_any_candidate_is_complete():
    search = GridSearchCV(SVC(), GRID, scoring=score_with(interrupt, 2), cv=3)
    with pytest.raises(KeyboardInterrupt):
        search.fit(X, y)
    assert not hasattr(search, "cv_results_")


def test_ctrl_c_during_the_last_fit_is_one():
    class Slow(LogisticRegression):
        def fit(self, X, y):
            if len(y) == len(globals()["y"]):
                raise KeyboardInterrupt
            return super().fit(X, y)

    with pytest.raises(KeyboardInterrupt):
        GridSearchCV(Slow(), {"C": [0.1, 1.0]}, cv=3).fit(X, y)


@pytest.mark.slow
@pytest.mark.parametrize("estimator", [LogisticRegression(), SVC(probability=True)])
def test_a_limit_of_time_keeps_what_is_finished(estimator):
    score = score_with(lambda: time.sleep(2.0), 7)
    search = GridSearchCV(estimator, {"C": [0.1, 1.0, 10.0]}, scoring=score, cv=3, max_time=1.9)
    GridSearchCV(estimator, {"C": [1.0]}, cv=2).fit(X, y)  # compiles
    with pytest.warns(UserWarning, match=r"after max_time=1\.9 seconds: 2 of 9 fits .* {'C': 10\.0}\. The best of"):
        search.fit(X, y)
    assert_kept(search, 7)


def test_a_shared_search_ends_in_time():
    X, y = make_classification(1500, 10, n_informative=6, flip_y=0.2, random_state=0)
    grid = {"C": np.geomspace(1.0, 1e6, 12), "gamma": np.geomspace(1e-2, 10.0, 12)}
    search = GridSearchCV(SVC(), grid, max_time=1.0, refit=False)
    start = time.perf_counter()
    with contextlib.suppress(ValueError), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        search.fit(X, y)
    assert time.perf_counter() - start < 20.0
    assert not hasattr(search, "cv_results_") or np.isnan(search.cv_results_["mean_test_score"]).any()


def test_no_time_for_anything():
    search = GridSearchCV(SVC(), GRID, max_time=1e-9)
    with pytest.raises(ValueError, match=r"ended after max_time=1e-09 seconds before all folds .*; allow more time"):
        search.fit(X, y)
    assert not hasattr(search, "cv_results_")


def test_time_enough_changes_nothing():
    one, other = (RandomizedSearchCV(SVC(), GRID, n_iter=4, random_state=0, max_time=t).fit(X, y) for t in (None, 1e6))
    np.testing.assert_array_equal(one.cv_results_["mean_test_score"], other.cv_results_["mean_test_score"])


def test_several_metrics_and_a_range_of_its_own():
    calls = score_with(interrupt, 60)
    search = GridSearchCV(SVC(), "auto", scoring={"a": "accuracy", "b": calls}, refit="b", cv=2)
    with pytest.warns(UserWarning, match="by Ctrl-C"):
        search.fit(X, y)
    assert np.isnan(search.cv_results_["mean_test_a"]).any()
    assert np.isfinite(search.best_score_)


def test_cells_are_counted_and_shown():
    with SearchWatch(None, visible=False) as watch:
        watch.begin(4)
        watch.begin(2)
        watch.advance(1)
        CellCount(watch, 2, 1).end()
    assert watch.line() == "search: 3 of 6 fits in 0 s"


@pytest.mark.parametrize("estimator", [SVC(), LogisticRegression()])
def test_a_bar_counts_all_fits(estimator, capsys, monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    GridSearchCV(estimator, {"C": [0.1, 1.0]}, cv=3, verbose=1).fit(X, y)
    out, err = capsys.readouterr()
    assert "Fitting 3 folds for each of 2 candidates, totalling 6 fits" in out
    assert "search" in err
    GridSearchCV(estimator, {"C": [0.1, 1.0]}, cv=3).fit(X, y)
    assert capsys.readouterr() == ("", "")
