"""The gate of BLAS: one thread while it is shut, as many as before afterwards."""

import multiprocessing
import threading

import pytest

from adatron.threads import Pool
from adatron.threads.gate import _Gate, one_blas_thread
from machines import blas_threads


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
