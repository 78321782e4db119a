"""A checkpoint: a file of the cluster's answers, so that a new fit goes the same way faster.

Only the answers to its questions decide what the coordinator does: the same answers, in the same order, give the same
bits. The file holds the gradients, violators and solved parts that the fit has found, each with the
number of its question. A fit that begins with the file takes answers from there as long as there are any. The file
holds no rows; they are in the training set.

The first line names the training set and the parameters. A record has a head, arrays of float64 or int64, and a
checksum. A killed process loses no record; a crash of the system loses those of the last seconds. A record that is not
whole is left out, and so are all records after it.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections import Counter
from hashlib import blake2b
from io import FileIO
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ..lock import hold

Arrays = list[NDArray[Any]]
CHECKPOINT_MAGIC = b"adatron-checkpoint 1 "  # The first bytes, with the version.
RECORD_HEAD = struct.Struct("<8scQqQ")  # name of the stream, kind, number, version, and bytes of the arrays
SUM, ARRAY = struct.Struct("<I"), struct.Struct("<cQ")  # the checksum; kind and length of an array
DISK_SECONDS = 2.0  # Seconds between two waits for the disk, each of which may take as long as many records.
NUMBER_TYPES: dict[bytes, Any] = {b"f": np.float64, b"i": np.int64}


class RecordPlace(NamedTuple):
    """Where the arrays of a record are in the file, and how many bytes they take."""

    start: int
    size: int


class Checkpoint:
    """The file of a fit, which no other fit can use at the same time.

    Parameters
    ----------
    path : path
    name : hexadecimal digits that stand for training set and parameters

    Raises
    ------
    ValueError
        The file belongs to another fit, or is no checkpoint, or another fit is using it.
    OSError
        The file cannot be read or written.
    """

    def __init__(self, path: str | os.PathLike[str], name: str) -> None:
        self.path, self._first = Path(path), CHECKPOINT_MAGIC + name.encode() + b"\n"
        self._places: dict[tuple[bytes, bytes, int], RecordPlace] = {}
        self._reach: dict[bytes, int] = {}
        self._begun: Counter[bytes] = Counter()
        self._lock, self._synced = Lock(), monotonic()
        self._file = self._opened()
        try:
            self._read()
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def remove(self) -> None:
        """Remove the file: the fit has ended."""
        self.path.unlink(missing_ok=True)

    def stream(self, *what: Any) -> Stream:
        """Return the records of a program; equal programs are told apart by their order."""
        found = blake2b(digest_size=8)
        for one in what:
            found.update(one.tobytes() if isinstance(one, np.ndarray) else repr(one).encode())
        name = found.digest()
        with self._lock:
            self._begun[name] += 1
            number = self._begun[name]
        return Stream(self, blake2b(name + str(number).encode(), digest_size=8).digest())

    def reach(self, stream: bytes) -> int:
        """Return the last version that a stream has records of; -1 if it has none."""
        return self._reach.get(stream, -1)

    def get(self, stream: bytes, kind: bytes, number: int) -> Arrays | None:
        """Return the arrays of a record, or None."""
        place = self._places.get((stream, kind, number))
        if place is None:
            return None
        with self._lock:
            self._file.seek(place.start)
            return _arrays(self._file.read(place.size))

    def put(self, stream: bytes, kind: bytes, number: int, version: int, arrays: Arrays) -> None:
        """Append a record; it is on the disk soon."""
        payload = b"".join(_bytes(array) for array in arrays)
        data = RECORD_HEAD.pack(stream, kind, number, version, len(payload)) + payload
        with self._lock:
            end = self._file.seek(0, os.SEEK_END)
            left = memoryview(data + SUM.pack(zlib.crc32(data)))
            try:
                while left:
                    left = left[self._file.write(left) :]
                if monotonic() > self._synced + DISK_SECONDS:
                    os.fsync(self._file.fileno())
                    self._synced = monotonic()
            except BaseException:
                self._file.truncate(end)
                raise
            self._places[stream, kind, number] = RecordPlace(end + RECORD_HEAD.size, len(payload))

    def _opened(self) -> FileIO:
        self.path.touch(mode=0o600)
        stream = self.path.open("r+b", buffering=0)
        try:
            hold(stream)
        except BlockingIOError:
            stream.close()
            raise ValueError(f"checkpoint: another fit is using {str(self.path)!r}; give each its own file.") from None
        return stream

    def _read(self) -> None:
        """Find the records; cut the file off after the last whole one."""
        found, end = self._file.read(len(self._first)), self._file.seek(0, os.SEEK_END)
        if not self._first.startswith(found):
            what = "another fit" if found.startswith(CHECKPOINT_MAGIC) else "something else"
            raise ValueError(
                f"checkpoint: {str(self.path)!r} is the file of {what}. A fit goes on only with the same training set, "
                "parameters and version of adatron; remove the file, or give another path."
            )
        if found != self._first:
            self._file.truncate(0)
            self._file.seek(0)
            self._file.write(self._first)
            return
        at = len(self._first)
        while (size := self._record(at, end)) is not None:
            at += size
        self._file.truncate(at)

    def _record(self, at: int, end: int) -> int | None:
        """Note the record at a place; return its size, or None if it is not whole."""
        self._file.seek(at)
        head = self._file.read(RECORD_HEAD.size)
        if len(head) < RECORD_HEAD.size:
            return None
        stream, kind, number, version, size = RECORD_HEAD.unpack(head)
        if at + RECORD_HEAD.size + size + SUM.size > end:
            return None
        payload, total = self._file.read(size), self._file.read(SUM.size)
        if SUM.pack(zlib.crc32(payload, zlib.crc32(head))) != total or _arrays(payload) is None:
            return None
        self._places[stream, kind, number] = RecordPlace(at + RECORD_HEAD.size, size)
        self._reach[stream] = max(version, self._reach.get(stream, -1))
        return RECORD_HEAD.size + size + SUM.size


class Stream:
    """The records of one program.

    reach : the last version of the gradient that an earlier fit has left records of
    """

    def __init__(self, file: Checkpoint | None = None, name: bytes = b"") -> None:
        self._file, self._name = file, name
        self.reach = -1 if file is None else file.reach(name)

    def get(self, kind: bytes, number: int) -> Arrays | None:
        """Return the answer to a question that an earlier fit has asked, or None."""
        return None if self._file is None else self._file.get(self._name, kind, number)

    def put(self, kind: bytes, number: int, version: int, arrays: Arrays) -> None:
        """Keep an answer."""
        if self._file is not None:
            self._file.put(self._name, kind, number, version, arrays)


def _bytes(array: NDArray[Any]) -> bytes:
    kind = b"i" if array.dtype.kind in "iu" else b"f"
    return ARRAY.pack(kind, array.size) + np.ascontiguousarray(array, NUMBER_TYPES[kind]).tobytes()


def _arrays(payload: bytes) -> Arrays | None:
    """Return the arrays; None if the bytes are no arrays."""
    found: Arrays = []
    at = 0
    while at < len(payload):
        if at + ARRAY.size > len(payload):
            return None
        kind, size = ARRAY.unpack_from(payload, at)
        at += ARRAY.size
        if kind not in NUMBER_TYPES or size > (len(payload) - at) // 8:
            return None
        found.append(np.frombuffer(payload, NUMBER_TYPES[kind], size, at).copy())
        at += 8 * size
    return found
