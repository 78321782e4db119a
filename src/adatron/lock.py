"""Locks on files, which the system takes back when their holder dies: a killed process never blocks another one."""

from __future__ import annotations

import os
import sys
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import FileIO
from pathlib import Path
from typing import IO, BinaryIO

if sys.platform == "win32":
    import errno
    import msvcrt
    import time

    LOCKED_BYTE = 2**43  # Windows keeps others from reading locked bytes, so the lock is beyond the end of any file
    RETRY_SECONDS = 0.05  # Seconds between two attempts. The system itself would give up after ten seconds.

    def hold(stream: IO[bytes] | FileIO, wait: bool = False) -> None:
        """Lock an open file until it is closed; BlockingIOError: another process holds it."""
        at = stream.tell()
        stream.seek(LOCKED_BYTE)
        try:
            while not _held(stream.fileno()):
                if not wait:
                    raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
                time.sleep(RETRY_SECONDS)
        finally:
            stream.seek(at)

    def _held(descriptor: int) -> bool:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except PermissionError:
            return False
        return True

else:
    import fcntl

    def hold(stream: IO[bytes] | FileIO, wait: bool = False) -> None:
        """Lock an open file until it is closed; BlockingIOError: another process holds it."""
        fcntl.flock(stream.fileno(), fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))


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


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Wait until no other thread or process has the file locked, and lock it: the file read then is the one replaced.

    A missing file is not locked: there is nothing to lose. A file that this thread has locked, maybe under another
    name, stays locked.
    """
    target = path.resolve()
    # Windows renames no file over an open one: there the lock is another file.
    place = target.with_name(prefix(target) + "lock") if sys.platform == "win32" else target
    if sys.platform == "win32" and target.exists():
        place.touch()
    mine = vars(_mine).setdefault("files", set[tuple[int, int]]())
    stream = _newest(place, mine)
    if stream is None:
        yield
        return
    with stream:
        found = os.fstat(stream.fileno())
        mine.add((found.st_dev, found.st_ino))
        try:
            yield
        finally:
            mine.remove((found.st_dev, found.st_ino))


_mine = threading.local()  # files that a thread has locked


def _newest(place: Path, mine: set[tuple[int, int]]) -> BinaryIO | None:
    """Open and lock the file that still has this name when locked; None if it is missing, or it is ``mine``."""
    while True:
        try:
            stream = opened(place)
        except FileNotFoundError:
            return None
        try:
            found = os.fstat(stream.fileno())
            if (found.st_dev, found.st_ino) in mine:
                stream.close()
                return None
            hold(stream, wait=True)
            if named(stream, place):
                return stream
        except BaseException:
            stream.close()
            raise
        stream.close()  # it was replaced
