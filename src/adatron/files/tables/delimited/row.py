"""Single rows of a table whose form is known, as a stream brings them.

A plain row is read here, in a tenth of the time that `read_delimited` takes to open a file. It reads all other rows, or
says what is wrong with them.
"""

from __future__ import annotations

import csv
from math import isfinite
from typing import Any

import numpy as np

from ...table import MISSING_LABELS, Dialect, Path, Request, Table
from ..cells import MISSING, is_number, is_value, labels_of, number_of
from .dialect import find_dialect
from .lines import split_records


def plain_row(line: str, like: Table, worded: bool = False) -> Table | None:
    """Return the table of one row, or None unless it has numbers and a label in the places of those of another table.

    Parameters
    ----------
    like : Table
        A row of the same text; all its columns are features, except the label.
    worded : bool
        Whether labels are text, whatever they look like: those of the other rows are.
    """
    dialect, label = like.dialect, like.label_column
    if dialect is None or '"' in line:
        return None
    try:
        fields = next(split_records([line], dialect.separator), [])
    except csv.Error:
        return None
    if len(fields) != like.shape[1] + (label is not None):
        return None
    named = None if label is None else fields.pop(label)
    if named in MISSING or named in MISSING_LABELS or not all(is_number(field, dialect.decimal) for field in fields):
        return None
    values = [number_of(field) for field in fields]
    y: Any = None if named is None else np.array([named]) if worded else labels_of([named], dialect.decimal)
    if not all(map(isfinite, values)) or (y is not None and y.dtype.kind == "f" and not isfinite(y[0])):
        return None
    return Table(np.array([values]), y, label_column=label, dialect=dialect)


def header_of(path: Path, line: str, number: int, request: Request, preferred: str) -> tuple[list[str], Dialect] | None:
    """Return the names in a first line, and the form of the text; None if the line holds data.

    Unless the request says whether there is a header, a line is one if it has a word and no value. More lines would
    tell more, but they are still to come.
    """
    missing = frozenset(MISSING if request.missing is None else request.missing)
    dialect, (fields, *_) = find_dialect(path, [line], request, preferred, missing, number)
    words = [not is_value(field, dialect.decimal, missing) for field in fields if field]
    found = len(fields) > 1 and bool(words) and all(words) if request.header is None else request.header
    return (fields, dialect) if found else None
