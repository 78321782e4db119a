"""Compiled code on the disk: a checksum and a pickle for each function and signature, which nobody else can change.

Compiled code is run. Whoever can write to its folder, or put another folder in its place, runs code as this user.

This is the one place where the package reads pickles, Numba's form of compiled code. Two guards stand before the
unpickling. The file must be one that nobody but this user and root can change, or a part of the installed package, so
that no attacker can have written it. Its checksum must be right, so that no damaged byte is run. A file that fails a
guard counts as missing: the function is compiled again, and the file is replaced.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import stat
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

SUFFIX = ".nbi"  # Numba's, of an index of compiled code.
DIGEST = 32  # bytes of a SHA-256


def _refuse_others(path: Path, status: os.stat_result, sticky: bool) -> None:
    """Raise PermissionError if a user other than this one and root can change the file or folder with this status.

    In a sticky folder, such as /tmp, others can write, but cannot replace what belongs to this user or to root.
    """
    if not hasattr(os, "geteuid"):
        return
    if status.st_uid not in (0, os.geteuid()):
        raise PermissionError(f"{path} belongs to another user (number {status.st_uid})")
    if status.st_mode & 0o022 and not (sticky and status.st_mode & stat.S_ISVTX):
        raise PermissionError(f"{path} can be changed by other users (mode {stat.S_IMODE(status.st_mode):03o})")


def private_folder(path: Path) -> Path:
    """Return a folder, made if missing, that nobody but this user and root can change; its path has no links.

    Every folder on the way is checked, from the root down. Once a folder is found good, nobody else can change which
    folder its name leads to.

    Raises
    ------
    OSError
        The folder cannot be made, is empty and cannot be written, or can be changed by somebody else; the message says
        why.
    """
    folder = Path(os.path.realpath(path))
    for part in (*reversed(folder.parents), folder):
        try:
            status = part.lstat()
        except FileNotFoundError:
            part.mkdir(mode=0o700, exist_ok=True)
            status = part.lstat()
        if not stat.S_ISDIR(status.st_mode):
            raise NotADirectoryError(f"{part} is not a folder")
        _refuse_others(part, status, sticky=part != folder)
    if not os.access(folder, os.W_OK | os.X_OK) and not any(folder.glob("*.nbi")):  # else it is there to be read
        raise PermissionError(f"{folder} cannot be written to")
    return folder


def read_private(path: Path) -> bytes:
    """Return the bytes of a regular file that nobody but this user and root can change.

    The opened file is checked, not its name.

    Raises
    ------
    OSError
        There is no such file, or somebody else can change it.
    """
    flags = sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"))
    with open(os.open(path, os.O_RDONLY | flags), "rb") as stream:  # noqa: PTH123 (of what is opened, not of a name)
        status = os.fstat(stream.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise PermissionError(f"{path} is not a regular file")
        _refuse_others(path, status, sticky=False)
        return stream.read()


def functions_in(folder: Path | None) -> int:
    """Return how many files of compiled code a folder has."""
    return sum(1 for _ in folder.glob(f"*{SUFFIX}")) if folder else 0


class Kept:
    """Compiled code by its key, in files whose names begin with ``start``.

    Machines with different processors may share a folder, so the name has a hash of the key, which names the processor.
    """

    def __init__(self, start: Path, dumps: Any, read: Callable[[Path], bytes] = read_private) -> None:
        self._start, self._dumps, self._read = start, dumps, read

    def path(self, key: Any) -> Path:
        """Return the file for a key."""
        return self._start.with_name(f"{self._start.name}-{hashlib.sha256(str(key).encode()).hexdigest()[:10]}{SUFFIX}")

    def turn(self, key: Any) -> Path:
        """Return the file that is locked while a process compiles the code for a key."""
        return self.path(key).with_suffix(".compiling")

    def load(self, key: Any) -> Any:
        """Return the saved code, or None if there is no undamaged file for the key."""
        content = undamaged(self.path(key), self._read)
        if content is None:
            return None
        found, data = pickle.loads(content)  # noqa: S301 (see above)
        return data if found == key else None

    def save(self, key: Any, data: Any) -> None:
        """Write the file anew; a process that reads meanwhile gets the old file or the new one.

        Raises
        ------
        OSError
            The file cannot be written.
        """
        write_whole(self.path(key), self._dumps((key, data)))


def undamaged(path: Path, read: Callable[[Path], bytes] = read_private) -> bytes | None:
    """Return the bytes that were written to a file, or None if there is no undamaged file."""
    try:
        content = read(path)
    except OSError:
        return None
    return content[DIGEST:] if content[:DIGEST] == hashlib.sha256(content[DIGEST:]).digest() else None


def write_whole(path: Path, content: bytes) -> None:
    """Write a file and its checksum under another name, and rename it: no other process sees a part of it."""
    descriptor, temporary = tempfile.mkstemp(".tmp", path.stem, path.parent)
    try:
        with open(descriptor, "wb") as stream:  # noqa: PTH123 (a descriptor)
            stream.write(hashlib.sha256(content).digest() + content)
        os.replace(temporary, path)  # noqa: PTH105 (a name)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)  # noqa: PTH108
        raise
