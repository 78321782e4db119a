"""A limit of seconds: no call of a function begins after it, nothing false is said, and the model is usable."""

import sys
from itertools import product

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from adatron import IncrementalSVC, InputMarginSVC, load, save
from adatron.kernels import RBF, Function, Precomputed
from adatron.solvers.results import Status
from adatron.solvers.table import SOLVERS
from adatron.threads import OutOfTime, Pool
from covering import covering, named
from machines import NAMES, ours, target, two_moons, values
from problems import csvc, nusvc, oneclass, samples, solve, svr, view_of
from twins import programs

KERNEL = RBF(0.5)


@pytest.fixture
def seconds(monkeypatch):
    """A clock of which each call of ``ticking`` takes a second, and nothing else any time."""
    now = [100.0]
    for name, module in list(sys.modules.items()):
        if name.startswith("adatron.") and hasattr(module, "monotonic"):
            monkeypatch.setattr(module, "monotonic", lambda: now[0])
    return now


def ticking(now, called):
    def kernel(X, Z):
        called.append(now[0])
        now[0] += 1.0
        return KERNEL(X, Z)

    return kernel


@pytest.mark.parametrize("parameters", [{}, {"probability": True}, {"multi_class": "ovr"}])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("limit", [0.5, 3, 12, 40])
def test_no_call_of_a_function_begins_after_the_deadline(name, parameters, limit, seconds):
    if parameters and name not in ("SVC", "NuSVC"):
        pytest.skip("a classifier's parameter")
    X, called = np.random.default_rng(0).normal(size=(2500, 3)), []
    model = ours(name, kernel=ticking(seconds, called), max_time=limit, **parameters)
    with pytest.warns(ConvergenceWarning, match="max_time"):
        model.fit(X, target(name, X))
    assert max(called) < 100.0 + limit
    assert model.fit_status_ == 1
    assert np.max(model.kkt_violation_) > model.tol
    assert np.isfinite(values(model, X[:5])).all()
    if "probability" in parameters:
        np.testing.assert_allclose(model.predict_proba(X[:5]).sum(axis=1), 1.0)
        assert (np.argmax(model.predict_proba(X[:5]), axis=1) == model.predict(X[:5])).all()


class Short(Pool):
    """A pool for which time is over after so many questions."""

    def __init__(self, asked):
        super().__init__(1)
        self.asked = asked

    def check_time(self):
        self.asked -= 1
        if self.asked < 0:
            raise OutOfTime


PROGRAMS = {
    "csvc": lambda y: csvc(y, np.full(len(y), 5.0)),
    "augmented": lambda y: csvc(y, np.full(len(y), 5.0), "augmented", 1.0),
    "hard": lambda y: csvc(y, np.full(len(y), np.inf)),
    "nusvc": lambda y: nusvc(y, np.ones(len(y)), 0.3),
    "svr": lambda y: svr(y, np.full(len(y), 2.0), 0.1),
    "oneclass": lambda y: oneclass(np.ones(len(y)), 0.3),
}


def assert_true(found, dual, K):
    """What is said of a solution holds for its exact gradient."""
    assert found.certificate.kkt_violation >= programs.kkt(K, dual, found.beta) - 1e-9
    if found.status is Status.MAX_TIME and found.certificate.gap < np.inf:
        best = solve(view_of(K, Precomputed()), dual, tol=1e-8)
        lost = programs.objective(K, dual, found.beta) - programs.objective(K, dual, best.beta)
        assert found.certificate.gap >= lost - 1e-9


ACCEPTED = [
    (solver, program, dtype)
    for solver, program, dtype in product(SOLVERS, PROGRAMS, (np.float32, np.float64))
    if SOLVERS[solver]().accepts(PROGRAMS[program](np.array([1.0, -1.0])))
]


@pytest.mark.slow
@pytest.mark.parametrize(("solver", "program", "dtype"), covering(ACCEPTED), ids=named)
def test_what_is_said_without_more_time_is_true(solver, program, dtype):
    X, y = samples(0, 300)
    dual, how = PROGRAMS[program](y), SOLVERS[solver]()
    K, seen = KERNEL(X), set()
    for asked in (0, 1, 2, 3, 4, 5, 6, 8, 10, 14, 20):
        view = view_of(X, KERNEL, dtype, pool=Short(asked))
        try:
            found = solve(view, dual, solver=how, block=64, max_iter=20_000)
        except OutOfTime:  # before there was a gradient
            assert asked < 3
            continue
        seen.add(found.status)
        assert_true(found, dual, K)
    assert Status.MAX_TIME in seen or solver in ("kernel_adatron", "svmseq", "smo", "isda")


def test_a_gap_of_a_function_is_not_bounded_without_looking_at_the_function():
    X, y = samples(0, 1200)
    calls = iter(range(40))

    def kernel(X, Z):
        if next(calls, None) is None:
            raise OutOfTime
        return KERNEL(X, Z)

    dual = csvc(y, np.full(len(y), 5.0))
    found = solve(view_of(X, Function(kernel)), dual, block=64)
    assert found.status is Status.MAX_TIME
    assert found.certificate.gap == np.inf


def test_a_margin_that_there_is_no_time_for():
    X, y = two_moons()
    for algorithm in ("simplified", "rescaled", "full"):
        model = InputMarginSVC(C=10.0, gamma=1.0, algorithm=algorithm, max_time=1e-9)
        with pytest.warns(ConvergenceWarning, match="max_time"):
            model.fit(X, y)
        assert model.predict(X).shape == y.shape


def test_an_incremental_model_without_time_is_as_it_was(seconds):
    X, y = two_moons()
    called = []
    model = IncrementalSVC(C=10.0, kernel=ticking(seconds, called)).fit(X[:100], y[:100])
    before = model.dual_coef_.copy(), model.n_iter_
    model.set_params(max_time=0.5)
    acts = [
        lambda: model.partial_fit(X[100:], y[100:]),
        lambda: model.forget(model.support_[:5]),
        lambda: model.set_C(0.5),
        lambda: model.C_path(0.5),
        lambda: model.fit(X, y),
        model.loo_decision,
    ]
    for act in acts:
        called.clear()
        with pytest.raises(TimeoutError, match="max_time=0"):
            act()
        assert len(called) <= 1
        np.testing.assert_array_equal(model.dual_coef_, before[0])
        assert model.n_iter_ == before[1]
    model.set_params(max_time=None).partial_fit(X[100:], y[100:])
    assert len(model.ids_) == len(X)


def test_loading_solves_nothing(tmp_path):
    """A model whose solution is damaged says so; it is not fitted by whoever loads it."""
    X, y = two_moons()
    model = IncrementalSVC(C=10.0).fit(X, y)
    model.learner.tracks[0].g += np.where(np.arange(len(y)) % 2, 0.3, -0.3)
    save(model, tmp_path / "a.adatron")
    with pytest.warns(ConvergenceWarning, match="Not converged"):
        again = load(tmp_path / "a.adatron")
    assert again.n_refit_ == 0
    assert again.fit_status_ == 1
    np.testing.assert_array_equal(again.dual_coef_, model.dual_coef_)
    again.partial_fit(X[:1] + 0.1, y[:1])
    assert again.kkt_violation_ < 1e-8
