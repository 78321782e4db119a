"""Write a file whole or not at all."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file for writing that replaces `path` only when all of it is on the disk.

    The bytes go to a temporary file in the same folder, which is flushed, synchronised and renamed at the end. After
    any error, a full disk and Ctrl-C included, the temporary file is removed and an old file at `path` is as it was.

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
    temporary = target.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        with temporary.open("xb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        if target.exists():
            shutil.copymode(target, temporary)
        temporary.replace(target)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename in (None, str(temporary)):
            error.filename = os.fspath(path)
        raise
