"""Turns of processes at compiling a function that several of them need."""

from __future__ import annotations

import atexit
import os
import sys
import threading
import time
from pathlib import Path

from .uninterrupted import asked

LOCK_SECONDS = 120.0  # Time after which a process that compiles one function is taken for dead.


def first_to(path: Path) -> bool:
    """Return whether this process is the first to make a file; it writes its number into the file.

    Raise OSError if the file cannot be made or written; the file is then not there.
    """
    try:
        with path.open("x") as stream:
            stream.write(str(os.getpid()))
    except FileExistsError:
        return False
    except OSError:
        path.unlink(missing_ok=True)
        raise
    return True


def _left(path: Path) -> bool:
    """Return whether the process that made a file is dead, or taken for dead."""
    try:
        if time.time() - path.stat().st_mtime > LOCK_SECONDS:
            return True
        if sys.platform != "win32":
            os.kill(int(path.read_text()), 0)
    except ProcessLookupError:
        return True
    except (OSError, ValueError):
        pass
    return False


class Turn:
    """A lock file that lets one process compile a function while the others wait for its result.

    This is only an optimisation: two processes that compile the same function write the same.
    """

    def __init__(self) -> None:
        self._mine: set[tuple[int, Path]] = set()  # a forked child does not own its parent's files
        self.begin()

    def begin(self) -> None:
        """Begin in a new process."""
        self._lock = threading.Lock()  # a lock file is never made without its entry in ``_mine``
        self._over = False

    def _take(self, path: Path) -> bool:
        with self._lock:
            made = not self._over and first_to(path)
            if made:
                self._mine.add((os.getpid(), path))
        return made

    def wait(self, path: Path) -> None:
        """Wait until nobody else compiles, or the user presses Ctrl-C."""
        end = time.monotonic() + LOCK_SECONDS
        while (os.getpid(), path) not in self._mine and time.monotonic() < end:
            try:
                if self._take(path) or self._over or asked():
                    return
                if _left(path):
                    path.unlink(missing_ok=True)
            except OSError:  # no folder, or no room in it: nobody can wait for anybody
                return
            time.sleep(0.02)

    def end(self, path: Path) -> None:
        if (os.getpid(), path) in self._mine:
            self._mine.remove((os.getpid(), path))
            path.unlink(missing_ok=True)

    def end_all(self) -> None:
        """End all turns with the process: others may compile what it has begun, and it begins nothing more."""
        with self._lock:
            self._over = True
            for _, path in list(self._mine):
                self.end(path)


TURN = Turn()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=TURN.begin)
atexit.register(TURN.end_all)
