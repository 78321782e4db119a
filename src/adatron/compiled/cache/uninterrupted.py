"""What signals, forks and the garbage collector must not disturb, and the clock of such steps.

If Ctrl-C comes within Numba's compiler or the import of a C extension, it is swallowed or ends as another error, and
half-made things stay. A child that is forked while another thread compiles or imports waits for that thread for ever.
"""

from __future__ import annotations

import gc
import os
import signal
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from time import monotonic
from typing import Any, Generic, TypeVar, overload

__all__ = ["COMPILING", "Spent", "cached_property", "collector_paused", "requested", "uninterrupted"]

T = TypeVar("T")
Handler = Callable[[int, Any], Any]

HELD_SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGALRM") if hasattr(signal, name)]
FORK_SECONDS = 120.0  # Longest wait of a fork.
import_module("concurrent.futures.thread")  # and logging: their fork hooks must be registered before a fork waits


class _Busy:
    """The threads of this process that a fork waits for."""

    def __init__(self) -> None:
        self._idle = threading.Condition()
        self._inside: Counter[int] = Counter()  # how many steps each thread is within

    @contextmanager
    def step(self) -> Iterator[None]:
        """Let forks by other threads wait."""
        me = threading.get_ident()
        with self._idle:
            self._inside[me] += 1
        try:
            yield
        finally:
            with self._idle:
                self._inside[me] -= 1
                if not self._inside[me]:
                    del self._inside[me]
                    self._idle.notify_all()

    def before_fork(self) -> None:
        me = threading.get_ident()
        self._idle.acquire()
        self._idle.wait_for(lambda: self._inside.keys() <= {me}, FORK_SECONDS)

    def in_parent(self) -> None:
        self._idle.release()

    def in_child(self) -> None:
        """Forget the threads that the child does not have."""
        me = threading.get_ident()
        self._idle = threading.Condition()
        self._inside = Counter({me: self._inside[me]} if self._inside[me] else {})


class _Held:
    """A handler of signals that keeps what another one raises until the steps are over."""

    def __init__(self, handler: Handler) -> None:
        self.handler, self.over = handler, False
        self.error: BaseException | None = None

    def __call__(self, number: int, frame: Any) -> None:
        try:
            self.handler(number, frame)
        except BaseException as error:
            if self.over:
                raise
            self.error = error


_BUSY = _Busy()
_NOW: list[_Held] = []  # handlers in force
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_BUSY.before_fork, after_in_parent=_BUSY.in_parent, after_in_child=_BUSY.in_child)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Hold back exceptions that handlers of Ctrl-C, SIGTERM and SIGALRM raise, and forks by other threads.

    The handlers themselves run at once; their exceptions are raised at the end. Only the main thread runs handlers.
    Handlers that are not Python's stay.
    """
    held: dict[int, _Held] = {}
    try:
        if threading.current_thread() is threading.main_thread():
            for number in HELD_SIGNALS:
                handler = signal.getsignal(number)
                if callable(handler):
                    held[number] = _Held(handler)
                    signal.signal(number, held[number])
            _NOW.extend(held.values())
        with _BUSY.step():
            yield
    finally:
        for one in held.values():
            one.over = True
        if held:
            _NOW[:] = [one for one in _NOW if not one.over]
        for number, one in held.items():
            signal.signal(number, one.handler)
        for one in held.values():
            if one.error is not None:
                raise one.error


def requested() -> bool:
    """Return whether a signal asks the present steps to come to an end."""
    return any(one.error is not None for one in _NOW)


@contextmanager
def collector_paused() -> Iterator[None]:
    """Collect no cycles during imports and the reading of machine code, which make many objects and no garbage.

    Afterwards all objects count as old, or the next collection would look at all that are new.
    """
    was_on = gc.isenabled()
    try:
        gc.disable()
        yield
    finally:
        if was_on:
            if not gc.get_freeze_count():  # else somebody's objects are frozen, and would no longer be
                gc.freeze()
                gc.unfreeze()
            gc.enable()


class Spent:
    """A clock that runs while at least one thread compiles, loads code, or waits for a process that compiles."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside, self._before, self._since = 0, 0.0, 0.0

    @contextmanager
    def running(self) -> Iterator[None]:
        """Let the clock run."""
        with self._lock:
            if not self._inside:
                self._since = monotonic()
            self._inside += 1
        try:
            yield
        finally:
            with self._lock:
                self._inside -= 1
                if not self._inside:
                    self._before += monotonic() - self._since

    def seconds(self) -> float:
        """Return the seconds so far."""
        with self._lock:
            return self._before + (monotonic() - self._since if self._inside else 0.0)


COMPILING = Spent()  # Work that does not repeat: estimates of what is left leave it out.


class cached_property(Generic[T]):
    """``functools.cached_property`` as it is from Python 3.12 on, without a lock.

    In earlier versions all objects of a class share one lock. If a child is forked while another thread computes the
    attribute, the child would wait for ever. Two threads that ask at the same time may both compute the value.
    """

    def __init__(self, function: Callable[[Any], T]) -> None:
        self.function = function
        self.__doc__ = function.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type) -> cached_property[T]: ...
    @overload
    def __get__(self, instance: object, owner: type) -> T: ...
    def __get__(self, instance: object | None, owner: type) -> cached_property[T] | T:
        if instance is None:
            return self
        value = self.function(instance)
        vars(instance)[self.name] = value  # Python finds it there from now on
        return value
