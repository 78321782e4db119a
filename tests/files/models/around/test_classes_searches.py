"""Searches of adatron in model files: they come back as they were, alone and around pipelines."""

import numpy as np
import pytest
from scipy.stats import loguniform
from sklearn.model_selection import LeaveOneOut
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from adatron import SVC, SVR, IncrementalSVC, forget, load, save
from adatron.selection import GridSearchCV, HalvingGridSearchCV, RandomizedSearchCV

X = np.random.default_rng(0).normal(size=(60, 3))
THREE = np.digitize(X[:, 0] + 0.3 * X[:, 1], [-0.5, 0.5])
GRID = {"C": [1, 10.0], "gamma": [0.1, 1]}
SEARCHES = {
    "grid": (GridSearchCV(SVC(), GRID, cv=2), THREE),
    "proven": (GridSearchCV(SVC(), GRID, cv=2, prove=True), THREE),
    "auto": (GridSearchCV(SVR(), "auto", cv=2), X[:, 1]),
    "left out": (GridSearchCV(SVC(), GRID, cv=LeaveOneOut()), THREE > 0),
    "drawn": (RandomizedSearchCV(SVC(), {"C": loguniform(0.1, 10)}, n_iter=3, cv=2, random_state=0), THREE),
    "halving": (HalvingGridSearchCV(SVC(), GRID, cv=2, random_state=0), THREE),
    "pipeline": (GridSearchCV(make_pipeline(StandardScaler(), SVC()), {"svc__C": [1, 10]}, cv=2), THREE),
    "in a pipeline": (make_pipeline(StandardScaler(), GridSearchCV(SVC(), GRID, cv=2)), THREE),
    "not fitted": (GridSearchCV(SVC(), GRID), None),
}


@pytest.mark.parametrize("name", SEARCHES)
def test_a_search_comes_back(name, tmp_path):
    search, y = SEARCHES[name]
    if y is not None:
        search.fit(X, y)
    save(search, tmp_path / "m")
    loaded = load(tmp_path / "m")
    save(loaded, tmp_path / "again")
    assert type(loaded) is type(search)
    assert (tmp_path / "m").read_bytes() == (tmp_path / "again").read_bytes()
    if y is None:
        loaded.fit(X, THREE)
        return
    np.testing.assert_array_equal(loaded.predict(X), search.predict(X))
    assert loaded.score(X, y) == search.score(X, y)
    if hasattr(search, "cv_results_"):
        assert str(loaded.cv_results_) == str(search.cv_results_)
        assert loaded.end_ == search.end_


def test_a_loaded_search_forgets_in_its_file(tmp_path):
    search = GridSearchCV(IncrementalSVC(gamma=0.3), {"C": [1, 10]}, cv=2).fit(X, THREE)
    save(search, tmp_path / "m")
    forget(load(tmp_path / "m"), [3])
    assert 3 not in load(tmp_path / "m").best_estimator_.ids_
