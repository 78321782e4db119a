"""The memory that a file may take: the free memory, and a stream that stops at a limit."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from pathlib import Path as FilePath
from typing import BinaryIO

from ..table import DataError, Path, check_size

# Share of the free memory that one file may take: a reader holds up to three copies of the data at some time.
FILE_SHARE = 4
# The longest line of a text. The fields of a line are objects in Python, each of up to twenty times its text.
LONGEST_LINE = 2**26
# Memory that is assumed to be free if the system does not tell.
ASSUMED_FREE = 2**32


def room() -> int:
    """Return the bytes that a file may take if the caller gives no limit: a quarter of the free memory."""
    limits = [_free(), _group_limit(), _process_limit()]
    return min([limit for limit in limits if limit is not None] or [ASSUMED_FREE]) // FILE_SHARE


def _free() -> int | None:
    try:
        lines = FilePath("/proc/meminfo").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable"))
    except (OSError, StopIteration):
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None  # Windows has no sysconf


def _group_limit() -> int | None:
    """Return the limit of the control group, which is that of a container, or None."""
    try:
        return int(FilePath("/sys/fs/cgroup/memory.max").read_text())
    except (OSError, ValueError):
        return None


def _process_limit() -> int | None:
    """Return the limit of the address space of this process, see ``ulimit -v``, or None."""
    try:
        import resource
    except ImportError:
        return None  # Windows
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if soft == resource.RLIM_INFINITY else soft


class Metered(io.RawIOBase):
    """A stream of bytes that raises a DataError once it has given too many bytes.

    Parameters
    ----------
    path : path
        The file, for the error.
    stream : binary stream
        The stream to read.
    most : int
        The bytes that the whole stream may have.
    text : bool
        Whether the length of a line is also bounded.
    cost : callable, optional
        Returns the bytes of memory that a piece of the stream becomes; by default its length.
    """

    def __init__(
        self, path: Path, stream: BinaryIO, most: int, text: bool, cost: Callable[[bytes], int] | None = None
    ) -> None:
        self.path, self.stream, self.most, self.text = path, stream, most, text
        self.cost = cost or len
        self.given = self.spent = self.line = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        data = self.stream.read(len(buffer))
        buffer[: len(data)] = data
        self.given += len(data)
        self.spent += self.cost(data)
        check_size(self.path, "contents", max(self.given, self.spent), self.most, at_least=True)
        if self.text:
            end = max(data.rfind(b"\n"), data.rfind(b"\r"))
            self.line = len(data) - end - 1 if end >= 0 else self.line + len(data)
            if self.line > LONGEST_LINE:
                raise DataError(self.path, f"a line of more than {LONGEST_LINE:,} bytes")
        return len(data)
