"""Threads for one fit or one prediction.

The work of a problem is a list of tasks that write to disjoint places, so who runs which task cannot change a
bit. The caller always works too: a problem that finds no helper idle runs its tasks alone, and nothing can
deadlock. The pool lives as long as the fit; one from before a fork would hang.
"""

from __future__ import annotations

import itertools
import os
import queue
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import TracebackType

import joblib

from .gate import one_blas_thread


def allowed_threads(n_jobs: int | None) -> int:
    """Threads that this process may use: affinity, cgroup and the limits that joblib gives its workers.

    ``None`` and -1 mean all allowed ones; other negative numbers leave some out, as in scikit-learn.
    """
    allowed = joblib.cpu_count()
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
        limit = os.environ.get(name, "")
        if limit.isdigit() and int(limit) > 0:
            allowed = min(allowed, int(limit))
    if n_jobs is None:
        return allowed
    return max(1, n_jobs if n_jobs > 0 else allowed + 1 + n_jobs)


class _Job:
    """Tasks 0..n-1, handed out one at a time to whoever asks."""

    def __init__(self, task: Callable[[int], None], n: int) -> None:
        self.task, self.n = task, n
        self.numbers = itertools.count()
        self.error: BaseException | None = None

    def work(self) -> None:
        try:
            while self.error is None and (number := next(self.numbers)) < self.n:
                self.task(number)
        except BaseException as error:  # handed to the caller of Pool.run, which raises it
            self.error = error


class Pool:
    """``threads`` workers counting the caller, BLAS held at one thread; use it as a context manager."""

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self._queue: queue.SimpleQueue[tuple[_Job, threading.Event] | None] = queue.SimpleQueue()
        self._idle = 0
        self._lock = threading.Lock()
        self._members: list[threading.Thread] = []
        self._open = ExitStack()

    def __enter__(self) -> Pool:
        if self.threads > 1:
            self._open.enter_context(one_blas_thread())
        for _ in range(self.threads - 1):
            member = threading.Thread(target=self._serve, name="adatron", daemon=True)
            member.start()
            self._members.append(member)
        self._idle = self.threads - 1
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for _ in self._members:
            self._queue.put(None)
        for member in self._members:
            member.join()
        self._members.clear()
        self._open.close()

    def _serve(self) -> None:
        while (item := self._queue.get()) is not None:
            job, finished = item
            job.work()
            with self._lock:
                self._idle += 1
            finished.set()

    def run(self, task: Callable[[int], None], n: int, most: int | None = None) -> None:
        """Call ``task`` with 0..n-1 on this thread and on the helpers that are idle now (together ``most``); wait."""
        job = _Job(task, n)
        with self._call_helpers(job, min(n, most or n) - 1):
            job.work()
        if job.error is not None:
            raise job.error

    @contextmanager
    def _call_helpers(self, job: _Job, most: int) -> Iterator[None]:
        with self._lock:
            helpers = max(0, min(self._idle, most))
            self._idle -= helpers
        events = [threading.Event() for _ in range(helpers)]
        for event in events:
            self._queue.put((job, event))
        try:
            yield
        except BaseException as error:  # Ctrl-C between two tasks: the helpers stop after theirs
            job.error = error
            raise
        finally:
            for event in events:
                event.wait()
