"""Open a file for reading: a file on the disk or the data from a pipe, compressed or not."""

from __future__ import annotations

import bz2
import codecs
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
_OTHERS = (".zst", ".zstd", ".lz4", ".br", ".z", ".7z")  # Compressed files that nothing here opens.
STANDARD_INPUT = "-"  # The path that stands for it.
# Data from a pipe of at most this many bytes, such as the single lines of a stream, need no meter, if each of these
# bytes may become as many as any byte ever does.
SHORT_PIPE, DEAREST = 2**20, 32
# How many times as long as itself a compressed file, and its table, may become if the caller gives no limit, and the
# bytes that they may take in any case. Parquet says its size before anything is read.
# Real data become up to 40 times as long; a byte of xz may become thousands.
RATIO, LEAST_BYTES = 200, 2**26


@dataclass(frozen=True)
class Piped(os.PathLike[str]):
    """The data from a pipe, which gives them only once; this object stands for the path and can be read repeatedly.

    Attributes
    ----------
    name : str
        The path, for messages.
    data : bytes
        All data.
    """

    name: str
    data: bytes

    def __fspath__(self) -> str:
        return self.name


def rewindable(path: Path, most: int | None = None) -> Path:
    """Return a path that can be read more than once: a pipe or a device is read to its end, here and now.

    Parameters
    ----------
    path : path
        ``-`` is standard input.
    most : int, optional
        The bytes that a pipe may give; by default `adatron.files.tables.memory.room` decides.

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
    mode = FilePath(path).stat().st_mode
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode):
        return path
    with FilePath(path).open("rb") as stream:
        return _drained(os.fspath(path), stream, most)


def _drained(name: str, stream: BinaryIO, most: int | None) -> Piped:
    """Return all data of a pipe."""
    return Piped(name, Metered(name, stream, room() if most is None else most, text=False).readall())


def allowed(path: Path, packed: bool = False) -> int:
    """Return the bytes that the contents of a file may take if the caller gives no limit.

    Parameters
    ----------
    packed : bool, default=False
        Whether the format itself compresses, and does not say first to what size; else the extension tells whether
        the file is compressed.
    """
    if not packed and FilePath(path).suffix.lower() not in _OPENERS:
        return room()
    size = len(path.data) if isinstance(path, Piped) else FilePath(path).stat().st_size
    return min(room(), max(LEAST_BYTES, RATIO * size))


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
        The bytes that the file may have, decompressed; by default `allowed` decides.
    text, cost : optional
        See `adatron.files.tables.memory.Metered`.

    Raises
    ------
    DataError
        If the compressed stream is cut off or damaged, or longer than allowed.
    OSError
        If the file cannot be opened or read.
    """
    most, suffix = allowed(path) if most is None else most, FilePath(path).suffix.lower()
    if suffix in _OTHERS:
        raise DataError(path, f"{suffix} is not read: decompress the file, or compress it as {', '.join(_OPENERS)}")
    try:
        opener = _OPENERS.get(suffix)
        if isinstance(path, Piped) and opener is None and len(path.data) <= min(SHORT_PIPE, most // DEAREST):
            yield io.BufferedReader(io.BytesIO(path.data))  # pyright: ignore[reportArgumentType] (it has readinto)
            return
        with open_plain(path) as plain, nullcontext(plain) if opener is None else opener(plain, "rb") as stream:
            yield io.BufferedReader(Metered(path, stream, most, text, cost), 2**16)
    except (EOFError, zlib.error, lzma.LZMAError) as error:
        raise DataError(path, f"the compressed file is cut off or damaged ({error})") from error
    except OSError as error:
        # gzip and bz2 also report damage as an OSError, but as one without a number from the operating system.
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
def open_text(
    path: Path, most: int | None = None, encoding: str | None = None, cost: Callable[[bytes], int] | None = None
) -> Iterator[TextIO]:
    """Open a file as text, line ends as they are; see `open_binary`.

    Parameters
    ----------
    encoding : str, optional
        By default a byte order mark says that the text is UTF-16; otherwise it is UTF-8.
    """
    chosen = encoding or marked(path, most)
    try:
        with (
            open_binary(path, most, text=True, cost=cost) as stream,
            io.TextIOWrapper(stream, encoding="utf-8-sig" if _is_utf_8(chosen) else chosen, newline="") as text,
        ):
            yield text
    except UnicodeError as error:  # UTF-16 without its mark is a plain one
        fault = f"not a text file in {chosen.upper()} ({_undecodable(error)}); --encoding names another one, as cp1252"
        raise DataError(path, fault, _undecodable_line(path, most) if _is_utf_8(chosen) else None) from error


def marked(path: Path, most: int | None = None) -> str:
    """Return the encoding that the byte order mark of a file shows."""
    with open_binary(path, most) as stream:
        return "utf-16" if stream.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else "utf-8"


def _is_utf_8(encoding: str) -> bool:
    return codecs.lookup(encoding).name == "utf-8"


def _undecodable(error: UnicodeError) -> str:
    return f"byte 0x{error.object[error.start]:02x}" if isinstance(error, UnicodeDecodeError) else str(error)


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
    """Return the extension of a file without that of its compression: '.csv' for 'a.csv.gz', '' for 'a9a.gz'."""
    return FilePath(uncompressed(path)).suffix.lower()
