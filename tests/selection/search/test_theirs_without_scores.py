"""A search in which no candidate has a score says why; failing candidates are told in a few words."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from adatron import SVC
from adatron.selection import GridSearchCV, RandomizedSearchCV

X, y = make_moons(60, noise=0.3, random_state=0)
GRID = {"C": [1.0, np.float64(10.0)]}

pytestmark = pytest.mark.filterwarnings("ignore:Scoring failed", "ignore:One or more of the test scores")


def nothing(estimator, X, y):
    return np.nan


def one_of_two(estimator, X, y):
    return {"good": 1.0, "bad": np.nan}


@pytest.mark.filterwarnings("default:invalid value encountered in reduce:RuntimeWarning")  # their mean is none
def test_infinite_scores_of_both_signs_are_an_error_with_a_reason():
    ends = iter([np.inf, -np.inf] * 10)
    with pytest.raises(ValueError, match=r"No candidate of the search has a score.* a score that is inf"):
        GridSearchCV(SVC(), GRID, scoring=lambda estimator, X, y: next(ends), cv=2).fit(X, y)


def test_the_reason_is_of_the_first_fold_and_folds_are_told_once(capsys):
    tried = []

    def fails(estimator, X, y):
        tried.append(X[0].tolist())
        raise RuntimeError(f"predict_proba of {len(tried)}")

    folds = KFold(2, shuffle=True)
    with pytest.raises(ValueError, match=r"predict_proba of 5\. Pass another scoring"):
        GridSearchCV(SVC(), GRID, scoring=fails, cv=folds, verbose=1).fit(X, y)
    assert tried[4] == tried[0]
    assert capsys.readouterr().out.count("Fitting 2 folds") == 1


def test_other_estimators_keep_the_way_of_scikit_learn():
    search = GridSearchCV(LogisticRegression(), {"C": [1.0, 2.0]}, scoring=nothing, cv=3).fit(X, y)
    assert search.best_index_ == 0


def test_other_metrics_and_no_choice_keep_their_results():
    search = GridSearchCV(SVC(), GRID, scoring=one_of_two, refit="good", cv=3).fit(X, y)
    assert np.isnan(search.cv_results_["mean_test_bad"]).all()
    search = GridSearchCV(SVC(), GRID, scoring=nothing, refit=False, cv=3).fit(X, y)
    assert np.isnan(search.cv_results_["mean_test_score"]).all()


@pytest.mark.parametrize("machine", [SVC(), make_pipeline(StandardScaler(), SVC())])
@pytest.mark.parametrize("kind", [GridSearchCV, RandomizedSearchCV])
def test_a_function_that_chooses_names_no_metric(machine, kind):
    name = "C" if isinstance(machine, SVC) else "svc__C"
    more = {"n_iter": 2} if kind is RandomizedSearchCV else {}
    settings = {"scoring": ["accuracy", "f1"], "refit": lambda results: 1, "cv": 3, **more}
    search = kind(machine, {name: [0.1, 1.0]}, **settings).fit(X, y)
    assert search.best_index_ == 1
    assert search.predict(X).shape == y.shape
    with pytest.raises(ValueError, match=r"one metric.*callable refit.*'accuracy', 'f1'.*search.scorer_\['accuracy'\]"):
        search.score(X, y)
    assert search.scorer_["accuracy"](search, X, y) == np.mean(search.predict(X) == y)
    alone = kind(machine, {name: [0.1, 1.0]}, **{**settings, "scoring": "f1"}).fit(X, y)
    assert 0.0 < alone.score(X, y) <= 1.0


def test_a_function_of_several_scores_is_called_itself():
    search = GridSearchCV(SVC(), GRID, scoring=one_of_two, refit=lambda results: 0, cv=3).fit(X, y)
    with pytest.raises(ValueError, match=r"call search.scorer_\(search, X, y\)"):
        search.score(X, y)
    assert search.scorer_(search, X, y)["good"] == 1.0


def test_failing_candidates_are_told_without_lines_of_code():
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        GridSearchCV(SVC(), {"C": [1.0, -1.0]}, cv=3).fit(X, y)
    (text,) = (str(one.message) for one in said if one.category is FitFailedWarning)
    assert "3 fits failed out of a total of 6" in text
    assert "The 'C' parameter of SVC must be a float" in text
    assert "Got -1.0 instead" in text
    assert "Traceback" not in text
    assert "File " not in text
