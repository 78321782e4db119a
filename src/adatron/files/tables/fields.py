"""The lines of a delimited text that hold data, their fields, and which fields are values."""

from __future__ import annotations

import csv
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

from ..labels import whole_numbers
from ..table import LARGEST_EXACT_INTEGER, DataError, Path, whole_if_possible

# What spreadsheets write in the place of a value; the signs begin as a comment does.
SPREADSHEET_ERRORS = ("#N/A", "#NA", "#NULL!", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!")
# Words of truth and their numbers.
TRUTH = {"True": 1.0, "False": 0.0, "true": 1.0, "false": 0.0, "TRUE": 1.0, "FALSE": 0.0}
CHARACTERS = 2**18  # Characters of the lines that are taken together, unless a record is longer.
LONG_LINE = 2**20  # Characters of a line that has at most so many separators.
LONGEST_WHOLE = 24  # Characters of a whole number of up to 64 bits, more or less.

WITH_COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?", re.ASCII)  # A number with a decimal comma.
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(?i:inf(inity)?)", re.ASCII)
_WHOLE = re.compile(r"[+-]?\d+", re.ASCII)
_PADDED = re.compile(r"[+-]?0\d+", re.ASCII)
_CODE = re.compile(r"\+\d+|[+-]?\d+[eE]\d+", re.ASCII)  # whole, but hardly written so
_OPENING = re.compile(r'(?:^|\W)"')


def is_number(text: str, decimal: str = ".") -> bool:
    """Tell whether a stripped field is a number, finite or infinite."""
    if decimal == "," and "." in text:
        return False
    return bool((WITH_COMMA if decimal == "," and "," in text else _NUMBER).fullmatch(text))


def number_of(text: str) -> float:
    """Return the number that a field stands for, with either decimal sign."""
    return float(text.replace(",", "."))


def is_value(text: str, decimal: str, missing: Collection[str]) -> bool:
    """Tell whether a stripped field is a number, a truth value or a mark of a missing one, and not a word."""
    return text in missing or text in TRUTH or is_number(text, decimal)


def labels_of(texts: list[str], decimal: str = ".") -> NDArray[Any]:
    """Return labels in the type that writes them back as they were read.

    Whole numbers are int64 or uint64, other numbers float64, True and False truth values, all else text. Text are also
    numbers with zeros in front, as 007, whole numbers of more than 64 bits, and, among whole numbers, 12E3 and +1.
    """
    as_text = np.array(texts, dtype=np.str_)
    if not all(is_number(text, decimal) for text in texts) or any(map(_PADDED.fullmatch, texts)):
        return np.array([text == "True" for text in texts]) if set(texts) <= {"True", "False"} else as_text
    y = np.array([number_of(text) for text in texts])
    if np.all(y == np.rint(y)) and any(map(_CODE.fullmatch, texts)):
        return as_text
    whole = [bool(_WHOLE.fullmatch(text)) for text in texts]
    if all(whole):
        found = whole_numbers([int(text) for text in texts]) if max(map(len, texts)) <= LONGEST_WHOLE else None
        return as_text if found is None else found
    return as_text if (np.abs(y[whole]) >= LARGEST_EXACT_INTEGER).any() else whole_if_possible(y)


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
        return (pair for pair in self._lines if self._holds_data(pair[1]))

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

    csv.Error says that a field is too long; if strict, also that its quotes end before it, or do not end.
    """
    if separator == " ":  # any white space
        lines = (line.replace("\t", " ").strip() + "\n" for line in lines)
    for fields in csv.reader(
        lines, delimiter=separator, quotechar=marks.quote, escapechar=marks.escape, skipinitialspace=True, strict=strict
    ):
        if fields:
            yield [field.strip() for field in fields]
