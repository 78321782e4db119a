"""The first use of an installation: a message, and processes that compile ahead the code that is needed next.

This process compiles what it needs now. Compilation does not run in threads, so the helpers are processes of their own;
they end with this process.
"""

from __future__ import annotations

import atexit
import functools
import logging
import os
import subprocess
import sys
from pathlib import Path

import joblib

from .folder import say_if_not_kept
from .precompiled import precompiled_folder

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
    for process in _PROCESSES:
        if process.stdin:
            process.stdin.close()
    for process in _PROCESSES:
        process.wait()


def _leave_to_parent() -> None:
    """Close a forked child's copies of the pipes: the helpers end with the parent, however long the child lives."""
    for process in _PROCESSES:
        if process.stdin:
            process.stdin.close()
    _PROCESSES.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_to_parent)
