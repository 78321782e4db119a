"""Write a file whole or not at all."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

try:
    import fcntl
except ImportError:  # Windows, where a file in use cannot be removed anyway
    fcntl = None


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file for writing that replaces `path` only when all of it is on the disk.

    The bytes go to a temporary file in the same folder, which is flushed, synchronised and renamed at the end, and the
    folder is synchronised. After any error, a full disk and Ctrl-C included, the temporary file is removed and an old
    file at `path` is as it was.

    Parameters
    ----------
    path : path
        The file to write. A symbolic link is followed; a device or a pipe is written to directly.

    Yields
    ------
    binary file, open for writing

    Raises
    ------
    OSError
        Naming `path`, not the temporary file.
    """
    target = Path(path).resolve()
    if target.exists() and not target.is_file():
        with target.open("wb") as stream:
            yield stream
        return
    temporary = target.with_name(f"{_prefix(target)}{secrets.token_hex(8)}.tmp")
    try:
        with temporary.open("xb") as stream:
            _lock(stream)
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        if target.exists():
            shutil.copymode(target, temporary)
        temporary.replace(target)
        _synchronise(target.parent)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename in (None, str(temporary)):
            error.filename = os.fspath(path)
        raise


def remove_leftovers(path: str | os.PathLike[str]) -> None:
    """Remove what killed processes left when they wrote `path`; what is being written now stays.

    Raises
    ------
    OSError
        Something cannot be removed.
    """
    target = Path(path).resolve()
    for found in target.parent.glob(f"{_prefix(target)}*.tmp"):
        with suppress(BlockingIOError, FileNotFoundError):
            with found.open("rb") as stream:
                _lock(stream)
            found.unlink()


def _prefix(target: Path) -> str:
    """How the names of temporary files for a target begin: as short as they are for any name."""
    return f".{zlib.crc32(os.fsencode(target.name)):08x}-"


def _lock(stream: BinaryIO) -> None:
    """Tell others that the file is in use, until it is closed; BlockingIOError: it is."""
    if fcntl is not None:
        fcntl.flock(stream.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)


def _synchronise(folder: Path) -> None:
    """Have the names in a folder on the disk, where the system can do that."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:  # Windows, or a folder that may be written to but not read
        return
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # a file system that has no such thing
            raise
    finally:
        os.close(descriptor)
