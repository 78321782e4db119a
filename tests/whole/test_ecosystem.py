"""The five estimators inside scikit-learn and joblib: searches, pipelines, routing, workers."""

import threading
from functools import partial

import joblib
import numpy as np
import pytest
import sklearn
from joblib import Parallel, delayed, parallel_config
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils._param_validation import InvalidParameterError

import adatron
from adatron import SVC
from adatron.threads import Pool, allowed_threads
from machines import NAMES, assert_same, ours, target, theirs

rng = np.random.default_rng(3)
X = rng.normal(size=(120, 4))


@pytest.mark.parametrize("name", NAMES)
def test_parameters_are_those_of_scikit_learn_and_more(name):
    model, peer = ours(name), theirs(name)
    own, other = model.get_params(), peer.get_params()
    assert set(other) <= set(own)
    defaults = getattr(adatron, name)().get_params()
    theirs_defaults = type(peer)().get_params()
    assert {key for key in theirs_defaults if theirs_defaults[key] != defaults[key]} <= {"cache_size"}


BAD = {
    "C": [0.0, -1.0, "1", np.nan, None],
    "nu": [0.0, -0.1, 1.1, "half", None],
    "epsilon": [-0.1, "wide", None],
    "kernel": ["rfb", 3, None],
    "degree": [-1, 2.5],
    "gamma": [-0.1, "big", None],
    "coef0": [np.inf, None],
    "shrinking": ["yes"],
    "tol": [0.0, -1e-3, None],
    "cache_size": [0, -5, None],
    "verbose": ["loud"],
    "max_iter": [-2, 1.5, None],
    "class_weight": ["balance", 3],
    "probability": ["perhaps"],
    "decision_function_shape": ["ovz"],
    "break_ties": [3.5],
    "random_state": ["a", -1],
    "bias": ["yes", None],
    "augment": [0.0, -1.0, 1e200, "none"],
    "solver": ["smoo", 3, None],
    "n_jobs": [1.5, "all", 0],
    "precision": ["half", None],
    "multi_class": ["ovx"],
    "gap_tol": [0.0, "small"],
    "max_time": [0, -1],
    "callback": [3],
    "device": [3],
}


@pytest.mark.parametrize("name", NAMES)
def test_every_bad_parameter_is_named(name):
    y = target(name, X)
    for parameter in ours(name).get_params():
        for value in BAD[parameter]:
            with pytest.raises(InvalidParameterError, match=f"The '{parameter}' parameter of {name} must be"):
                ours(name, **{parameter: value}).fit(X, y)


@pytest.mark.parametrize("name", NAMES)
def test_a_bad_parameter_is_named_after_a_good_one_that_is_equal_to_it(name):
    """What was good the last time is not looked at again; 3.0 == 3 is no whole number, though."""
    y, model = target(name, X), ours(name, degree=3)
    for _ in range(2):
        model.fit(X, y)
    with pytest.raises(InvalidParameterError, match="The 'degree' parameter"):
        ours(name, degree=3.0).fit(X, y)
    for bad in ({"degree": 3.0}, {"tol": -1.0}, {"callback": [3]}):
        with pytest.raises(InvalidParameterError, match=f"The '{next(iter(bad))}' parameter"):
            clone(model).set_params(**bad).fit(X, y)
        model.fit(X, y)


def searched(name, **arguments):
    """A search over a pipeline."""
    y = target(name, X)
    grid = {f"{name.lower()}__gamma": [0.05, 0.5], f"{name.lower()}__tol": [1e-3, 1e-5]}
    if name == "OneClassSVM":
        arguments["scoring"] = share_inside
    search = GridSearchCV(make_pipeline(StandardScaler(), ours(name)), grid, cv=3, **arguments)
    return search.fit(X, y)


def share_inside(model, X, y=None):
    return float(np.mean(model.decision_function(X)))


def results(search):
    return {key: np.asarray(value) for key, value in search.cv_results_.items() if "score" in key and "time" not in key}


def assert_same_search(first, second):
    assert first.best_params_ == second.best_params_
    for key, value in results(first).items():
        np.testing.assert_array_equal(value, results(second)[key], key)
    assert_same(first.best_estimator_[-1], second.best_estimator_[-1])


@pytest.mark.parametrize("name", NAMES)
def test_a_search_in_threads_is_the_same_to_the_last_bit(name):
    with parallel_config(backend="threading"):
        assert_same_search(searched(name), searched(name, n_jobs=-1))


