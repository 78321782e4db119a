"""The lines of a delimited text that hold data, and their fields."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple, TextIO

from ..cells import SPREADSHEET_ERRORS

CHARACTERS = 2**18  # Characters of the lines that are taken together, unless a record is longer.
_OPENING = re.compile(r'(?:^|\W)"')
_INSIDE = re.compile(r'(?:[^"]|"")*')
_FIELD = re.compile(r'"(?:[^"]|"")*(?:"|\Z)|\S+')


class Chunk(NamedTuple):
    """Some lines, and their numbers."""

    numbers: list[int]
    lines: list[str]

    def after(self, count: int) -> Chunk:
        """Return the lines after the first ones."""
        return Chunk(self.numbers[count:], self.lines[count:])


class Lines:
    """The lines of a text, each with its number, without comments and blank lines."""

    def __init__(self, stream: TextIO) -> None:
        self._lines = enumerate(stream, 1)
        self.quoted = False  # whether a field seems to go on in the next line, since its quotes are odd in number

    def __iter__(self) -> Iterator[tuple[int, str]]:
        return self

    def __next__(self) -> tuple[int, str]:
        for number, line in self._lines:
            if not self.quoted and line[0] in "# \r\n" and (not line.strip(" \r\n") or _is_comment(line)):
                continue
            if '"' in line and line.count('"') % 2 and (self.quoted or _OPENING.search(line)):
                self.quoted = not self.quoted
            return number, line
        raise StopIteration

    def take(self, most: int) -> Chunk:
        """Return the next lines; they end at the end of a record, unless that is far away."""
        taken = Chunk([], [])
        size = 0
        for number, line in self:
            taken.numbers.append(number)
            taken.lines.append(line)
            size += len(line)
            enough = size > CHARACTERS or len(taken.lines) >= most
            if enough and len(taken.lines) > 2 and (not self.quoted or size > 4 * CHARACTERS):
                break
        return taken


def _is_comment(line: str) -> bool:
    begin = line.lstrip(" ")
    return begin.startswith("#") and not begin.startswith(SPREADSHEET_ERRORS)


def split_records(lines: Iterable[str], separator: str) -> Iterator[list[str]]:
    """Yield the fields of each record, stripped; no line is taken before it is needed.

    Raises
    ------
    csv.Error
        A field is too long, or its quotes end before it.
    """
    if separator != " ":
        for fields in csv.reader(lines, delimiter=separator, skipinitialspace=True):
            if fields:
                yield [field.strip() for field in fields]
        return
    parts: list[str] = []
    length, within = 0, False
    for line in lines:
        parts.append(line)
        length, within = length + len(line), _ends_within(line, within)
        if within and length <= csv.field_size_limit():
            continue  # the quote has no end yet
        yield [_unquoted(field) for field in _words("".join(parts))]
        parts, length, within = [], 0, False
    if parts:
        yield [_unquoted(field) for field in _words("".join(parts))]


def _ends_within(line: str, within: bool) -> bool:
    """Return whether a line ends within quotes, given whether it begins so: each line is looked at once."""
    if not within and '"' not in line:
        return False
    start = 0
    if within:
        start = _INSIDE.match(line).end() + 1  # pyright: ignore[reportOptionalMemberAccess]
        if start > len(line):
            return True
    field = ""
    for found in _FIELD.finditer(line, start):
        field = found[0]
    return field.startswith('"') and field.count('"') % 2 == 1


def _words(record: str) -> list[str]:
    """Return what stands between white space, quotes included."""
    if '"' not in record:
        return record.split()
    found = list(_FIELD.finditer(record))
    if any(one[0][0] == '"' and record[one.end() : one.end() + 1].strip() for one in found):
        raise csv.Error("something follows a quoted field without white space")
    return [one[0] for one in found]


def _unquoted(field: str) -> str:
    return field[1:-1].replace('""', '"') if len(field) > 1 and field[0] == field[-1] == '"' else field
