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

from .columns import label_column
from .source import data_lines, open_text
from .table import MISSING_LABELS, DataError, Path, Request, Table, whole_if_possible

# A first row with a gap is data with a missing value, not a header.
MISSING = ("", "?", "na", "n/a", "null", "none")

Row = tuple[int, list[str]]


@dataclass(frozen=True)
class _Columns:
    """How the rows of one file are laid out."""

    path: Path
    width: int
    label: int | None
    names: list[str] | None

    def features(self, row: Row) -> list[float]:
        """Convert the fields of a row, without the label."""
        line, fields = row
        try:
            return [float(field) for index, field in enumerate(fields) if index != self.label]
        except ValueError:
            wrong = next(index for index, field in enumerate(fields) if index != self.label and not _is_number(field))
            raise self.fault(line, wrong, fields[wrong]) from None

    def fault(self, line: int, index: int, found: str) -> DataError:
        """Return the error for a field that is no finite number."""
        name = f" ({self.names[index]})" if self.names else ""
        return DataError(self.path, f"column {index}{name} holds {found!r}, not a finite number", line)


def read_delimited(path: Path, request: Request, delimiter: str | None) -> Table:
    """Read a table into dense float64.

    Parameters
    ----------
    delimiter : str or None
        The character between fields; None: any white space.
    """
    try:
        with open_text(path) as stream:
            rows = _rows(stream, delimiter)
            first = next(rows, None)
            if first is None:
                raise DataError(path, "the file holds no data")
            column = label_column(path, first[1], request, first[0])
            header = isinstance(request.label, str) or _is_header(first[1], column)
            names = [name.strip() for name in first[1]] if header else None
            columns = _Columns(path, len(first[1]), column, names)
            return _table(columns, rows if header else chain([first], rows))
    except csv.Error as error:
        raise DataError(path, f"not a table ({error})") from error


def _rows(stream: TextIO, delimiter: str | None) -> Iterator[Row]:
    """Iterate over (line number, fields), leaving out blank lines and comments."""
    if delimiter is None:
        yield from ((number, line.split()) for number, line in data_lines(stream))
        return
    reader = csv.reader(stream, delimiter=delimiter, skipinitialspace=True)
    for fields in reader:
        if fields and not fields[0].startswith("#") and fields != [""]:
            yield reader.line_num, fields


def _is_header(fields: list[str], label: int | None) -> bool:
    """Tell whether a first row holds names: a field beside the label that is text and no mark for a missing value."""
    return any(
        index != label and not _is_number(field) and field.strip().lower() not in MISSING
        for index, field in enumerate(fields)
    )


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
    names, label_name = columns.names, None
    if columns.label is None:
        return Table(X, None, tuple(names) if names else None)
    if names is None and len(labels) > 1 and not _is_number(labels[0]) and all(map(_is_number, labels[1:])):
        # A header whose features are named 0, 1, 2, ...: only the label's name gives it away.
        names = [f"{value:g}" for value in X[0]]
        names.insert(columns.label, labels[0])
        X, labels, lines = X[1:], labels[1:], lines[1:]
    if names is not None:
        label_name = names[columns.label]
        names = names[: columns.label] + names[columns.label + 1 :]
    return Table(X, _labels(columns.path, labels, lines), tuple(names) if names else None, label_name)


def _labels(path: Path, labels: list[str], lines: list[int]) -> NDArray[Any]:
    """Return the labels as numbers if all of them are, else as text."""
    missing = next((i for i, label in enumerate(labels) if label in MISSING_LABELS), None)
    if missing is not None:
        raise DataError(path, "the label is missing", lines[missing])
    try:
        y = np.array(labels, dtype=np.float64)
    except ValueError:
        return np.array(labels, dtype=np.str_)
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
