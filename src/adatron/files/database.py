"""The database of a stream: a model, and the lines that it has learned since it was last written.

It is one SQLite file. A transaction adds lines, or writes the model and removes the lines. After a crash the file holds
a transaction as a whole or not at all, and the model says up to which line it has learned: nothing is lost, and nothing
is learned twice. SQLite overwrites what is deleted, and deletes its journal at the end of each transaction.

The process that learns always has a transaction open: others can read meanwhile, but not write. SQLite has no
checksums: each line has its own, and so have the bytes of the model. A stranger's file may hold these two tables and
nothing else, and each page once.
"""

from __future__ import annotations

import errno
import json
import os
import sqlite3
import sys
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from itertools import pairwise
from pathlib import Path as FilePath
from types import TracebackType
from typing import Any, NamedTuple, Self

from ..lock import hold, named, opened
from .atomic import atomic_write
from .source import Piped, begins_with, open_plain, room, size_of
from .table import ModelFileError, Path

MAGIC = b"SQLite format 3\0"  # The first bytes of the file.
APPLICATION, DATABASE_FORMAT = int.from_bytes(b"adtn"), 1  # Numbers in the file: whose database it is, and its format.
SCHEMA = [
    ("lines", "CREATE TABLE lines (number INTEGER PRIMARY KEY, record BLOB, checksum INTEGER)"),
    ("model", "CREATE TABLE model (part INTEGER PRIMARY KEY, bytes BLOB)"),
]
# The begin of the file: no write-ahead log, the application, the tables listed on one page.
FIRST_BYTES = {0: MAGIC, 18: b"\1\1", 68: b"adtn", 100: b"\x0d"}
# The end of a journal that names another file, which SQLite might delete.
OTHER_JOURNAL = bytes.fromhex("d9d505f920a163d7")
PART_BYTES = 2**24  # Bytes of the model in a row of its table.
LARGEST_NUMBER = 2**53  # Largest number of a record, and of its line.
WAIT_SECONDS = 60  # Seconds that a process waits for others that read or write.
BEGIN = (
    "PRAGMA secure_delete = ON",
    "PRAGMA synchronous = FULL",
    "PRAGMA temp_store = MEMORY",
    "PRAGMA trusted_schema = OFF",
    "BEGIN IMMEDIATE",  # another process that learns is refused at once
    f"PRAGMA busy_timeout = {1000 * WAIT_SECONDS}",
)
NOT_OURS = "it is a database, but not that of a stream"
BUSY = "another `adatron stream` is learning with this model: wait until it has ended, or write the lines to its input"
TAKEN_AWAY = (
    "it was moved, replaced or changed while the stream was learning, and is left as it is; the lines since the last "
    "ones that were written are in no file"
)
SENTENCES = {
    sqlite3.SQLITE_READONLY_DBMOVED: TAKEN_AWAY,
    sqlite3.SQLITE_READONLY_ROLLBACK: "a stream was killed while it wrote: let `adatron stream` go on with it first",
}
OF_THE_SYSTEM = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)


class Record(NamedTuple):
    """One line that was learned."""

    number: int
    source: str
    line: int
    text: str


class Database:
    """The database in a model's place, open for one process to learn.

    A model file is first made into a database that holds this model. If there is no file, it is made, and removed again
    if nothing is written. A ModelFileError says that another process is learning, or that the file is damaged.
    """

    def __init__(self, path: FilePath) -> None:
        self.path = path.resolve()
        if self.path.exists() and self.path.stat().st_size:
            if not is_database(self.path):
                _convert(self.path)
            _check_begin(self.path)
        with _in_words(self.path):
            self._connection = sqlite3.connect(self.path, isolation_level=None, timeout=0.0)
        try:
            for statement in BEGIN:
                self._sql(statement)
            found = self.path.stat()
            self._file, self.is_new = (found.st_dev, found.st_ino), not found.st_size
            if not self.is_new:
                _check(self._connection, self.path)
            self._version = self._sql("PRAGMA data_version")  # it changes when another process writes
        except BaseException:
            self._connection.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self.is_new and self._unmoved():
            with suppress(PermissionError):  # Windows removes no open file
                self.path.unlink()
        self._connection.close()

    def _sql(self, statement: str, *values: Any) -> list[Any]:
        with _in_words(self.path):
            return self._connection.execute(statement, values).fetchall()

    @property
    def model(self) -> bytes:
        """The model, as `adatron.save` writes it."""
        return _model(self._connection, self.path)

    def records(self, number: int) -> tuple[list[Record], str]:
        """Return the records beyond a number, that of the last one in the model, and in words which ones are lost."""
        rows = self._sql("SELECT * FROM lines WHERE number > ? ORDER BY number", number)
        found = [record for row in rows if (record := _record(*row)) is not None]
        last = max([number, *(row[0] for row in rows)])
        ends = [number, *(record.number for record in found), last + 1]
        gaps = [f"{a + 1} to {b - 1}" if b > a + 2 else f"{a + 1}" for a, b in pairwise(ends) if b > a + 1]
        return found, f"records {' and '.join(gaps)} of {number + 1} to {last} missing" if gaps else ""

    def append(self, record: Record) -> None:
        """Add a record; `commit` writes it."""
        self._sql("INSERT INTO lines VALUES (?, ?, ?)", *_row(record))

    def write(self, model: bytes) -> None:
        """Write the model, which has learned all records, and remove these."""
        with _in_words(self.path):
            _put(self._connection, model, self.is_new)
        self.commit()

    def commit(self) -> None:
        """Write what was added; it is on the disk when this returns."""
        if not self._unmoved():
            raise ModelFileError(self.path, TAKEN_AWAY)
        self._sql("COMMIT")
        self.is_new = False
        self._sql("BEGIN IMMEDIATE")
        if self._sql("PRAGMA data_version") != self._version:
            raise ModelFileError(self.path, TAKEN_AWAY)

    def _unmoved(self) -> bool:
        try:
            found = self.path.stat()
        except FileNotFoundError:
            return False
        return self._file == (found.st_dev, found.st_ino)


