"""Where compiled code is kept, and who compiles it."""

from __future__ import annotations

import atexit
import functools
import hashlib
import os
import sys
import tempfile
import threading
import time
from importlib import metadata
from pathlib import Path

FACES = ("cli", "estimators", "files", "papers", "plots")  # no compiled code here, nor anything that it could import
LOCK_SECONDS = 120.0  # a process that compiles one function for longer than this is taken for dead


@functools.cache
def package_hash() -> str:
    """Hash of every source file of the package but for the faces', and of the compiler's version."""
    root = Path(__file__).parents[1]
    digest = hashlib.sha256(f"{metadata.version('numba')} {sys.version}".encode())
    for path in sorted(root.rglob("*.py")):
        if path.relative_to(root).parts[0] in FACES:
            continue
        digest.update(str(path.relative_to(root)).encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _user_cache_folder() -> Path:
    if given := os.environ.get("ADATRON_CACHE_DIR"):
        return Path(given)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home())) / "adatron"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "adatron"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "adatron"


def _private_folder(base: Path) -> Path | None:
    """``base/<hash>``, made for this user alone and owned by it, or None where that cannot be had."""
    folder = base / package_hash()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if hasattr(os, "getuid") and folder.stat().st_uid != os.getuid():
            return None  # machine code is loaded from here: never from somebody else's folder
        if not hasattr(os, "getuid") or folder.stat().st_mode & 0o077 == 0:
            return folder if os.access(folder, os.W_OK | os.X_OK) else None
    except OSError:
        pass
    return None


@functools.cache
def cache_folder() -> Path | None:
    """The folder of the compiled code: the user's cache, else a temporary one, else None (no cache)."""
    user = os.getuid() if hasattr(os, "getuid") else 0
    try:
        first = _private_folder(_user_cache_folder())
    except RuntimeError:  # no home folder is known
        first = None
    return first or _private_folder(Path(tempfile.gettempdir()) / f"adatron-{user}")


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
        """Until nobody else compiles."""
        end = time.monotonic() + LOCK_SECONDS
        while (os.getpid(), path) not in self._mine and time.monotonic() < end:
            try:
                if self._take(path) or self._over:
                    return
            except OSError:  # no folder or no room in it: nobody waits for anybody
                return
            if _left(path):
                path.unlink(missing_ok=True)
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
