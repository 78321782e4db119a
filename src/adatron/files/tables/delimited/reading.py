"""The values of some lines whose form is known, and what is said about a field that is no value.

NumPy's reader in C takes the lines of most files at once: it is strict about the number of fields and exact in its
numbers. Text becomes the number of its value there, a truth value 1 or 0. Lines that NumPy refuses, and lines in which
something needs a closer look, as a missing value, are read field by field.
"""

from __future__ import annotations

import csv
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from math import isfinite, isnan, nan

import numpy as np
from numpy.typing import NDArray

from ...table import MISSING_LABELS, SEPARATOR_NAMES, DataError, Dialect, Path, Request, check_size
from ..cells import TRUTH, WORDS, Kind, is_number, kind_of, refusal
from ..columns import COUNTS_ROWS, EMPTY, Roles, label_note, named
from .lines import Chunk, Lines, split_records

ENTRY = 120  # Bytes of a distinct text and of its number.
LONG_LINE = 2**20  # Characters of a line from which on its fields are counted before they are split.
# Exchanges the decimal signs, so that NumPy, which knows the point alone, reads a decimal comma.
EXCHANGE = str.maketrans(",.", ".,")


class TextCodes:
    """The numbers of the distinct texts in a column; texts that stand for a missing value may be refused."""

    def __init__(self, path: Path, most: int, refused: frozenset[str]) -> None:
        self.path, self.most, self.refused = path, most, refused
        self.numbers: dict[str, int] = {}

    def __call__(self, text: str) -> float:
        if text in self.refused:
            raise ValueError(text)
        found = self.numbers.setdefault(text, len(self.numbers))
        if not len(self.numbers) % 4096:
            check_size(self.path, "texts", ENTRY * len(self.numbers), self.most, at_least=True)
        return found


