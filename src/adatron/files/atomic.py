"""Write a file whole or not at all."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from ..lock import hold, named, opened, prefix


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file for writing that replaces `path` only when all of it is on the disk.

    The bytes go to a temporary file in the same folder. At the end that file is flushed, synchronised and renamed,
    and the folder is synchronised. After any error, a full disk and Ctrl-C included, the temporary file is removed and
    an old file at `path` is as it was. Leftovers of killed processes that wrote `path` are removed first, if possible.

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
        The error names `path`, not the temporary file.
    """
    target, temporary = Path(path).resolve(), None
    try:
        if target.exists() and not target.is_file():
            with target.open("wb") as stream:
                yield stream
            return
        with suppress(OSError):
            remove_leftovers(target)
        temporary, stream = _temporary(target)
        with stream:
            if target.exists():  # before the first byte: what others may not read, they may not read meanwhile
                shutil.copymode(target, temporary)
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
            if sys.platform == "win32":  # which renames no open file
                stream.close()
            temporary.replace(target)  # while it is locked: another process would take an unlocked one for a leftover
        _synchronise(target.parent)
    except BaseException as error:
        if temporary is not None:
            temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and Path(str(error.filename or prefix(target))).name.startswith(prefix(target)):
            error.filename = os.fspath(path)
        raise


def remove_leftovers(path: str | os.PathLike[str]) -> None:
    """Remove the files that killed processes left when they wrote `path`; files being written now stay."""
    target = Path(path).resolve()
    for found in target.parent.glob(f"{prefix(target)}*.tmp"):
        if sys.platform == "win32":
            with suppress(PermissionError):  # in use
                found.unlink()
        elif found.is_file() and not found.is_symlink():
            with suppress(BlockingIOError, FileNotFoundError), opened(found) as stream:
                hold(stream)
                found.unlink()


def _temporary(target: Path) -> tuple[Path, BinaryIO]:
    """Return a new file beside a target, open and locked until it is closed."""
    while True:
        path = target.with_name(f"{prefix(target)}{secrets.token_hex(8)}.tmp")
        stream = path.open("xb")
        if sys.platform == "win32":  # a file in use cannot be removed anyway
            return path, stream
        try:
            hold(stream)
        except BlockingIOError:
            pass
        except OSError:  # a file system without locks, where nobody can lock a leftover to remove it
            return path, stream
        else:
            if named(stream, path):
                return path, stream
        stream.close()  # another process has just taken it for a leftover, and removes it


def _synchronise(folder: Path) -> None:
    """Write the names in a folder to the disk, if the system can do that."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:  # Windows, or a folder that may be written to but not read
        return
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # a file system that cannot do it
            raise
    finally:
        os.close(descriptor)
