"""A journal beside a model file: what the model has learned since it was last written, one record after the other.

The file begins with a line that names the model's stream; then each record is its length, its CRC-32 and JSON: its
number, the input it was read from, the line there, and that line's text. A record is on the disk before the next one is
learned, and one that a crash cut off is left out. The model file says up to which number it has learned: so nothing is
lost and nothing is learned twice, whichever of the two was written last.
"""

from __future__ import annotations

import json
import os
import struct
import zlib
from pathlib import Path
from typing import NamedTuple

from .atomic import atomic_write, remove_leftovers
from .table import ModelFileError

MAGIC = b"adatron-journal 1 "
HEAD = struct.Struct("<II")


def journal_of(model: Path) -> Path:
    """Where the journal of a model file is."""
    place = model.resolve()
    return place.with_name(place.name + ".journal")


def holds_records(path: Path) -> bool:
    """Whether there is a journal with lines in it."""
    return path.exists() and bool(path.read_bytes().partition(b"\n")[2])


class Record(NamedTuple):
    """One line that was learned."""

    number: int
    source: str
    line: int
    text: str


class Journal:
    """The records that are on the disk, and more to come.

    Parameters
    ----------
    path : path
    stream : str
        Name of the model's stream.

    Attributes
    ----------
    records : list of Record
        Those found.

    Raises
    ------
    ModelFileError
        The file is no journal, or that of another stream.
    OSError
        The file cannot be read or written.
    """

    def __init__(self, path: Path, stream: str) -> None:
        self.path, self._first = path, MAGIC + stream.encode() + b"\n"
        self.records: list[Record] = []
        remove_leftovers(path)
        data = path.read_bytes() if path.exists() else b""
        if not data.startswith(self._first):
            if not self._first.startswith(data):
                raise ModelFileError(path, "it is the journal of another model, or none: move it away")
            self.clear()
            return
        end = self._parse(data)
        if end < len(data):
            os.truncate(path, end)

    def _parse(self, data: bytes) -> int:
        """Read the whole records; the position behind the last of them."""
        at = len(self._first)
        while at + HEAD.size <= len(data):
            length, checksum = HEAD.unpack_from(data, at)
            payload = data[at + HEAD.size : at + HEAD.size + length]
            if len(payload) < length or zlib.crc32(payload) != checksum:
                break
            self.records.append(Record(*json.loads(payload)))
            at += HEAD.size + length
        return at

    def append(self, record: Record) -> None:
        """Write a record; it is on the disk when this returns."""
        payload = json.dumps(record).encode()
        with self.path.open("ab") as stream:
            stream.write(HEAD.pack(len(payload), zlib.crc32(payload)) + payload)
            stream.flush()
            os.fsync(stream.fileno())

    def clear(self) -> None:
        """Begin anew, once the model file holds all that was learned."""
        with atomic_write(self.path) as stream:
            stream.write(self._first)
