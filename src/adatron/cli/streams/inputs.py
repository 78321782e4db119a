"""The input of a stream, line by line, and how a model remembers the inputs that it has learned.

The memory tells whether an input is the one that was learned before.
"""

from __future__ import annotations

import errno
import io
import os
import secrets
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from typing import Any, TextIO

from ...files.database import Record
from ...files.source import STANDARD_INPUT

STANDARD_NAME = "standard input"  # What messages call it.
Memory = dict[str, Any]  # of an incremental model: ``stream_``, see `new_stream`


@dataclass
class Input:
    """An input, read line by line.

    Parameters
    ----------
    path : str
        ``-`` is standard input.
    encoding : str, optional
        By default UTF-8.

    Attributes
    ----------
    name : for messages
    source : the name by which the model remembers the input
    growing : whether the file may still grow: it is on the disk and not compressed
    again : whether the input begins at the same line each time: it is a file
    inode : number of the file; empty if the input is not a file
    unfinished : whether its last line had no end, and was therefore left out
    """

    path: str
    encoding: str | None = None
    name: str = field(init=False)
    source: str = field(init=False)
    growing: bool = field(init=False)
    again: bool = field(init=False)
    inode: str = field(init=False)
    unfinished: int | None = None

    def __post_init__(self) -> None:
        from ...files.source import uncompressed

        standard = self.path == STANDARD_INPUT
        self.name = STANDARD_NAME if standard else self.path
        self.source = STANDARD_INPUT if standard else os.path.realpath(self.path)
        found = _standard() if standard else Path(self.path).stat()
        regular = found is not None and stat.S_ISREG(found.st_mode)
        self.again = regular and not standard
        self.inode = str(found.st_ino) if self.again and found is not None else ""
        self.growing = regular and (standard or uncompressed(self.path) == self.path)

    def lines(self) -> Iterator[tuple[int, str]]:
        """Yield lines with their numbers, as they come; without blank ones and comments.

        If the last line of a growing file has no end, it is half of a line, and is left out. At the end of a pipe or
        of a compressed file it is the last line.
        """
        from ...files.source import data_lines

        with self._opened() as stream:
            yield from data_lines(self._whole(stream))

    @contextmanager
    def _opened(self) -> Iterator[TextIO]:
        if self.path == STANDARD_INPUT and sys.stdin is None:  # pyright: ignore[reportUnnecessaryComparison]
            raise OSError(errno.EBADF, "it is closed", STANDARD_NAME)
        if self.path == STANDARD_INPUT and self.encoding is None:
            yield sys.stdin
            return
        from ...files.source import open_binary

        with (
            nullcontext(sys.stdin.buffer) if self.path == STANDARD_INPUT else open_binary(self.path) as plain,
            # A character that is not complete yet must not hide the lines before it.
            io.TextIOWrapper(plain, self.encoding or "utf-8-sig", errors="surrogateescape", newline="") as text,
        ):
            yield text

    def _whole(self, stream: TextIO) -> Iterator[str]:
        from ...files import DataError

        for number, line in enumerate(stream, 1):
            if self.growing and not line.endswith(("\n", "\r")):
                self.unfinished = number if line.strip() else None
                return  # data that come later belong to the same line
            try:
                line.encode()
            except UnicodeEncodeError as error:
                byte = ord(line[error.start]) & 0xFF
                raise DataError(
                    self.name, f"not a text file (byte 0x{byte:02x} is not {self.encoding or 'UTF-8'})", number
                ) from error
            yield line


def _standard() -> os.stat_result | None:
    try:
        return os.fstat(sys.stdin.fileno())
    except (OSError, ValueError, AttributeError):  # another object stands in for the stream
        return None


def after(
    lines: Iterator[tuple[int, str]], given: Input, done: int, seen: dict[str, Any], header: Callable[[], str]
) -> Iterator[tuple[int, str]]:
    """Return the lines after those that were learned; the learned ones are read here and must be the same.

    Parameters
    ----------
    done : number of the last line that was learned
    seen : what ``begun`` gave, with the digest of the lines since
    header : returns the header above the lines, once the first one is read

    Raises
    ------
    DataError
        The file is another one.
    """
    from ...files import DataError

    last, digest, with_header = 0, "", ""
    first: list[tuple[int, str]] = []
    for number, text in lines:
        if number > done:
            first.append((number, text))
            break
        last = number
        if number > seen["since"]:
            with_header = chained(with_header if digest else chained("", header()), text)
            digest = chained(digest, text)
    what = None
    if last != done:
        what = f"line {done} is not there"
    elif seen["digest"] not in (digest, with_header):
        what = f"lines {seen['since'] + 1} to {done} are not those that were learned"
    elif not digest and seen["inode"] not in ("", given.inode):
        what = "it is another file"
    if what:
        raise DataError(
            given.name,
            f"the model has learned {done} lines of the file with this name, but {what}: --no-skip-learned learns it "
            f"from its beginning, as a new one; --skip-learned goes on after line {done}, whatever comes before",
        )
    return chain(first, lines)


def new_stream() -> Memory:
    """Return the memory of a model that has not learned from a stream yet."""
    return {"name": secrets.token_hex(16), "number": 0, "lines": {}, "inputs": {}}


def begun(inode: str, line: int = 0) -> dict[str, Any]:
    """Return the facts by which a model recognises an input.

    inode : number of the file
    since, digest : a digest of the lines after line ``since``, chained from one to the next
    """
    return {"inode": inode, "since": line, "digest": ""}


def chained(digest: str, text: str) -> str:
    """Return the digest of some lines and one more."""
    return blake2b(digest.encode() + text.encode(), digest_size=16).hexdigest()


def remembering(before: Memory, record: Record) -> Memory:
    """Return the memory of a model that has learned a record."""
    source, line = record.source, before["lines"].get(record.source, 0)
    said = {**before, "number": record.number, "lines": {**before["lines"], source: record.line}}
    inputs = before["inputs"]
    if source not in inputs:
        return said
    entry = inputs[source] if record.line > line else begun(inputs[source]["inode"], record.line - 1)
    return {**said, "inputs": {**inputs, source: {**entry, "digest": chained(entry["digest"], record.text)}}}


def fitted(source: str, inode: str, lines: Iterable[tuple[int, str]]) -> Memory:
    """Return the memory of a model after a fit to these lines of an input, a file if it has an inode."""
    stream = new_stream()
    if inode:
        stream["inputs"][source] = begun(inode)
    for number, text in lines:
        stream = remembering(stream, Record(stream["number"] + 1, source, number, text))
    return stream
