"""The pool of threads, its turns, and the gate of BLAS.

Also tested here: ``gate``.
"""

import multiprocessing
import threading

import numpy as np
import pytest

from adatron.gram import Gram, Source
from adatron.kernels import RBF
from adatron.threads import Pool
from adatron.threads.gate import _Gate, one_blas_thread
from machines import blas_threads
from moments import at, raising
from problems import samples


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
