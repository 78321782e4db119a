"""Read tables of numbers: one sample a row, one label column, fields between commas, tabs or spaces."""

from __future__ import annotations

import csv
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

from ..source import data_lines, open_text
from ..table import MISSING_LABELS, DataError, Path, Request, Table, check_size, text_labels, whole_if_possible
from .columns import LABEL_NAMES, check_columns, label_column, label_note

# A first row with a gap is data with a missing value, not a header.
MISSING = ("", "?", "na", "n/a", "null", "none")
# Names that begin as a comment does; such a row is not left out.
SPREADSHEET_ERRORS = ("#N/A", "#NA", "#NULL!", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!")
# From this length on 0, 1, 2, ... are numbers of columns, not data that look like them by chance.
MANY = 10

# Bytes of a row besides its values: the objects of its label and of its line's number.
ROW = 120

Row = tuple[int, list[str]]


@dataclass(frozen=True)
class _Columns:
    """The layout of the rows of one file."""

    path: Path
    width: int
    label: int | None
    names: list[str] | None
    request: Request

    def features(self, row: Row) -> list[float]:
        """Convert the fields of a row, without the label."""
        line, fields = row
        try:
            return [float(field) for index, field in enumerate(fields) if index != self.label]
        except ValueError:
            wrong = next(index for index, field in enumerate(fields) if index != self.label and not _is_number(field))
            raise self.fault(line, wrong, fields[wrong]) from None

    def fault(self, line: int, index: int, found: str) -> DataError:
        """Return the error for a field that is not a finite number."""
        name = f" ({self.names[index]})" if self.names else ""
        note = "" if _is_number(found) else label_note(self.label, self.names, self.request)
        return DataError(self.path, f"column {index}{name} holds {found!r}, not a finite number{note}", line)


def read_delimited(path: Path, request: Request, delimiter: str | None) -> Table:
    """Read a table into dense float64.

    Parameters
    ----------
    delimiter : str or None
        The character between fields; None for any white space.
    """
    with open_text(path, request.max_bytes) as stream:
        rows = _rows(path, stream, delimiter)
        first = next(rows, None)
        if first is None:
            raise DataError(path, "the file holds no data")
        second = next(rows, None)
        columns = _layout(path, first, second[1] if second else None, request)
        data = [second] if second else []
        return _table(columns, chain(data if columns.names else [first, *data], rows))


def _rows(path: Path, stream: TextIO, delimiter: str | None) -> Iterator[Row]:
    """Iterate over (line number, fields), leaving out blank lines and comments."""
    if delimiter is None:
        yield from ((number, line.split()) for number, line in data_lines(stream))
        return
    reader = csv.reader(stream, delimiter=delimiter, skipinitialspace=True)
    try:
        for fields in reader:
            comment = fields and fields[0].startswith("#") and fields[0].strip() not in SPREADSHEET_ERRORS
            if fields and not comment and fields != [""]:
                yield reader.line_num, fields
    except csv.Error as error:
        raise DataError(path, f"not a table ({error})", reader.line_num) from error


def _layout(path: Path, first: Row, second: list[str] | None, request: Request) -> _Columns:
    """Tell from the first two rows whether the first one is a header, and which column is the label."""
    line, fields = first
    names = [field.strip() for field in fields]
    if isinstance(request.label, str) and request.label not in names and not _is_header(names, second, None):
        raise DataError(path, f"no column {request.label!r}: the file has no header, number the column from 0", line)
    label = label_column(path, fields, request, line)
    header = isinstance(request.label, str) or _is_header(names, second, label)
    check_columns(path, names if header else None, len(fields), label, request, line)
    return _Columns(path, len(fields), label, names if header else None, request)


def _is_header(first: list[str], second: list[str] | None, label: int | None) -> bool:
    """Tell whether a first row holds names.

    A number above a number is data, so any other text in that row is a fault in the data, not a name.
    """
    if second is not None and (_numbered(first, second) or _named_label(first, second, label)):
        return True
    below = first if second is None else second
    if any(_is_number(a) and _is_number(b) for a, b in zip(first, below, strict=False)):
        return False
    return any(i != label and not _is_number(one) and one.lower() not in MISSING for i, one in enumerate(first))


def _numbered(first: list[str], second: list[str]) -> bool:
    """Tell whether the names are 0, 1, 2, ..., which pandas gives to columns without names.

    Data may be 0, 1, 2 by chance; then the following rows are likely to hold the same few numbers.
    """
    return _counts(first) and (len(first) >= MANY or any(field.strip() not in first for field in second))


def _named_label(first: list[str], second: list[str], label: int | None) -> bool:
    """Tell whether only the label has a name: one of the usual ones above a number, or one beside 0, 1, 2, ..."""
    if label is None or label >= len(second) or _is_number(first[label]):
        return False
    above_a_number = _is_number(second[label])
    if _counts(first[:label] + first[label + 1 :]):
        return above_a_number or len(first) >= MANY
    return above_a_number and first[label].lower() in LABEL_NAMES


def _counts(fields: list[str]) -> bool:
    return fields == [str(index) for index in range(len(fields))]


def _table(columns: _Columns, rows: Iterator[Row]) -> Table:
    values = array("d")
    labels: list[str] = []
    lines: list[int] = []
    for row in rows:
        line, fields = row
        if len(fields) != columns.width:
            raise DataError(columns.path, f"{len(fields)} fields found, {columns.width} expected", line)
        values.extend(columns.features(row))
        lines.append(line)
        check_size(columns.path, "rows", 8 * len(values) + ROW * len(lines), columns.request.max_bytes, at_least=True)
        if columns.label is not None:
            labels.append(fields[columns.label].strip())
    if not lines:
        raise DataError(columns.path, "a header row and no data")
    X = np.frombuffer(values).reshape(len(lines), -1)
    if not np.isfinite(X).all():
        sample, feature = np.argwhere(~np.isfinite(X))[0]
        column = int(feature) + (columns.label is not None and feature >= columns.label)
        raise columns.fault(lines[sample], column, str(X[sample, feature]))
    return _assemble(columns, X, labels, lines)


def _assemble(columns: _Columns, X: NDArray[np.float64], labels: list[str], lines: list[int]) -> Table:
    if columns.label is None:
        return Table(X, None, tuple(columns.names) if columns.names else None)
    names, label_name = columns.names, None
    if names is not None:
        label_name = names[columns.label]
        names = names[: columns.label] + names[columns.label + 1 :]
    y = _labels(columns.path, labels, lines, columns.request.max_bytes)
    return Table(X, y, tuple(names) if names else None, label_name, columns.label)


def _labels(path: Path, labels: list[str], lines: list[int], most: int) -> NDArray[Any]:
    """Return the labels as numbers if all of them are, else as text."""
    missing = next((i for i, label in enumerate(labels) if label in MISSING_LABELS), None)
    if missing is not None:
        raise DataError(path, "the label is missing", lines[missing])
    try:
        y = np.array(labels, dtype=np.float64)
    except ValueError:
        return text_labels(path, labels, most)
    if not np.isfinite(y).all():
        at = int(np.argmin(np.isfinite(y)))
        raise DataError(path, f"the label {labels[at]!r} is not a finite number", lines[at])
    return whole_if_possible(y)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
