"""Locks on files, which the system takes back when their holder dies: a killed process never blocks another one."""

from __future__ import annotations

import os
import sys
import zlib
from io import FileIO
from pathlib import Path
from typing import IO, BinaryIO

if sys.platform == "win32":
    import errno
    import msvcrt

    LOCKED_BYTE = 2**43  # Windows keeps others from reading locked bytes, so the lock is beyond the end of any file

    def hold(stream: IO[bytes] | FileIO) -> None:
        """Lock an open file until it is closed; BlockingIOError: another process holds it."""
        at = stream.tell()
        stream.seek(LOCKED_BYTE)
        try:
            msvcrt.locking(stream.fileno(), msvcrt.LK_NBLCK, 1)
        except PermissionError:
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN)) from None
        finally:
            stream.seek(at)

else:
    import fcntl

    def hold(stream: IO[bytes] | FileIO) -> None:
        """Lock an open file until it is closed; BlockingIOError: another process holds it."""
        fcntl.flock(stream.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)


def named(stream: IO[bytes] | FileIO, path: Path) -> bool:
    """Return whether an open file is the one that has this name now."""
    try:
        return os.path.samestat(os.fstat(stream.fileno()), path.stat())
    except FileNotFoundError:
        return False


def prefix(target: Path) -> str:
    """Return the beginning of the names of temporary files for a target: as short as for any name."""
    return f".{zlib.crc32(os.fsencode(target.name)):08x}-"


def opened(path: Path) -> BinaryIO:
    """Open a file to be locked; a network file system needs the right to write for that, so it is used if given."""
    try:
        return path.open("r+b")
    except PermissionError:
        return path.open("rb")