def is_database(path: Path) -> bool:
    """Return whether a file begins as a database does."""
    return (isinstance(path, Piped) or FilePath(path).is_file()) and begins_with(path, MAGIC)


def model_in(path: Path, max_bytes: int | None = None) -> bytes:
    """Return the model in a database as it was last written, without the lines that were learned since.

    A ModelFileError says that the file is damaged, is another database, or takes more than ``max_bytes``, or that a
    process was killed while it wrote.
    """
    length = size_of(path)
    most = max(room(), length) if max_bytes is None else max_bytes
    if length > most:
        raise ModelFileError(path, f"its content takes {length} bytes; there is room for {most}")
    _check_begin(path)
    address = ":memory:" if isinstance(path, Piped) else FilePath(path).absolute().as_uri() + "?mode=ro"
    with _in_words(path):  # to read alone: a journal beside it is not taken
        connection = sqlite3.connect(address, uri=True, isolation_level=None, timeout=WAIT_SECONDS)
    with closing(connection):
        with _in_words(path):
            if isinstance(path, Piped):
                connection.deserialize(path.data)
            connection.execute("BEGIN")  # the tables are of one moment
        _check(connection, path)
        return _model(connection, path)


@contextmanager
def _in_words(path: Path) -> Iterator[None]:
    """Turn an error of SQLite into one that names the file."""
    try:
        yield
    except UnicodeDecodeError as error:  # in a name in a message of SQLite's
        raise ModelFileError(path, f"the database is damaged ({error})") from error
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0)
        if code in SENTENCES or code & 0xFF == sqlite3.SQLITE_BUSY:
            raise ModelFileError(path, SENTENCES.get(code, BUSY)) from error
        if code & 0xFF in OF_THE_SYSTEM:
            raise OSError(errno.EIO, str(error), os.fspath(path)) from error
        raise ModelFileError(path, f"the database is damaged ({error})") from error


def _check_begin(path: Path) -> None:
    """Fail unless a file begins as the database of a stream, and SQLite may follow the journal of a killed process.

    A connection loses its locks when its process closes the file elsewhere, so there is none yet.
    """
    with open_plain(path) as stream:
        begin = stream.read(101)
    if not all(begin[at:].startswith(value) for at, value in FIRST_BYTES.items()):
        raise ModelFileError(path, NOT_OURS)
    journal = None if isinstance(path, Piped) else FilePath(f"{os.fspath(path)}-journal")
    if journal is not None and journal.exists() and journal.read_bytes().endswith(OTHER_JOURNAL):
        raise ModelFileError(journal, "it is not the journal of a stream: delete it")


def _check(connection: sqlite3.Connection, path: Path) -> None:
    """Fail unless a database is whole, and has the tables of a stream and nothing else."""
    with _in_words(path):
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version != DATABASE_FORMAT:
            raise ModelFileError(
                path, f"it is a stream's database of format {version}; this adatron reads {DATABASE_FORMAT}"
            )
        if connection.execute("SELECT name, sql FROM sqlite_schema ORDER BY name LIMIT 3").fetchall() != SCHEMA:
            raise ModelFileError(path, NOT_OURS)
        (found,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if found != "ok":
        raise ModelFileError(path, f"the database is damaged ({found})")


def _model(connection: sqlite3.Connection, path: Path) -> bytes:
    with _in_words(path):
        parts = [one for (one,) in connection.execute("SELECT bytes FROM model ORDER BY part")]
    if not all(type(one) is bytes for one in parts):
        raise ModelFileError(path, "the database is damaged (a part of the model is not bytes)")
    return b"".join(parts)


def _put(connection: sqlite3.Connection, model: bytes, new: bool) -> None:
    """Replace all that is in a database by a model; a new one gets its tables first."""
    if new:
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(f"PRAGMA user_version = {DATABASE_FORMAT}")
    for statement in [create for _, create in SCHEMA] if new else ("DELETE FROM lines", "DELETE FROM model"):
        connection.execute(statement)
    parts = [model[at : at + PART_BYTES] for at in range(0, len(model), PART_BYTES)]
    connection.executemany("INSERT INTO model VALUES (?, ?)", enumerate(parts))


def _convert(path: FilePath) -> None:
    """Replace a model file by a database with this model."""
    with opened(path) as held:
        try:
            if sys.platform != "win32":  # which replaces no file that is open
                hold(held)
        except BlockingIOError:
            raise ModelFileError(path, BUSY) from None
        if not named(held, path):  # another process has just done it
            raise ModelFileError(path, BUSY)
        data = held.read()
        if sys.platform == "win32":
            held.close()
        with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
            _put(connection, data, new=True)
            database = connection.serialize()
        with atomic_write(path) as stream:
            stream.write(database)


def _row(record: Record) -> tuple[int, bytes, int]:
    payload = json.dumps(record[1:]).encode()
    return record.number, payload, zlib.crc32(payload, record.number & 0xFFFFFFFF)


def _record(number: int, payload: Any, checksum: Any) -> Record | None:
    """Return the record of a row, or None if the row is damaged."""
    try:
        record = Record(number, *json.loads(payload))
        whole = _row(record) == (number, payload, checksum) and [type(one) for one in record[1:]] == [str, int, str]
        return record if whole and 0 <= record.line <= LARGEST_NUMBER and 0 < number <= LARGEST_NUMBER else None
    except (TypeError, ValueError, RecursionError):
        return None
