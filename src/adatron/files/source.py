"""Open a file that is read: a file on the disk or what came through a pipe, compressed or not."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import stat
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any, BinaryIO, TextIO

from .table import DataError, Path

_OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
STANDARD_INPUT = "-"


@dataclass(frozen=True)
class Piped(os.PathLike[str]):
    """What a pipe gave, which gives it only once; it stands for the path and can be read again and again.

    Attributes
    ----------
    name : str
        The path, for messages.
    data : bytes
        All of it.
    """

    name: str
    data: bytes

    def __fspath__(self) -> str:
        return self.name


def rewindable(path: Path) -> Path:
    """Return a path that can be read more than once: a pipe or a device is read whole, here and now.

    Parameters
    ----------
    path : path
        ``-`` is standard input.

    Raises
    ------
    OSError
        If there is no such file, or the pipe cannot be read.
    """
    if isinstance(path, Piped):
        return path
    if os.fspath(path) == STANDARD_INPUT:
        return Piped("standard input", sys.stdin.buffer.read())
    try:
        mode = FilePath(path).stat().st_mode
    except NotADirectoryError:
        return path  # a group in an HDF5 file, or else its reader says so
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode):
        return path
    return Piped(os.fspath(path), FilePath(path).read_bytes())


def open_plain(path: Path) -> BinaryIO:
    """Open a file for reading as it is."""
    return io.BytesIO(path.data) if isinstance(path, Piped) else FilePath(path).open("rb")


@contextmanager
def open_binary(path: Path) -> Iterator[BinaryIO]:
    """Open a file for reading; .gz, .bz2 and .xz are decompressed on the way.

    Raises
    ------
    DataError
        If the compressed stream is cut off or damaged.
    OSError
        If the file cannot be opened or read.
    """
    try:
        opener = _OPENERS.get(FilePath(path).suffix.lower())
        with open_plain(path) as plain:
            if opener is None:
                yield plain
            else:
                with opener(plain, "rb") as stream:
                    yield stream
    except (EOFError, zlib.error, lzma.LZMAError) as error:
        raise DataError(path, f"the compressed file is cut off or damaged ({error})") from error
    except OSError as error:
        # gzip and bz2 report damage as an OSError too, but as one that the operating system did not number.
        if error.errno is None:
            raise DataError(path, f"the compressed file is cut off or damaged ({error})") from error
        raise


@contextmanager
def open_text(path: Path) -> Iterator[TextIO]:
    """Open a file as UTF-8 text, line ends as they are; see `open_binary`."""
    try:
        with open_binary(path) as stream, io.TextIOWrapper(stream, encoding="utf-8-sig", newline="") as text:
            yield text
    except UnicodeDecodeError as error:
        raise DataError(path, f"not a text file (byte 0x{error.object[error.start]:02x} is not UTF-8)") from error


def data_lines(stream: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Iterate over (line number from 1, line), leaving out blank lines and comments (#)."""
    for number, line in enumerate(stream, 1):
        stripped = line.strip()
        if stripped and not stripped.startswith("#"):
            yield number, stripped


def uncompressed(path: Path) -> str:
    """Return the name of a file without the extension of its compression."""
    name = FilePath(path)
    return os.fspath(name.with_suffix("") if name.suffix.lower() in _OPENERS else path)


def undo_suffix(path: Path) -> str:
    """Return the extension of a file under its compression: '.csv' for 'a.csv.gz', '' for 'a9a.gz'."""
    return FilePath(uncompressed(path)).suffix.lower()
