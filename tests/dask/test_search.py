"""A search on a cluster has the results of one machine; workers may import this package from any of its ends."""

import numpy as np
import pytest
from joblib import parallel_config
from sklearn import model_selection as theirs
from sklearn.metrics import balanced_accuracy_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import adatron.dask
from adatron import SVC, SVR
from adatron.dask import DaskGridSearchCV
from adatron.dask.cluster import Cluster
from adatron.selection import GridSearchCV
from clusters import blobs
from dask import array as da
from processes import python

X, Y = blobs(240, 4)
Y = np.where(np.arange(len(Y)) % 9 == 0, 1 - Y, Y)
GRID = {"C": [0.5, 5.0], "gamma": [0.05, 0.5, "scale"]}


def balanced(model, rows, y):
    return balanced_accuracy_score(y, model.predict(rows))


SEARCHES = {
    "grid": (SVC(), GRID, Y, {}),
    "pipeline": (make_pipeline(StandardScaler(), SVC()), {f"svc__{name}": v for name, v in GRID.items()}, Y, {}),
    "regression": (SVR(), [GRID, {"kernel": ["linear"], "C": [1.0]}], X[:, 0], {"return_train_score": True}),
    "a scorer that is a function": (SVC(), GRID, Y, {"scoring": balanced}),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SEARCHES)
def test_the_results_are_those_of_one_machine(client, name):
    estimator, grid, y, more = SEARCHES[name]
    wanted = GridSearchCV(estimator, grid, cv=3, **more).fit(X, y)
    found = DaskGridSearchCV(estimator, grid, cv=3, **more).fit(X, y)
    assert set(found.cv_results_) == set(wanted.cv_results_)
    for key, values in wanted.cv_results_.items():
        if "time" not in key:
            assert np.array_equal(np.ma.getdata(found.cv_results_[key]), np.ma.getdata(values)), key
    assert found.best_params_ == wanted.best_params_
    assert (found.predict(X) == wanted.predict(X)).all()


def test_the_backend_of_joblib_has_the_scores_of_one_machine(client):
    with parallel_config(backend="dask"):
        found = theirs.GridSearchCV(SVC(), GRID, cv=3, n_jobs=-1).fit(X, Y).cv_results_
    wanted = theirs.GridSearchCV(SVC(), GRID, cv=3).fit(X, Y).cv_results_
    np.testing.assert_array_equal(found["mean_test_score"], wanted["mean_test_score"])


def test_collections_are_brought_together(client):
    search = DaskGridSearchCV(SVC(), GRID, cv=3, client=client)
    search.fit(da.from_array(X, chunks=(100, 4)), da.from_array(Y, chunks=100))
    assert search.best_params_ == GridSearchCV(SVC(), GRID, cv=3).fit(X, Y).best_params_
    assert search.client_ is client


def test_lost_samples_are_looked_for(client, monkeypatch):
    plain = Cluster.ask

    def ask(self, calls, limit=None):
        self._renew()  # as after a worker's death
        return plain(self, calls, limit)

    monkeypatch.setattr(Cluster, "ask", ask)
    search = DaskGridSearchCV(SVC(), GRID, cv=3, client=client).fit(X, Y)
    assert search.best_params_ == GridSearchCV(SVC(), GRID, cv=3).fit(X, Y).best_params_


TRAVELLING = ("slab", "partition", "part", "state", "sent", "search", "collections")
RACE = """
import sys, threading
from importlib import import_module

together, errors = threading.Barrier(len(sys.argv) - 1), []

def enter(name):
    together.wait()
    try:
        import_module(f"adatron.dask.{name}")
    except BaseException as error:
        errors.append(f"{name}: {error!r}")

threads = [threading.Thread(target=enter, args=(name,)) for name in sys.argv[1:]]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
sys.exit("; ".join(errors) or 0)
"""
NEW = """
import sys
from importlib import import_module
import adatron.dask

before = set(sys.modules)
for name in sys.argv[1:]:
    import_module(f"adatron.dask.{name}")
own = {f"adatron.dask.{name}" for name in (*sys.argv[1:], "cluster")}
print(*sorted(name for name in set(sys.modules) - before - own if not name.startswith(("dask", "distributed"))))
"""


@pytest.mark.slow
@pytest.mark.parametrize("names", [TRAVELLING[:2], TRAVELLING])
def test_threads_that_enter_at_different_ends_find_whole_modules(names):
    python("-c", RACE, *names)


@pytest.mark.slow
def test_what_modules_that_travel_need_is_imported_with_the_package():
    assert python("-c", NEW, *TRAVELLING).stdout.strip() == ""


def test_the_estimators_are_attributes_of_the_package():
    assert set(adatron.dask.__all__) <= set(dir(adatron.dask))
    assert all(getattr(adatron.dask, name).__name__ == name for name in adatron.dask.__all__)
    with pytest.raises(AttributeError, match="no attribute 'DaskIncrementalSVC'"):
        _ = adatron.dask.DaskIncrementalSVC
