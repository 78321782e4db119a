"""The lines of a delimited text that hold data, and their fields."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TextIO

from ...table import DataError, Path
from ..cells import SPREADSHEET_ERRORS

CHARACTERS = 2**18  # Characters of the lines that are taken together, unless a record is longer.
LONG_LINE = 2**20  # Characters of a line that has at most so many separators.
_OPENING = re.compile(r'(?:^|\W)"')


@dataclass(frozen=True)
class Marks:
    """The signs that quote a field, stand before a quote within it, and begin a comment."""

    quote: str = '"'
    escape: str | None = None
    comment: str = "#"


TEXT = Marks()


class Lines:
    """The lines of a text without comments and blank lines: one by one with their numbers, or as a stream for pandas.

    Attributes
    ----------
    quotes : bool
        Whether a quote was read.
    """

    def __init__(self, path: Path, stream: TextIO, marks: Marks = TEXT, start: int = 1) -> None:
        self.path, self.marks, self.quotes = path, marks, False
        self._stream, self._lines, self._held = stream, enumerate(stream, start), ""
        self._within = False  # whether a field seems to go on in the next line, since its quotes are odd in number

    def __iter__(self) -> Iterator[tuple[int, str]]:
        return self

    def __next__(self) -> tuple[int, str]:
        return next(pair for pair in self._lines if self._holds_data(pair[1]))

    def _holds_data(self, line: str) -> bool:
        quote, comment, escape = self.marks.quote, self.marks.comment, self.marks.escape
        if not self._within and (line[0] in " \r\n" or line[0] == comment):
            begin = line.lstrip(" ")
            if not begin.strip() or (begin[0] == comment and not begin.startswith(SPREADSHEET_ERRORS)):
                return False
        if escape is None and quote in line and line.count(quote) % 2 and (self._within or _OPENING.search(line)):
            self._within = not self._within
        return True

    def take(self, most: int) -> list[tuple[int, str]]:
        """Return the next lines with their numbers; they end at the end of a record, unless that is far away."""
        taken: list[tuple[int, str]] = []
        size = 0
        for number, line in self:
            taken.append((number, line))
            size += len(line)
            enough = size > CHARACTERS or len(taken) >= most
            if enough and len(taken) > 2 and (not self._within or size > 4 * CHARACTERS):
                break
        return taken

    def put_back(self, lines: list[tuple[int, str]]) -> None:
        """Let the stream begin with these lines, which were taken."""
        self._held = "".join(line for _, line in lines)
        self._check(self._held)

    def read(self, size: int = -1) -> str:
        """Return a piece of the text, of any size; nothing at its end."""
        text, self._held = self._held, ""
        while not text and (lines := self._stream.readlines(CHARACTERS)):
            text = "".join(lines)
            self._check(text)
            if self._within or self.marks.quote in text or self.marks.comment in text:
                text = "".join(line for line in lines if self._holds_data(line))
        return text

    def _check(self, text: str) -> None:
        self.quotes |= self.marks.quote in text
        if "\0" in text:
            raise DataError(self.path, "not a text file: a byte is 0")
        if len(text) > LONG_LINE + CHARACTERS and any(
            len(line) > LONG_LINE and max(map(line.count, ",;\t| ")) > LONG_LINE for line in text.splitlines()
        ):
            raise DataError(self.path, f"a line of more than {LONG_LINE} fields")


def split_records(
    lines: Iterable[str], separator: str, marks: Marks = TEXT, strict: bool = False
) -> Iterator[list[str]]:
    """Yield the fields of each record, stripped; no line is taken before it is needed.

    Raises
    ------
    csv.Error
        A field is too long; if strict, also if its quotes end before it, or do not end.
    """
    if separator == " ":  # any white space
        lines = (line.replace("\t", " ").strip() + "\n" for line in lines)
    for fields in csv.reader(
        lines, delimiter=separator, quotechar=marks.quote, escapechar=marks.escape, skipinitialspace=True, strict=strict
    ):
        if fields:
            yield [field.strip() for field in fields]


def numbered_records(path: Path, lines: Iterable[tuple[int, str]], separator: str, marks: Marks) -> Iterator[
    tuple[int, list[str]]
]:  # fmt: skip
    """Yield the line in which each record begins, and its fields.

    Raises
    ------
    DataError
        A quote is broken, or a field too long.
    """
    begun: list[int] = []

    def texts() -> Iterator[str]:
        for number, line in lines:
            begun.append(number)
            yield line

    records = split_records(texts(), separator, marks, strict=True)
    while True:
        try:
            fields = next(records)
        except StopIteration:
            return
        except csv.Error as error:
            raise DataError(path, f"not a table ({error})", begun[0]) from error
        yield begun[0], fields
        begun.clear()
