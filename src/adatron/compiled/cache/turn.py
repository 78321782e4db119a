"""Who compiles a function, where several processes need it."""

from __future__ import annotations

import atexit
import os
import sys
import threading
import time
from pathlib import Path

from .uninterrupted import asked

LOCK_SECONDS = 120.0  # a process that compiles one function for longer than this is taken for dead


def first_to(path: Path) -> bool:
    """Whether this process is the first one that makes a file, in which it writes its number.

    OSError if the file cannot be made or written, which then is not there.
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
    """Whether the process that made a file is dead, or taken for dead."""
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

    It is an optimisation only: two that compile the same write the same.
    """

    def __init__(self) -> None:
        self._mine: set[tuple[int, Path]] = set()  # a forked child does not own its parent's
        self.begin()

    def begin(self) -> None:
        """In a new process."""
        self._lock = threading.Lock()  # a lock file is never made without its entry in ``_mine``
        self._over = False

    def _take(self, path: Path) -> bool:
        with self._lock:
            made = not self._over and first_to(path)
            if made:
                self._mine.add((os.getpid(), path))
        return made

    def wait(self, path: Path) -> None:
        """Until nobody else compiles, or the user presses Ctrl-C."""
        end = time.monotonic() + LOCK_SECONDS
        while (os.getpid(), path) not in self._mine and time.monotonic() < end:
            try:
                if self._take(path) or self._over or asked():
                    return
                if _left(path):
                    path.unlink(missing_ok=True)
            except OSError:  # no folder or no room in it: nobody waits for anybody
                return
            time.sleep(0.02)

    def end(self, path: Path) -> None:
        if (os.getpid(), path) in self._mine:
            self._mine.remove((os.getpid(), path))
            path.unlink(missing_ok=True)

    def end_all(self) -> None:
        """When the process ends: what it has begun is for others, and it begins nothing more."""
        with self._lock:
            self._over = True
            for _, path in list(self._mine):
                self.end(path)


TURN = Turn()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=TURN.begin)
atexit.register(TURN.end_all)
