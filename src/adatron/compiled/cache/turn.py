"""Turns of processes at compiling a function that several of them need."""

from __future__ import annotations

import atexit
import os
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from ...lock import hold
from .uninterrupted import asked

LOCK_SECONDS = 120.0  # Time after which nobody waits any longer for a process that compiles one function.


class Turn:
    """Locked files that let one process compile a function while the others wait for its result.

    The system takes a lock back when its holder dies, so a file that is left holds nobody up. All this is only an
    optimisation: two processes that compile the same function write the same.
    """

    def __init__(self) -> None:
        self._mine: dict[Path, BinaryIO] = {}
        self.begin()

    def begin(self) -> None:
        """Begin in a new process; a forked child closes its copies of its parent's files, which stay locked."""
        self._lock = threading.Lock()  # nothing is locked without its entry in ``_mine``
        self._over = False
        while self._mine:
            self._mine.popitem()[1].close()

    def _take(self, path: Path) -> bool:
        with self._lock:
            if self._over:
                return False
            stream = path.open("ab")
            try:
                hold(stream)
            except OSError as error:
                stream.close()
                if isinstance(error, BlockingIOError):
                    return False
                raise
            self._mine[path] = stream
        return True

    def wait(self, path: Path) -> None:
        """Wait until nobody else compiles, or the user presses Ctrl-C."""
        end = time.monotonic() + LOCK_SECONDS
        while path not in self._mine and time.monotonic() < end:
            try:
                if self._take(path) or self._over or asked():
                    return
            except OSError:  # no folder, no room in it, or no locks: nobody can wait for anybody
                return
            time.sleep(0.02)

    def end(self, path: Path) -> None:
        if stream := self._mine.pop(path, None):
            stream.close()  # Windows removes no open file; who opened it meanwhile finds the compiled code
            with suppress(OSError):
                path.unlink()

    def end_all(self) -> None:
        """End all turns with the process: others may compile what it has begun, and it begins nothing more."""
        with self._lock:
            self._over = True
            for path in list(self._mine):
                self.end(path)


TURN = Turn()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=TURN.begin)
atexit.register(TURN.end_all)
