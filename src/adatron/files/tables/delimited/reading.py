"""What is known of a file while it is read: its form, the kinds of its columns, and the place of a fault."""

from __future__ import annotations

import csv
import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from ...source import open_text
from ...table import SEPARATORS, DataError, Dialect, Path, Request, check_size
from ..cells import WORDS, Kind, kind_of, refusal
from ..columns import COUNTS, EMPTY, Roles, label_note, named
from .dialect import split_records
from .lines import Lines

ENTRY = 120  # Bytes of a distinct text and of its number.
# Exchanges the decimal signs, so that NumPy, which knows the point alone, reads a decimal comma. It is its own inverse.
EXCHANGE = str.maketrans(",.", ".,")


class Codes:
    """The numbers of the distinct texts in a column."""

    def __init__(self, path: Path, most: int, original: Callable[[str], str]) -> None:
        self.path, self.most, self.original = path, most, original
        self.numbers: dict[str, int] = {}

    def __call__(self, text: str) -> float:
        found = self.numbers.setdefault(text, len(self.numbers))
        if not len(self.numbers) % 4096:
            check_size(self.path, "texts", ENTRY * len(self.numbers), self.most, at_least=True)
        return found

    @property
    def texts(self) -> list[str]:
        """The distinct texts, stripped."""
        return [self.original(text).strip() for text in self.numbers]


@dataclass
class Reading:
    """The reading of one file: its form, its columns, and what is known of them.

    Attributes
    ----------
    skip : int
        Records before the first sample.
    kinds : dict of int to Kind
        The kinds of the features in the first records.
    texts : frozenset of int
        The features that are read as text.
    careful : bool
        Whether numbers go through a converter that knows the marks of missing values.
    codes : dict of int to Codes
        The texts of the label, and of the features that are text.
    """

    path: Path
    request: Request
    dialect: Dialect
    names: list[str] | None
    roles: Roles
    missing: frozenset[str]
    skip: int
    kinds: dict[int, Kind]
    texts: frozenset[int]
    careful: bool = False
    codes: dict[int, Codes] = field(default_factory=dict[int, Codes])

    def original(self, text: str) -> str:
        """Return a text as it stands in the file."""
        return text.translate(EXCHANGE) if self.dialect.decimal == "," else text

    def where(self, index: int) -> str:
        """Return the words for a column."""
        return named(index, self.names)

    @property
    def missing_texts(self) -> frozenset[str]:
        """The marks of missing values among labels, and in columns of text."""
        return self.missing - WORDS if self.request.missing is None else self.missing

    @contextmanager
    def lines(self) -> Iterator[Lines]:
        """Open the file at its first sample."""
        width = self.roles.width

        def cost(data: bytes) -> int:
            return 8 * width * max(data.count(b"\n"), data.count(b"\r"))

        with open_text(self.path, self.request.max_bytes, self.request.encoding, cost) as stream:
            lines = Lines(stream)
            lines.skip(self.skip)
            yield lines

    def split(self, lines: Lines) -> list[str]:
        """Return the fields of the record that was read last."""
        try:
            fields = split_records(lines.record, self.dialect.separator)[0]
        except (csv.Error, IndexError) as error:
            raise DataError(self.path, f"not a table ({error})", lines.start) from error
        return fields

    def locate(self, row: int) -> tuple[int, list[str]]:
        """Return the line of a sample, and its fields."""
        with self.lines() as lines:
            lines.skip(row + 1)
            return lines.start, self.split(lines)


def explain(reading: Reading, lines: Lines, error: ValueError) -> None:
    """Raise the error about the record that NumPy refuses; return if it is a missing value, which is allowed."""
    fields, roles, line = reading.split(lines), reading.roles, lines.start
    if len(fields) != roles.width:
        raise ragged(reading, len(fields), line)
    for index in roles.features:
        kind, known = kind_of(fields[index], reading.dialect.decimal, reading.missing), reading.kinds[index]
        if index in reading.codes or kind == known == Kind.TRUTH or (kind == Kind.NUMBER and known != Kind.TRUTH):
            continue
        if kind == Kind.MISSING and reading.request.allow_missing and not reading.careful:
            return
        raise fault(reading, index, fields[index], line)
    for index in roles.guessed:
        if roles.left_out[index] in (COUNTS, EMPTY):
            found = f"{reading.where(index)} {roles.left_out[index]} up to here, and then holds {fields[index]!r}"
            cure = f"--index {index} leaves it out, --keep-index takes it for a feature"
            raise DataError(reading.path, f"{found}: {cure}", line)
    raise DataError(reading.path, f"not a table ({error})", line)


def ragged(reading: Reading, found: int, line: int) -> DataError:
    """Return the error for a record of another length."""
    separator = SEPARATORS.get(reading.dialect.separator, repr(reading.dialect.separator))
    fields = f"{found} fields found, {reading.roles.width} expected"
    return DataError(reading.path, f"{fields} (the separator is {separator}, --separator names another)", line)


def fault(reading: Reading, index: int, found: str, line: int) -> DataError:
    """Return the error for a field that cannot be a feature's value."""
    where, kind = reading.where(index), kind_of(found, reading.dialect.decimal, reading.missing)
    note = label_note(reading.roles.label, reading.names, reading.request)
    known, whole = reading.kinds[index], reading.request.n_features is None  # a model expects numbers
    if kind == Kind.MISSING or (whole and kind in (Kind.DATE, Kind.TEXT) and kind == known):
        message = refusal(where, kind, found) + note * (kind == Kind.TEXT)
    else:
        wanted = "a truth value" if known == Kind.TRUTH else "a finite number"
        cure = f"; if it is a mark of missing values, --missing {shlex.quote(found)} says so"
        message = f"{where} holds {found!r}, not {wanted}{cure * (kind != Kind.NUMBER)}{note}"
    return DataError(reading.path, message, line)
