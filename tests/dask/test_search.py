"""A search on a cluster has the results of one machine."""

import numpy as np
import pytest
from joblib import parallel_config
from sklearn import model_selection as theirs
from sklearn.metrics import balanced_accuracy_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from adatron import SVC, SVR
from adatron.dask import DaskGridSearchCV
from adatron.dask.cluster import Cluster
from adatron.selection import GridSearchCV
from clusters import blobs
from dask import array as da

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
