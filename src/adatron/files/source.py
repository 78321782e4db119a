"""Open a file for reading: on the disk or from a pipe, compressed or not, and in no more memory than it may take."""

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
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any, BinaryIO, TextIO

from .table import DataError, Path, check_size

_OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
_OTHERS = (".zst", ".zstd", ".lz4", ".br", ".z", ".7z")  # Compressed files that nothing here opens.
STANDARD_INPUT = "-"  # The path that stands for it.
# One file may take one of so many parts of the free memory: a reader holds up to three copies of the data at some time.
MEMORY_PARTS = 4
# Memory that is assumed to be free if the system does not tell.
ASSUMED_FREE = 2**32
# The longest line of a text. The fields of a line are objects in Python, each of up to twenty times its text.
LONGEST_LINE = 2**26
# Data from a pipe of at most this many bytes, such as the single lines of a stream, need no meter. One byte of
# input takes at most the second number of bytes of memory.
SHORT_PIPE, BYTES_OF_ONE = 2**20, 32
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


class Metered(io.RawIOBase):
    """A stream of bytes that raises a DataError once it has given more than ``most`` bytes.

    ``text`` says that the length of a line is bounded, too. ``cost`` returns the bytes of memory that a piece of the
    stream becomes; by default its length.
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


def room() -> int:
    """Return the bytes that a file may take if the caller gives no limit: a quarter of the free memory."""
    limits: list[int] = []
    with suppress(OSError, StopIteration):
        lines = FilePath("/proc/meminfo").read_text().splitlines()
        limits.append(next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable")))
    if not limits:
        with suppress(AttributeError, ValueError, OSError):  # Windows has no sysconf
            limits.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    with suppress(OSError, ValueError):  # the limit of the control group, which is that of a container
        limits.append(int(FilePath("/sys/fs/cgroup/memory.max").read_text()))
    with suppress(ImportError):  # Windows has no limit of the address space of a process (``ulimit -v``)
        import resource

        soft, _ = resource.getrlimit(resource.RLIMIT_AS)
        limits += [soft] * (soft != resource.RLIM_INFINITY)
    return min(limits, default=ASSUMED_FREE) // MEMORY_PARTS


def rewindable(path: Path, most: int | None = None) -> Path:
    """Return a path that can be read more than once: a pipe or a device is read to its end, here and now.

    Parameters
    ----------
    path : path
        ``-`` is standard input.
    most : int, optional
        The bytes that a pipe may give; by default `room` decides.

    Raises
    ------
    OSError
        If there is no such file, or the pipe cannot be read.
    DataError
        If a pipe gives too much.
    """
    if isinstance(path, Piped):
        return path
    most = room() if most is None else most
    if os.fspath(path) == STANDARD_INPUT:
        name = "standard input"
        if sys.stdin is None:  # pyright: ignore[reportUnnecessaryComparison]
            raise OSError(errno.EBADF, "it is closed", name)
        return Piped(name, Metered(name, sys.stdin.buffer, most, text=False).readall())
    mode = FilePath(path).stat().st_mode
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode):
        return path
    with FilePath(path).open("rb") as stream:
        return Piped(os.fspath(path), Metered(path, stream, most, text=False).readall())


def size_of(path: Path) -> int:
    """Return the bytes of a file as it is."""
    return len(path.data) if isinstance(path, Piped) else FilePath(path).stat().st_size


def allowed(path: Path, packed: bool = False) -> int:
    """Return the bytes that the contents of a file may take if the caller gives no limit.

    ``packed`` says that the format itself compresses, and does not say first to what size; otherwise the extension
    tells whether the file is compressed.
    """
    if not packed and FilePath(path).suffix.lower() not in _OPENERS:
        return room()
    return min(room(), max(LEAST_BYTES, RATIO * size_of(path)))


def open_plain(path: Path) -> BinaryIO:
    """Open a file for reading as it is."""
    return io.BytesIO(path.data) if isinstance(path, Piped) else FilePath(path).open("rb")


def begins_with(path: Path, magic: bytes) -> bool:
    """Return whether a file begins with some bytes."""
    with open_plain(path) as stream:
        return stream.read(len(magic)) == magic


@contextmanager
def open_binary(
    path: Path, most: int | None = None, text: bool = False, cost: Callable[[bytes], int] | None = None
) -> Iterator[BinaryIO]:
    """Open a file for reading; .gz, .bz2 and .xz are decompressed on the way.

    The file may have ``most`` bytes, decompressed; by default `allowed` decides. For ``text`` and ``cost`` see
    `Metered`. A DataError says that the compressed stream is cut off or damaged, or longer than allowed.
    """
    most, suffix = allowed(path) if most is None else most, FilePath(path).suffix.lower()
    if suffix in _OTHERS:
        raise DataError(path, f"{suffix} is not read: decompress the file, or compress it as {', '.join(_OPENERS)}")
    try:
        opener = _OPENERS.get(suffix)
        if isinstance(path, Piped) and opener is None and len(path.data) <= min(SHORT_PIPE, most // BYTES_OF_ONE):
            yield io.BufferedReader(io.BytesIO(path.data))  # pyright: ignore[reportArgumentType] (it has readinto)
            return
        with open_plain(path) as plain, nullcontext(plain) if opener is None else opener(plain, "rb") as stream:
            yield io.BufferedReader(Metered(path, stream, most, text, cost), 2**16)
    except (EOFError, OSError, zlib.error, lzma.LZMAError) as error:
        # gzip and bz2 also report damage as an OSError, but as one without a number from the operating system.
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise DataError(path, f"the compressed file is cut off or damaged ({error})") from error


def read_whole(path: Path, most: int) -> bytes:
    """Return all bytes of a file; see `open_binary`."""
    if FilePath(path).suffix.lower() in _OPENERS:
        with open_binary(path, most) as stream:
            return stream.read()
    check_size(path, "contents", size_of(path), most)
    return path.data if isinstance(path, Piped) else FilePath(path).read_bytes()


@contextmanager
def open_text(
    path: Path, most: int | None = None, encoding: str | None = None, cost: Callable[[bytes], int] | None = None
) -> Iterator[TextIO]:
    """Open a file as text, line ends as they are; see `open_binary`.

    By default a byte order mark says that the text is UTF-16; otherwise it is UTF-8.
    """
    if encoding is None:
        with open_binary(path, most) as stream:
            encoding = "utf-16" if stream.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else "utf-8"
    is_utf_8 = codecs.lookup(encoding).name == "utf-8"
    try:
        with (
            open_binary(path, most, text=True, cost=cost) as stream,
            io.TextIOWrapper(stream, encoding="utf-8-sig" if is_utf_8 else encoding, newline="") as text,
        ):
            yield text
    except UnicodeError as error:  # UTF-16 without its mark is a plain one
        found = f"byte 0x{error.object[error.start]:02x}" if isinstance(error, UnicodeDecodeError) else str(error)
        fault = f"not a text file in {encoding.upper()} ({found}); --encoding names another one, as cp1252"
        raise DataError(path, fault, _undecodable_line(path, most) if is_utf_8 else None) from error


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