@dataclass
class Reading:
    """The reading of one file: its form, its columns, and what is known of them.

    Attributes
    ----------
    kinds : dict of int to Kind
        The kinds of the features in the first records.
    texts : frozenset of int
        The features that are read as text.
    label : str
        The option that makes the first column the label, if its texts repeat in the first records.
    start : int
        The first value of a column that counts the rows.
    rows : int
        The rows that were read.
    careful : bool
        Whether NumPy takes numbers through a converter that knows the marks of missing values.
    codes : dict of int to Codes
        The texts of the label, and of the features that are text.
    """

    path: Path
    request: Request
    dialect: Dialect
    names: list[str] | None
    roles: Roles
    missing: frozenset[str]
    kinds: dict[int, Kind]
    texts: frozenset[int]
    label: str = ""
    start: int = 0
    rows: int = 0
    careful: bool = False

    def __post_init__(self) -> None:
        request, label = self.request, self.roles.label
        self.gaps = self.missing - WORDS if request.missing is None else self.missing  # of labels, and columns of text
        of_text = frozenset[str]() if request.allow_missing else self.gaps
        self.codes = {index: TextCodes(self.path, request.max_bytes, of_text) for index in self.texts}
        if label is not None:
            self.codes[label] = TextCodes(self.path, request.max_bytes, self.gaps | set(MISSING_LABELS))
        marks = [mark for mark in self.missing if is_number(mark, self.dialect.decimal)]
        self.marks = [float(mark.replace(",", ".")) for mark in marks]  # as -999
        self._converters: dict[int | str, Callable[[str], float]] = dict(self._converted(False))

    def values(self, chunk: Chunk, lines: Lines) -> tuple[list[int], NDArray[np.float64]]:
        """Return the line of each record, and its values.

        Parameters
        ----------
        lines : Lines
            The lines that follow the chunk, in which its last record may go on.
        """
        separator, width = self.dialect.separator, self.roles.width
        if max(map(len, chunk.lines)) > LONG_LINE:
            for number, line in zip(chunk.numbers, chunk.lines, strict=True):
                if (found := line.count(separator)) > max(2 * width, LONG_LINE):
                    raise DataError(self.path, f"{found + 1} fields found, {width} expected", number)
        values = None if lines.quoted else self._by_numpy(chunk.lines)
        if values is None:
            return self._by_field(chunk, lines)
        self.rows += len(values)
        return chunk.numbers, values

    def _by_numpy(self, lines: list[str]) -> NDArray[np.float64] | None:
        """Return the values of lines that are a record each; None if they need a closer look."""
        known = [(codes.numbers, len(codes.numbers)) for codes in self.codes.values()]
        values = self._loaded(lines)
        if values is not None:
            return values
        for texts, size in known:
            while len(texts) > size:
                texts.popitem()
        if self.careful or not self.request.allow_missing:
            return None
        self.careful, self._converters = True, dict(self._converted(True))
        return self._by_numpy(lines)

    def _loaded(self, lines: list[str]) -> NDArray[np.float64] | None:
        separator, width = self.dialect.separator, self.roles.width
        if separator != " " and any(' "' in line for line in lines):
            return None  # NumPy takes such a quote for a part of the field
        if self.dialect.decimal == ",":
            lines, separator = [line.translate(EXCHANGE) for line in lines], separator.translate(EXCHANGE)
        try:
            values = np.loadtxt(
                lines, delimiter=None if separator == " " else separator, comments=None, quotechar='"', ndmin=2,
                converters=self._converters,
            )  # fmt: skip
        except ValueError as error:
            cause = error.__cause__
            if isinstance(cause, (DataError, MemoryError)) or not isinstance(cause, (Exception, type(None))):
                raise cause from None  # Ctrl-C in a converter is no fault of the data
            return None
        wrong = np.isinf if self.careful else lambda values: ~np.isfinite(values)
        if values.shape != (len(lines), width) or wrong(values).any():
            return None
        if self.marks and np.isin(values[:, self.roles.features], self.marks).any():
            return None
        counted = self.start + self.rows + np.arange(len(values))
        return None if self.roles.left_out.get(0) == COUNTS_ROWS and (values[:, 0] != counted).any() else values

    def _restored(self, convert: Callable[[str], float]) -> Callable[[str], float]:
        """Return a converter of a field as it stands in the file, for NumPy."""
        if self.dialect.decimal == ",":
            return lambda text: convert(text.translate(EXCHANGE).strip())
        return lambda text: convert(text.strip())

    def _number(self, text: str) -> float:
        if text in self.missing:
            return nan
        if is_number(text, self.dialect.decimal):
            return float(text.replace(",", "."))
        raise ValueError(text)

    def _converted(self, careful: bool) -> Iterator[tuple[int, Callable[[str], float]]]:
        """Yield the converter for NumPy of each column that is not plain numbers."""
        for index in range(self.roles.width):
            reason = self.roles.left_out.get(index)
            if index in self.codes:
                yield index, self._restored(self.codes[index])
            elif reason == EMPTY:
                yield index, lambda text: {"": 0.0}[text.strip()]
            elif reason not in (None, COUNTS_ROWS):
                yield index, lambda _: 0.0
            elif self.kinds.get(index) == Kind.TRUTH:
                yield index, lambda text: TRUTH[text.strip()]
            elif careful and reason is None:
                yield index, self._restored(self._number)

    def _by_field(self, chunk: Chunk, lines: Lines) -> tuple[list[int], NDArray[np.float64]]:
        """Return what `values` does, and take more lines if the last record goes on in them."""
        taken = 0

        def texts() -> Iterator[str]:
            nonlocal taken
            for line in chain(chunk.lines, (line for _, line in lines)):
                taken += 1
                yield line

        records = split_records(texts(), self.dialect.separator)
        numbers: list[int] = []
        rows: list[list[float]] = []
        while taken < len(chunk.lines):
            number = chunk.numbers[taken]
            try:
                fields = next(records)
            except csv.Error as error:
                raise DataError(self.path, f"not a table ({error})", number) from error
            if fields:
                rows.append(self._row(fields, number))
                numbers.append(number)
                self.rows += 1
        lines.quoted = False
        return numbers, np.array(rows).reshape(-1, self.roles.width)

    def _row(self, fields: list[str], line: int) -> list[float]:
        """Return the values of a record."""
        width = self.roles.width
        if len(fields) != width:
            separator = SEPARATOR_NAMES.get(self.dialect.separator, repr(self.dialect.separator))
            found = f"{len(fields)} fields found, {width} expected"
            raise DataError(self.path, f"{found} (the separator is {separator}, --separator names another)", line)
        return [self._value(index, field, line) for index, field in enumerate(fields)]

    def _value(self, index: int, field: str, line: int) -> float:
        """Return the value of a field, or fail if it has none."""
        if index in self.roles.left_out:
            self._check_left_out(index, field, line)
            return 0.0
        if index in self.codes:
            if field not in self.codes[index].refused:
                return self.codes[index](field)
            missing = f"the label is missing ({field!r})"
            missing = missing if index == self.roles.label else refusal(named(index, self.names), Kind.MISSING, field)
            raise DataError(self.path, missing, line)
        kind, known = kind_of(field, self.dialect.decimal, self.missing), self.kinds[index]
        if kind == Kind.NUMBER and known != Kind.TRUTH:
            value = float(field.replace(",", "."))
            value = nan if value in self.marks else value
        else:
            value = TRUTH[field] if kind == known == Kind.TRUTH else nan
        if isfinite(value) or (isnan(value) and self.request.allow_missing and kind in (Kind.NUMBER, Kind.MISSING)):
            return value
        raise self._fault(index, field, kind, line)

    def _check_left_out(self, index: int, field: str, line: int) -> None:
        """Fail if leaving out a column was a wrong guess."""
        reason = self.roles.left_out[index]
        counted = reason != COUNTS_ROWS or (
            field.isascii() and field.isdigit() and int(field) == self.start + self.rows
        )
        if not counted or (reason == EMPTY and field):
            found = f"{named(index, self.names)} {reason} up to here, and then holds {field!r}"
            cure = f"--index {index} leaves it out, --keep-index takes it for a feature"
            raise DataError(self.path, f"{found}: {cure}", line)

    def _fault(self, index: int, found: str, kind: Kind, line: int) -> DataError:
        """Return the error for a field that cannot be a feature's value."""
        where, note = named(index, self.names), label_note(self.roles.label, self.names, self.request)
        known, whole = self.kinds[index], self.request.n_features is None  # a model expects numbers
        if kind == Kind.MISSING or (whole and kind in (Kind.DATE, Kind.TEXT) and kind == known):
            message = refusal(where, kind, found, "" if index else self.label) + note * (kind == Kind.TEXT)
        else:
            wanted = "a truth value" if known == Kind.TRUTH else "a finite number"
            cure = f"; if it is a mark of missing values, --missing {shlex.quote(found)} says so"
            message = f"{where} holds {found!r}, not {wanted}{cure * (kind != Kind.NUMBER)}{note}"
        return DataError(self.path, message, line)
