"""Open a file that is read: a file on the disk or what came through a pipe, compressed or not."""

from __future__ import annotations

import bz2
import errno
import gzip
import io
import lzma
import os
import stat
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any, BinaryIO, TextIO

from .table import DataError, Path, check_size
from .tables.memory import Metered, room

_OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
STANDARD_INPUT = "-"
# What a pipe gave and has at most so many bytes needs no meter, as the lines of a stream that are read one by one, if
# each of these bytes may become as many as it ever does.
SHORT, DEAREST = 2**20, 32


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


def rewindable(path: Path, most: int | None = None) -> Path:
    """Return a path that can be read more than once: a pipe or a device is read whole, here and now.

    Parameters
    ----------
    path : path
        ``-`` is standard input.
    most : int, optional
        The bytes that a pipe may give; by default those that `adatron.files.tables.memory.room` tells.

    Raises
    ------
    OSError
        If there is no such file, or the pipe cannot be read.
    DataError
        If a pipe gives too much.
    """
    if isinstance(path, Piped):
        return path
    if os.fspath(path) == STANDARD_INPUT:
        if sys.stdin is None:  # pyright: ignore[reportUnnecessaryComparison]
            raise OSError(errno.EBADF, "it is closed", "standard input")
        return _drained("standard input", sys.stdin.buffer, most)
    try:
        mode = FilePath(path).stat().st_mode
    except NotADirectoryError:
        return path  # a group in an HDF5 file, or else its reader says so
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode):
        return path
    with FilePath(path).open("rb") as stream:
        return _drained(os.fspath(path), stream, most)


def _drained(name: str, stream: BinaryIO, most: int | None) -> Piped:
    """Return all that a pipe gives."""
    return Piped(name, Metered(name, stream, room() if most is None else most, text=False).readall())


def open_plain(path: Path) -> BinaryIO:
    """Open a file for reading as it is."""
    return io.BytesIO(path.data) if isinstance(path, Piped) else FilePath(path).open("rb")


@contextmanager
def open_binary(
    path: Path, most: int | None = None, text: bool = False, cost: Callable[[bytes], int] | None = None
) -> Iterator[BinaryIO]:
    """Open a file for reading; .gz, .bz2 and .xz are decompressed on the way.

    Parameters
    ----------
    most : int, optional
        The bytes that the file may have, decompressed; by default those that `adatron.files.tables.memory.room` tells.
    text, cost : optional
        See `adatron.files.tables.memory.Metered`.

    Raises
    ------
    DataError
        If the compressed stream is cut off or damaged, or there is more of it than may be.
    OSError
        If the file cannot be opened or read.
    """
    most = room() if most is None else most
    try:
        opener = _OPENERS.get(FilePath(path).suffix.lower())
        if isinstance(path, Piped) and opener is None and len(path.data) <= min(SHORT, most // DEAREST):
            yield io.BytesIO(path.data)
            return
        with open_plain(path) as plain, nullcontext(plain) if opener is None else opener(plain, "rb") as stream:
            yield io.BufferedReader(Metered(path, stream, most, text, cost), 2**16)
    except (EOFError, zlib.error, lzma.LZMAError) as error:
        raise DataError(path, f"the compressed file is cut off or damaged ({error})") from error
    except OSError as error:
        # gzip and bz2 report damage as an OSError too, but as one that the operating system did not number.
        if error.errno is None:
            raise DataError(path, f"the compressed file is cut off or damaged ({error})") from error
        raise


def read_whole(path: Path, most: int) -> bytes:
    """Return all bytes of a file; see `open_binary`."""
    if FilePath(path).suffix.lower() in _OPENERS:
        with open_binary(path, most) as stream:
            return stream.read()
    size = len(path.data) if isinstance(path, Piped) else FilePath(path).stat().st_size
    check_size(path, "contents", size, most)
    return path.data if isinstance(path, Piped) else FilePath(path).read_bytes()


@contextmanager
def open_text(path: Path, most: int | None = None) -> Iterator[TextIO]:
    """Open a file as UTF-8 text, line ends as they are; see `open_binary`."""
    try:
        with (
            open_binary(path, most, text=True) as stream,
            io.TextIOWrapper(stream, encoding="utf-8-sig", newline="") as text,
        ):
            yield text
    except UnicodeDecodeError as error:
        fault = f"not a text file (byte 0x{error.object[error.start]:02x} is not UTF-8)"
        raise DataError(path, fault, _undecodable_line(path, most)) from error


def _undecodable_line(path: Path, most: int | None) -> int | None:
    """Return the number of the first line that is not UTF-8; None for a pipe, which cannot be read again."""
    if not isinstance(path, Piped) and not FilePath(path).is_file():
        return None
    with open_binary(path, most, text=True) as stream:
        for number, line in enumerate(stream, 1):
            try:
                line.decode()
            except UnicodeDecodeError:
                return number
    return None


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
