"""A journal beside a model file: records, one after the other, of all that the model has learned since its last write.

The first line names the model's stream. Each record is a line: the CRC-32 of the stream's name and of the JSON that
follows, then a list in JSON. The list has the record's number, the input it was read from, the line there, and that
line's text. JSON has no line end of its own, so damage to one record leaves the others readable. A record is on the
disk before the next one is learned. A record that a crash cut off is a part of a line, and zeros may follow: it was
never acknowledged and is left out. Any other line that is not a record is damage, and so is a missing number.

The model file says up to which number it has learned. So nothing is lost and nothing is learned twice, whichever of the
two was written last. The learning process holds a lock on the journal, which is therefore never renamed.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import zlib
from contextlib import suppress
from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from ..lock import hold, named
from .table import ModelFileError

JOURNAL_MAGIC = b"adatron-journal 2 "  # The first bytes, with the version.
BEGUN = re.compile(rb"[0-9a-f]{0,8}|[0-9a-f]{8} (\[[ -~]*)?")  # a part of a line, from its beginning
LARGEST_NUMBER = 2**53  # Largest number of a record, and of its line.


def journal_of(model: Path) -> Path:
    """Return the place of a model file's journal."""
    place = model.resolve()
    return place.with_name(place.name + ".journal")


class Record(NamedTuple):
    """One line that was learned."""

    number: int
    source: str
    line: int
    text: str


class Content(NamedTuple):
    """The records of a journal.

    records : the readable records, in the order of their numbers
    lost : missing or damaged records between them, in words; empty if nothing is lost
    """

    records: list[Record]
    lost: str


class Journal:
    """The journal of a model, locked for this process until it is closed.

    Parameters
    ----------
    path : path

    Raises
    ------
    ModelFileError
        Another process has locked it.
    OSError
        The file cannot be opened.
    """

    def __init__(self, path: Path) -> None:
        self.path, self._stream, self._name = path, _opened(path), b""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Let others have the journal; a journal without a first line is removed."""
        if not os.fstat(self._stream.fileno()).st_size and named(self._stream, self.path):
            with suppress(PermissionError):  # Windows removes no open file
                self.path.unlink()
        self._stream.close()

    def read(self, name: str, number: int) -> Content:
        """Do what ``read_journal`` does; appended records belong to the stream of this name."""
        self._name = name.encode()
        return read_journal(self.path, name, number)

    def clear(self, name: str) -> None:
        """Begin anew with a stream of this name; the model file holds everything that was learned."""
        self._name = name.encode()
        self._stream.truncate(0)
        self._write(b"")

    def append(self, record: Record) -> None:
        """Write a record after ``read`` or ``clear``; it is on the disk when this returns."""
        self._write(_line(record, self._name))

    def _write(self, data: bytes) -> None:
        end = os.fstat(self._stream.fileno()).st_size
        left = memoryview(data if end else JOURNAL_MAGIC + self._name + b"\n" + data)
        try:
            while left:
                left = left[self._stream.write(left) :]
            os.fsync(self._stream.fileno())
        except BaseException as error:
            with suppress(OSError):
                self._stream.truncate(end)  # no half of a record stands before the next one
            if isinstance(error, OSError):
                error.filename = os.fspath(self.path)
            raise


def read_journal(path: Path, name: str | None, number: int) -> Content:
    """Return the records of a journal beyond a number; a journal that is not there has none.

    Parameters
    ----------
    path : path
    name : str or None
        Name of the model's stream; None if it has no stream, so that no record can belong to it.
    number : int
        Number up to which the model has learned.

    Raises
    ------
    ModelFileError
        The file is not a journal, or belongs to another model, or two records have the same number.
    OSError
        The file cannot be read.
    """
    data = path.read_bytes() if path.exists() else b""
    if not data.strip(b"\0"):
        return Content([], "")
    first, line_end, rest = data.partition(b"\n")
    own = JOURNAL_MAGIC + (name or "").encode()
    if not line_end and own.startswith(data.rstrip(b"\0")):
        return Content([], "")
    if first != own:
        newer = first.startswith(JOURNAL_MAGIC[:-2]) and not first.startswith(JOURNAL_MAGIC)
        what = "it is damaged, or of a newer adatron" if newer else "it is the journal of another model, or none"
        raise ModelFileError(path, f"{what}: move it away")
    return _in_order(path, _parsed(rest, first[len(JOURNAL_MAGIC) :]), number, len(first) + 1)


def _opened(path: Path) -> FileIO:
    """Open the journal and lock it."""
    while True:
        model, new = path.with_name(path.name.removesuffix(".journal")), not path.exists()
        stream = path.open("ab", buffering=0)
        if new and model.exists():  # who may not read the model may not read its lines
            shutil.copymode(model, path)
        try:
            hold(stream)
            if named(stream, path):
                return stream
        except BlockingIOError:
            stream.close()
            raise ModelFileError(
                path,
                "another `adatron stream` is learning with this model: wait until it has ended, or write the lines "
                "to its input",
            ) from None
        stream.close()


def _line(record: Record, name: bytes) -> bytes:
    payload = json.dumps(record).encode()
    return b"%08x %s\n" % (zlib.crc32(payload, zlib.crc32(name)), payload)


def _record(payload: bytes) -> Record | None:
    """Return the record that a text holds, or None if the text is not a record."""
    try:
        value: Any = json.loads(payload)
    except (ValueError, RecursionError):
        return None
    kinds = [type(item) for item in value] if isinstance(value, list) else []
    if kinds != [int, str, int, str] or not (0 < value[0] <= LARGEST_NUMBER and 0 <= value[2] <= LARGEST_NUMBER):
        return None
    return Record(*value)


def _whole(line: bytes, name: bytes) -> Record | None:
    """Return the record of a line without its end; None if the line is damaged."""
    record = _record(line[9:])
    return record if record and _line(record, name) == line + b"\n" else None


def _parsed(data: bytes, name: bytes) -> list[Record | int]:
    """Return the records, and in their place the position of each damage."""
    found: list[Record | int] = []
    at = 0
    *lines, last = data.split(b"\n")
    for line in lines:
        record = _whole(line, name)
        found.append(at if record is None else record)
        at += len(line) + 1
    rest = last.rstrip(b"\0")
    record = _whole(rest, name)
    if record is not None:
        found.append(record)
    elif not BEGUN.fullmatch(rest) or _whole(rest[:-1], name):  # else a crash cut it off; another line end is damage
        found.append(at)
    return found


def _in_order(path: Path, found: list[Record | int], number: int, start: int) -> Content:
    """Return the records beyond a number in their order, and a text about missing ones."""
    records: dict[int, Record] = {}
    damaged: list[int] = []
    for one in found:
        if isinstance(one, int):
            damaged.append(start + one)
        elif one.number > number and records.setdefault(one.number, one) != one:
            raise ModelFileError(path, f"two records have the number {one.number}: move it away")
        if not isinstance(one, int) and one.number <= number + 1:
            damaged.clear()  # everything before this record is in the model
    numbers = sorted(records)
    gaps = [
        (before + 1, after - 1)
        for before, after in zip([number, *numbers], numbers, strict=False)
        if after > before + 1
    ]
    said = [f"record {a}" if a == b else f"records {a} to {b}" for a, b in gaps]
    said = [f"{' and '.join(said)} of {number + 1} to {numbers[-1]} missing"] if said else []
    if damaged:
        said.append(f"no record can be read at byte {', '.join(map(str, damaged[:5]))}")
    return Content([records[key] for key in numbers], ", ".join(said))