@pytest.mark.slow
def test_a_search_in_processes_is_the_same_to_the_last_bit():
    for name in NAMES:
        assert_same_search(searched(name), searched(name, n_jobs=2))


def most_threads(path, before, state):
    """A callback that notes how many threads the fit has now, the caller counted, without those of before."""
    helpers = sum(thread.name == "adatron" and thread.ident not in before for thread in threading.enumerate())
    with open(path, "a") as stream:  # noqa: PTH123
        stream.write(f"{1 + helpers}\n")


def counted(path):
    """A fit that is large enough for threads: what the process may use, the most threads that were seen, the bias."""
    features, y = make_classification(3300, 100, n_informative=15, flip_y=0.05, random_state=0)
    before = {thread.ident for thread in threading.enumerate()}
    model = SVC(callback=partial(most_threads, path, before), tol=0.1).fit(features, y)
    return allowed_threads(None), max(map(int, path.read_text().split())), model.intercept_[0]


LIMITS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


@pytest.mark.parametrize(("n_jobs", "inner"), [(2, None), (-1, None), (2, 1)])
def test_threads_of_a_fit_in_a_worker(n_jobs, inner, tmp_path, monkeypatch):
    """joblib gives each worker its part of the cores, or what ``inner_max_num_threads`` says."""
    for variable in LIMITS:
        monkeypatch.delenv(variable, raising=False)
    cores = joblib.cpu_count()
    allowed, seen, bias = counted(tmp_path / "alone")
    assert allowed == cores
    assert min(2, cores) <= seen <= cores
    expected = inner or max(1, cores // (cores if n_jobs == -1 else n_jobs))
    with parallel_config(backend="loky", **({} if inner is None else {"inner_max_num_threads": inner})):
        fits = Parallel(n_jobs=n_jobs)(delayed(counted)(tmp_path / str(i)) for i in range(2))
    assert [(allowed, bias) for allowed, _, bias in fits] == [(expected, bias)] * 2
    assert all(min(2, expected) <= seen <= expected for _, seen, _ in fits)


def working_threads(fits, threads):
    """The most threads that worked at once in several pools, each opened by a thread of its own."""
    lock, writable, now, most = threading.Lock(), threading.Barrier(fits), 0, 0
    pause = threading.Event()

    def task(_):
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        pause.wait(0.002)
        with lock:
            now -= 1

    def fit():
        with Pool(threads) as pool:
            writable.wait(30)
            for _ in range(5):
                pool.run(task, 40)
            writable.wait(30)

    members = [threading.Thread(target=fit) for _ in range(fits)]
    for member in members:
        member.start()
    for member in members:
        member.join(60)
        assert not member.is_alive()
    return most


@pytest.mark.parametrize("fits", [1, 2, 3, 8])
def test_fits_in_threads_share_the_cores(fits, monkeypatch):
    """joblib's threading backend gives its workers no allowance: a process counts the threads of all its pools."""
    monkeypatch.setattr("joblib.cpu_count", lambda: 4)
    for variable in LIMITS:
        monkeypatch.delenv(variable, raising=False)
    assert working_threads(fits, 4) == max(4, fits)
    assert working_threads(1, 6) == 6  # n_jobs=6 was asked for


@pytest.mark.parametrize("name", NAMES)
def test_routing_of_weights(name):
    y, weight = target(name, X), rng.uniform(0.2, 3.0, len(X))
    with sklearn.config_context(enable_metadata_routing=True):
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        asked = make_pipeline(scaler, ours(name).set_fit_request(sample_weight=True))
        ignored = make_pipeline(scaler, ours(name).set_fit_request(sample_weight=False))
        scaled = StandardScaler().fit_transform(X)
        assert_same(asked.fit(X, y, sample_weight=weight)[-1], ours(name).fit(scaled, y, sample_weight=weight))
        with pytest.raises(TypeError, match="sample_weight"):
            ignored.fit(X, y, sample_weight=weight)
        if y is None:
            return
        scored = ours(name).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        found = cross_validate(scored, X, y, cv=3, params={"sample_weight": weight})["test_score"]
        peer = theirs(name).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        other = cross_validate(peer, X, y, cv=3, params={"sample_weight": weight})["test_score"]
        np.testing.assert_allclose(found, other, atol=0.05)
