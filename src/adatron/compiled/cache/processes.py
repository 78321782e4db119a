"""Processes that compile beside each other: they take turns at a function, and helpers compile ahead what comes next.

A process compiles what it needs now. Compilation does not run in threads, so the helpers of an installation's first use
are processes of their own; they end with the process that started them.
"""

from __future__ import annotations

import atexit
import functools
import logging
import os
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

import joblib

from ...lock import hold
from .folder import say_if_not_kept
from .precompiled import precompiled_folder
from .uninterrupted import requested

LOCK_SECONDS = 120.0  # Time after which nobody waits any longer for a process that compiles one function.
# See ``adatron.warm``. A fit compiles one of the precisions first and the pairs last, so the first helper begins with
# the pairs. Only other forms of the bias need singles, and only blocks that pairs and singles leave unfinished need a
# walk. If several helpers run, one may meet the fit, and waits for its turn.
HELPER_PARTS = ("pairs", "double", "single", "singles", "walk")
HELPER = "ADATRON_COMPILES_AHEAD"  # set in the helpers' environment
FIRST_COMPILING = (
    "Compiling for this machine (once): what a first fit needs takes ten to thirty seconds. 'adatron warmup' compiles "
    "everything ahead, one to two minutes. A busy machine takes longer."
)
LATER_COMPILING = (
    "Compiling code for this machine, once (some seconds; one to two minutes for 'adatron warmup'), or waiting for "
    "another process that compiles it. A busy machine takes longer."
)
_PROCESSES: list[subprocess.Popen[bytes]] = []


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
                if self._take(path) or self._over or requested():
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


@functools.cache  # called under the compiler's lock
def begin(folder: Path) -> None:
    """Say, once a process, that something must be compiled; the first process to use a folder starts the helpers.

    Nothing is compiled ahead where most code came with the package.
    """
    say_if_not_kept()
    if HELPER in os.environ:
        return
    try:
        first = precompiled_folder() is None and _first_to(folder / "begun")
    except OSError:  # the folder cannot keep anything
        first = False
    logging.getLogger("adatron").warning(FIRST_COMPILING if first else LATER_COMPILING)
    if not first:
        return
    python = sys.executable and not getattr(sys, "frozen", False)  # a frozen application would start itself
    helpers = min(len(HELPER_PARTS), joblib.cpu_count() - 1) if python else 0
    atexit.register(_end)
    for number in range(helpers):
        _start(HELPER_PARTS[number::helpers], folder.parent)


def _first_to(path: Path) -> bool:
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


def _start(parts: tuple[str, ...], base: Path) -> None:
    try:
        process = subprocess.Popen(  # noqa: S603 (this very Python)
            [sys.executable, "-P", "-m", "adatron.warm", *parts],
            env={**os.environ, HELPER: "1", "ADATRON_CACHE_DIR": str(base)},  # the folder may be this process's own
            start_new_session=True,  # the terminal's Ctrl-C is for this process, which may need the helpers' work later
            stdin=subprocess.PIPE,  # it closes with this process, however this process ends
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    except OSError:
        return  # this process compiles everything
    _PROCESSES.append(process)


def _end() -> None:
    """Close the pipes of the helpers, so that they end, and wait for them."""
    processes = list(_PROCESSES)
    _leave()
    for process in processes:
        process.wait()


def _leave() -> None:
    """Close this process's ends of the pipes.

    In a forked child they are copies: the helpers end with the parent, however long the child lives.
    """
    for process in _PROCESSES:
        if process.stdin:
            process.stdin.close()
    _PROCESSES.clear()


atexit.register(TURN.end_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=TURN.begin)
    os.register_at_fork(after_in_child=_leave)
