"""The pool of threads, its turns, and the gate of BLAS.

Also tested here: ``gate``.
"""

import multiprocessing
import sys
import threading
from itertools import product

import joblib
import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from adatron import IncrementalSVC, InputMarginSVC, load, save
from adatron.gram import Gram, Source
from adatron.kernels import RBF, Function, Precomputed
from adatron.solvers.results import Status
from adatron.solvers.table import SOLVERS
from adatron.threads import OutOfTime, Pool, allowed_threads, threads_for, threads_worth
from adatron.threads.cost import CALL, FIT, FIT_BATCHES, FIT_MATRIX, NEW_POOL
from adatron.threads.gate import _Gate, one_blas_thread
from covering import covering, named
from machines import NAMES, blas_threads, ours, target, two_moons, values
from moments import at, raising
from problems import csvc, nusvc, oneclass, samples, solve, svr, view_of
from twins import programs


def test_threads_that_the_system_does_not_allow(monkeypatch):
    before, start, done = blas_threads(), threading.Thread.start, []

    def refused(thread):
        if thread.name == "adatron":
            raise RuntimeError("can't start new thread")
        start(thread)

    with Pool(3) as pool:
        monkeypatch.setattr(threading.Thread, "start", refused)
        pool.run(done.append, 20)
        monkeypatch.undo()
        pool.run(done.append, 20)
    assert sorted(done) == sorted([*range(20), *range(20)])
    assert blas_threads() == before


def test_the_pool_raises_and_restores():
    before = blas_threads()

    def fail(number):
        if number == 5:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), Pool(3) as pool:
        pool.run(fail, 20)
    assert blas_threads() == before


def test_nested_runs_do_every_task_once():
    done = np.zeros((6, 50), int)

    with Pool(4) as pool:

        def outer(i):
            def inner(j):
                done[i, j] += 1

            pool.run(inner, 50)

        pool.run(outer, 6)
    assert (done == 1).all()


def test_threads_take_turns_but_for_what_they_do_aside():
    together, most, lock = [0, 0], [0, 0], threading.Lock()
    meeting = threading.Barrier(3)

    def inside(where):
        with lock:
            together[where] += 1
            most[where] = max(most[where], together[where])
        meeting.wait(10) if where else threading.Event().wait(0.001)
        with lock:
            together[where] -= 1

    with Pool(3) as pool:

        def problem(_):
            with pool.turn():
                inside(0)
                with pool.aside(), pool.aside():  # all three meet there
                    inside(1)
                inside(0)

        pool.run(problem, 3)
        with pytest.raises(ZeroDivisionError), pool.turn():
            pool.run(lambda _: 1 // 0, 2)
        with pool.turn():  # given back by what failed
            pass
    assert most == [1, 3]


def test_a_matrix_that_threads_wait_for_is_made():
    """Whoever makes it gives its turn away meanwhile, and does not wait to get it back with the matrix locked."""
    made, (X, _) = [], samples(0, 900, 50)

    def fit():
        with Pool(3) as pool:
            gram = Gram(Source.of(X, np.arange(900), RBF(0.1)), np.float64, [900], pool, held=True)

            def problem(_):
                with pool.turn():
                    made.append(gram.K)

            pool.run(problem, 3)

    ended = threading.Thread(target=fit, daemon=True)  # so that the test ends where they wait for each other
    ended.start()
    ended.join(60)
    assert not ended.is_alive()
    assert len(made) == 3
    assert all(matrix is made[0] for matrix in made)


def test_a_pool_inside_a_task_gives_the_turn_of_the_pool_around_it_away():
    """Otherwise a task of the outer pool would wait until another one ends."""
    meeting = threading.Barrier(2, timeout=20)

    with Pool(2) as outer:

        def task(number):
            with outer.turn(), Pool(1, around=outer) as inner:
                inner.run(lambda _: meeting.wait(), 1)
                with inner.aside():
                    meeting.wait()

        outer.run(task, 2)


def test_ctrl_c_while_a_helper_starts_leaves_no_thread():
    before, interrupt = threading.active_count(), raising(KeyboardInterrupt)
    with pytest.raises(KeyboardInterrupt), Pool(2) as pool, at(threading.Thread.start, interrupt, end=True):
        pool.run(lambda number: None, 2)
    assert threading.active_count() == before


def test_the_gate_counts():
    before = blas_threads()
    inside, leave = threading.Event(), threading.Event()

    def other():
        with one_blas_thread():
            inside.set()
            leave.wait(10)

    thread = threading.Thread(target=other)
    with one_blas_thread():
        thread.start()
        inside.wait(10)
        assert set(blas_threads()) == {1}
    assert set(blas_threads()) == {1}  # the other thread is still inside
    leave.set()
    thread.join()
    assert blas_threads() == before


def test_who_was_inside_before_a_fork_counts_no_more():
    before, gate = blas_threads(), _Gate()
    gate.enter()
    gate.after_fork()  # in the child
    gate.leave()
    gate.enter()
    assert set(blas_threads()) == {1}
    gate.leave()
    assert blas_threads() == before


def _child(before, result):
    Pool(2).__enter__().__exit__(None, None, None)
    result.put(blas_threads() == before)


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="the platform has no fork")
def test_a_child_forked_inside_the_gate_has_its_threads_back():
    before = blas_threads()
    context = multiprocessing.get_context("fork")
    result = context.Queue()
    with one_blas_thread():
        child = context.Process(target=_child, args=(before, result))
        child.start()
        assert result.get(timeout=30)
        child.join(30)
    assert blas_threads() == before


pytestmark = pytest.mark.plain


@pytest.mark.parametrize("cost", [NEW_POOL, CALL, FIT_MATRIX, FIT, FIT_BATCHES])
def test_each_thread_beside_the_first_has_work_that_is_worth_it(cost):
    assert threads_worth(0.0, cost) == threads_worth(0.999 * cost, cost) == 1
    for threads in (2, 3, 100):
        assert threads_worth((threads - 1) * cost, cost) == threads
        assert threads_worth((threads - 1.001) * cost, cost) == threads - 1


def test_a_pool_for_little_work_has_one_thread(monkeypatch):
    monkeypatch.setattr(joblib, "cpu_count", lambda: 8)
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)
    assert [threads_for(NEW_POOL, n_jobs) for n_jobs in (None, -1, -2, 3)] == [8, 8, 7, 3]
    assert [threads_for(NEW_POOL - 1.0, n_jobs) for n_jobs in (None, -1, -2, 3)] == [1] * 4
    assert allowed_threads(1) == threads_for(NEW_POOL, 1) == 1


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
