"""The folder that keeps compiled code."""

from __future__ import annotations

import atexit
import functools
import hashlib
import logging
import os
import re
import shutil
import sys
import tempfile
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

from .kept import private_folder

HIGHEST = "solvers"  # The highest package with compiled code: it imports all others that have any.
NOT_KEPT = (
    "adatron compiles in every process anew, since it keeps no compiled code: %s. "
    "Set ADATRON_CACHE_DIR to a folder that only you can write to."
)


class Place(NamedTuple):
    """A folder of compiled code, whether it outlives the process, and if not, why."""

    folder: Path | None
    lasts: bool
    why: str = ""


def sources() -> dict[str, bytes]:
    """Return the files of ``HIGHEST`` and of every package that it imports: all that compiled code depends on.

    Whole packages, for compiled code also reads tuples from modules that its own module does not import. An edit of
    any other package compiles nothing anew.
    """
    root, found, seen, waiting = Path(__file__).parents[2], {}, set(), {HIGHEST}
    while waiting:
        name = waiting.pop()
        seen.add(name)
        for path in [*(root / name).rglob("*.py"), *root.glob(f"{name}.py")]:
            inside, text = path.relative_to(root), path.read_bytes()
            found[inside.as_posix()] = text
            waiting |= {one.decode() for one in re.findall(rb"from \.{%d}(\w+)" % len(inside.parts), text)} - seen
    return found


@functools.cache
def precompiled_hash() -> str:
    """Hash the ``sources``, and the versions of numba and Python."""
    digest = hashlib.sha256(f"{metadata.version('numba')} {sys.implementation.cache_tag}".encode())
    for path, text in sorted(sources().items()):
        digest.update(path.encode())
        digest.update(text)
    return digest.hexdigest()[:16]


@functools.cache
def package_hash() -> str:
    """Hash the sources, the version of numba, and the very build of Python."""
    return hashlib.sha256(f"{precompiled_hash()} {sys.version}".encode()).hexdigest()[:16]


def _user_cache_folder() -> Path:
    if given := os.environ.get("ADATRON_CACHE_DIR"):
        return Path(given)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home())) / "adatron"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "adatron"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "adatron"


def _own_folder() -> Path | None:
    """Make a folder for this process, and those that it starts, which goes when the process ends."""
    try:
        base = Path(tempfile.mkdtemp(prefix="adatron-"))
    except OSError:
        return None
    owner = os.getpid()

    def remove() -> None:
        if os.getpid() == owner:  # a forked child does not own its parent's folder
            shutil.rmtree(base, ignore_errors=True)

    try:
        folder = private_folder(base / package_hash())
    except OSError:
        remove()
        return None
    atexit.register(remove)
    return folder


@functools.cache
def cache_place() -> Place:
    """Choose the folder of the compiled code: the user's, else one of this process, else none.

    A folder that somebody else could change is not used, for code from it is run.
    """
    try:
        return Place(private_folder(_user_cache_folder() / package_hash()), lasts=True)
    except (OSError, RuntimeError) as error:  # RuntimeError: no home folder is known
        return Place(_own_folder(), lasts=False, why=str(error).rstrip("."))


@functools.cache
def say_if_not_kept() -> None:
    """Warn, once a process, if what is compiled now is lost with the process."""
    if why := cache_place().why:
        logging.getLogger("adatron").warning(NOT_KEPT, why)


def cache_folder() -> Path | None:
    """Return the folder of the compiled code, or None if there is no folder."""
    return cache_place().folder
