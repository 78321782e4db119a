"""The file of one compiled function for one signature: a checksum, and a pickle.

This is the one place where the package reads pickles, Numba's form of compiled code. Two guards stand before the
unpickling. The file must be one that nobody but this user and root can change (``trust``), or a part of the installed
package, so that no attacker can have written it. Its checksum must be right, so that no damaged byte is run. A file
that fails a guard counts as missing: the function is compiled again, and the file is replaced.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from .trust import read_private

SUFFIX = ".nbi"  # Numba's, of an index of compiled code.
DIGEST = 32  # bytes of a SHA-256


def functions_in(folder: Path | None) -> int:
    """Return how many files of compiled code a folder has."""
    return sum(1 for _ in folder.glob(f"*{SUFFIX}")) if folder else 0


class Kept:
    """Compiled code by its key, in files whose names begin with ``start``.

    Machines with different processors may share a folder, so the name has a hash of the key, which names the processor.
    """

    def __init__(self, start: Path, dumps: Any, read: Callable[[Path], bytes] = read_private) -> None:
        self._start, self._dumps, self._read = start, dumps, read

    def _path(self, key: Any) -> Path:
        return self._start.with_name(f"{self._start.name}-{hashlib.sha256(str(key).encode()).hexdigest()[:10]}{SUFFIX}")

    def load(self, key: Any) -> Any:
        """Return the saved code, or None if there is no undamaged file for the key."""
        content = undamaged(self._path(key), self._read)
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
        write_whole(self._path(key), self._dumps((key, data)))


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
