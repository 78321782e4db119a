"""A gate that holds BLAS at one thread while our own threads work, reference-counted for the process.

The tile loops call no BLAS. But a threaded call anywhere (a callback, an eigenvalue check) leaves OpenBLAS's threads
spinning for milliseconds on the cores that the tiles need (seen: fits twice as slow). Two overlapping
``threadpool_limits`` contexts can leave a process at one thread for ever; a counter cannot.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module

from threadpoolctl import LibController, ThreadpoolController

from ..compiled.cache.uninterrupted import uninterrupted


def _set_threads(library: LibController, threads: int) -> None:
    """Set the number of threads for the process, from any thread.

    From threadpoolctl 3.8 on, ``set_num_threads`` does nothing on a thread other than the first that called it. Here
    the last thread out restores the number, whoever came in first.
    """
    getattr(library, "_real_set_num_threads", library.set_num_threads)(threads)


class _Gate:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._libraries: list[LibController] | None = None
        self._threads: list[int] = []

    def enter(self) -> None:
        with self._lock:
            if not self._inside:
                if self._libraries is None:
                    with uninterrupted():
                        import_module("scipy.linalg")  # its BLAS is not numpy's: load it to see it
                        self._libraries = ThreadpoolController().select(user_api="blas").lib_controllers
                self._threads = [library.get_num_threads() or 1 for library in self._libraries]
                self._inside = 1  # first, so that a child forked from now on restores
                for library in self._libraries:
                    _set_threads(library, 1)
            else:
                self._inside += 1

    def leave(self) -> None:
        with self._lock:
            if not self._inside:
                return  # the rest was entered before a fork
            if self._inside == 1:
                self._restore()  # first, for the same reason
            self._inside -= 1

    def _restore(self) -> None:
        for library, threads in zip(self._libraries or [], self._threads, strict=True):
            _set_threads(library, threads)

    def after_fork(self) -> None:
        """Forget the threads that were inside: a child has none of them."""
        self._lock = threading.Lock()
        if self._inside:
            self._inside = 0
            self._restore()


_GATE = _Gate()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_GATE.after_fork)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Hold the gate."""
    _GATE.enter()
    try:
        yield
    finally:
        _GATE.leave()
