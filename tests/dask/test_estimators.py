"""The estimators for clusters have the parameters of one machine's, and a fit leaves all of them as they are."""

import inspect
import pickle
from threading import Thread

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import adatron
from adatron import dask as ad
from clusters import blobs
from moments import raising

X, Y = blobs(2600, 5)
MACHINES = ("SVC", "NuSVC", "SVR", "NuSVR", "QuantileSVR", "OneClassSVM", "SVDD")


def pair(machine):
    return getattr(ad, f"Dask{machine}"), getattr(adatron, machine)


@pytest.mark.slow
@pytest.mark.parametrize("machine", MACHINES)
def test_a_callback_another_thread_and_a_clone_see_the_parameters_as_they_were_given(client, machine):
    kind, _ = pair(machine)
    seen = []

    def look():
        seen.append(model.get_params())
        seen.append(clone(model).get_params())
        seen.append({**vars(model)})

    def watch(_):
        look()
        thread = Thread(target=look)
        thread.start()
        thread.join()

    model = kind(callback=watch, client=client)
    before = model.get_params()
    model.fit(X, np.sin(X[:, 0]) if machine.endswith("R") else Y)
    assert before["gamma"] == "scale"
    assert before["solver"] == "auto"
    assert len(seen) >= 6
    for one in seen:
        assert {name: one[name] for name in before} == before


@pytest.mark.parametrize("machine", MACHINES)
def test_the_signature_is_that_of_one_machine_and_a_client(machine):
    kind, local = pair(machine)
    own, theirs = inspect.signature(kind).parameters, inspect.signature(local).parameters
    assert list(own) == [*theirs, "client"]
    assert all(own[name] == theirs[name] for name in theirs)
    assert own["client"].default is None
    assert own["client"].kind is inspect.Parameter.KEYWORD_ONLY
    assert kind._parameter_constraints == {**local._parameter_constraints, "client": "no_validation"}


@pytest.mark.parametrize("machine", MACHINES)
def test_parameters_are_got_set_cloned_shown_and_pickled(machine):
    kind, local = pair(machine)
    model = kind(gamma=0.5)
    assert model.get_params() == {**local(gamma=0.5).get_params(), "client": None}
    assert repr(model) == f"{kind.__name__}(gamma=0.5)"
    assert "client" in model._repr_html_()
    assert model.set_params(tol=0.1).get_params() == {**local(gamma=0.5, tol=0.1).get_params(), "client": None}
    for other in (clone(model), pickle.loads(pickle.dumps(model))):  # noqa: S301
        assert type(other) is kind
        assert other.get_params() == model.get_params()


def test_a_pickle_has_no_client(client):
    model = ad.DaskSVC(client=client)
    assert clone(model).client is client
    assert pickle.loads(pickle.dumps(model)).client is None  # noqa: S301


def test_a_search_of_scikit_learn_sets_the_parameters(client):
    search = GridSearchCV(ad.DaskSVC(client=client), {"gamma": ["auto", 0.1]}, cv=2, error_score="raise")
    search.fit(X[:400], Y[:400])
    assert search.best_estimator_.gamma == search.best_params_["gamma"]


def test_a_fit_that_fails_leaves_the_fitted_machine_as_it_was(client):
    model = ad.DaskSVC(client=client).fit(X, Y)
    with pytest.raises(ValueError, match="greater than one"):
        model.fit(X[:, :3], np.zeros(len(X)))
    assert model.n_features_in_ == 5
    with pytest.raises(RuntimeError, match="no more"):
        model.set_params(callback=raising(RuntimeError("no more"))).fit(X[:, :3], Y)
    assert model.n_features_in_ == 5
    assert model.predict(X[:9]).shape == (9,)
