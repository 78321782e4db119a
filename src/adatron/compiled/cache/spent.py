"""Seconds that this process has spent compiling: work that does not repeat, which estimates leave out."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic


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


COMPILING = Spent()
