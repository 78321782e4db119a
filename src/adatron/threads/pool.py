"""Threads for one fit or one prediction.

The work of a problem is a list of tasks that write to disjoint places, so the choice of thread cannot change a bit.
The caller always works too: a problem that finds no helper idle runs its tasks alone, and nothing can deadlock. The
pool lives as long as the fit; a pool from before a fork would hang.

Fits in several threads of a process (joblib's threading backend, a Dask worker) share the process's threads: a helper
is called only while fewer threads than allowed work in all pools together.

Problems side by side take turns with code that is not compiled. NumPy gives up the interpreter's lock in every
operation on more than 500 numbers; four threads of NumPy alone would spend most of their time waiting for it. ``run``
gives the turn away and waits to get it back. So a thread with a turn must not hold a lock while it calls ``run``: the
thread that has the turn then may be waiting for that lock. Step ``aside`` first.
"""

from __future__ import annotations

import itertools
import os
import queue
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from math import inf
from time import monotonic
from types import TracebackType

import numpy as np

from .clock import OutOfTime
from .cost import allowed_threads
from .gate import one_blas_thread

ALREADY_ASIDE = nullcontext()


class _Job:
    """Tasks 0..n-1, handed out one at a time on request."""

    def __init__(self, task: Callable[[int], None], n: int) -> None:
        self.task, self.n = task, n
        self.numbers = itertools.count()
        self.error: BaseException | None = None

    def work(self) -> None:
        try:
            while self.error is None and (number := next(self.numbers)) < self.n:
                self.task(number)
        except BaseException as error:  # passed on to the caller of Pool.run, which raises it
            self.error = error


class _Crowd:
    """Threads that work in the pools of this process: those that opened one, and the helpers called now."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Forget the threads: none of them is in a child of a fork."""
        self.lock = threading.Lock()
        self.openers: Counter[int] = Counter()  # pools that each thread has open
        self.helpers = 0

    def room(self, limit: int) -> int:
        """Return how many further threads fit within a limit; the caller holds the lock."""
        return limit - len(self.openers) - self.helpers


_CROWD = _Crowd()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_CROWD.forget)


class Pool:
    """At most ``threads`` workers counting the caller, BLAS held at one thread; use it as a context manager.

    limit : see ``Clock``
    around : the pool, with a task of which this one is opened, whose turn is meant in this one, too
    """

    def __init__(self, threads: int, limit: float = inf, around: Pool | None = None) -> None:
        self.threads, self.limit = threads, limit
        self._limit = max(threads, allowed_threads(None)) if threads > 1 else 1  # limit of the process
        self._queue: queue.SimpleQueue[tuple[_Job, threading.Lock] | None] = queue.SimpleQueue()
        self._called = 0
        self._opener = 0
        self._members: list[threading.Thread] = []
        self._lock, self._mine = threading.Lock(), threading.local()
        if around is not None:
            self._lock, self._mine = around._lock, around._mine
        self._open = ExitStack()

    def __enter__(self) -> Pool:
        if self.threads > 1:
            self._open.enter_context(one_blas_thread())
        self._opener = threading.get_ident()
        with _CROWD.lock:
            _CROWD.openers[self._opener] += 1
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            for _ in self._members:
                self._queue.put(None)
            for member in self._members:
                with suppress(RuntimeError):  # Ctrl-C came before the thread was started
                    member.join()
            self._members.clear()
        finally:
            with _CROWD.lock:
                _CROWD.openers[self._opener] -= 1
                if _CROWD.openers[self._opener] <= 0:  # below 0 after a fork
                    del _CROWD.openers[self._opener]
                _CROWD.helpers -= self._called  # not 0 if Ctrl-C came between counting helpers and calling them
                self._called = 0
            self._open.close()

    def _serve(self) -> None:
        np.seterr(all="ignore")  # for this thread, which inherits nothing; the pool's maker looks at overflows
        while (item := self._queue.get()) is not None:
            job, working = item
            job.work()
            with _CROWD.lock:
                self._called -= 1
                _CROWD.helpers -= 1
            working.release()

    @property
    def idle(self) -> int:
        """The number of helpers that a job would find now."""
        if self.threads == 1:
            return 0
        with _CROWD.lock:
            return max(0, self._idle())

    def _idle(self) -> int:
        return min(self.threads - 1 - self._called, _CROWD.room(self._limit))

    def run(self, task: Callable[[int], None], n: int, most: int | None = None) -> None:
        """Call ``task`` with 0..n-1 on this thread and on the helpers that are idle now (together ``most``); wait."""
        if self.threads == 1:
            with self.aside():  # the turn of a pool around this one
                for number in range(n):
                    task(number)
            return
        with self.aside():
            if n == 1:
                task(0)
                return
            job = _Job(task, n)
            with self._call_helpers(job, min(n, most or n) - 1):
                job.work()
            if job.error is not None:
                raise job.error

    def check_time(self) -> None:
        """Raise OutOfTime after the limit; code that makes kernel values asks before each part of them."""
        if self.limit < inf and monotonic() >= self.limit:
            raise OutOfTime

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Do something that only one thread may do at a time."""
        with self._lock:
            self._mine.held = True
            try:
                yield
            finally:
                self._mine.held = False

    def aside(self) -> AbstractContextManager[None]:
        """Give away the turn, if this thread has it, during long work without Python."""
        return self._aside() if getattr(self._mine, "held", False) else ALREADY_ASIDE

    @contextmanager
    def _aside(self) -> Iterator[None]:
        self._mine.held = False
        self._lock.release()
        try:
            yield
        finally:
            self._lock.acquire()
            self._mine.held = True

    def _hire(self, wanted: int) -> int:
        """Start threads up to a number; return how many there are. The system may allow no more."""
        while len(self._members) < wanted:
            member = threading.Thread(target=self._serve, name="adatron", daemon=True)
            self._members.append(member)  # first: Ctrl-C may come while the thread starts
            try:
                member.start()
            except RuntimeError:
                self._members.pop()
                break
        return len(self._members)

    @contextmanager
    def _call_helpers(self, job: _Job, most: int) -> Iterator[None]:
        with _CROWD.lock:
            helpers = max(0, min(self._idle(), most))
            helpers = min(helpers, self._hire(self._called + helpers) - self._called)
            self._called += helpers
            _CROWD.helpers += helpers
        locks = [threading.Lock() for _ in range(helpers)]  # an Event takes several times as long
        for working in locks:
            working.acquire()
            self._queue.put((job, working))
        try:
            yield
        except BaseException as error:  # Ctrl-C between two tasks: the helpers stop after theirs
            job.error = error
            raise
        finally:
            for working in locks:
                working.acquire()
