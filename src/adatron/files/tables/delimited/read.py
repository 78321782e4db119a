"""Read delimited text: one sample a row, fields between commas, semicolons, tabs, bars or spaces.

Other readers were tried. DuckDB leaves out rows of another length when it infers the form, and takes 13 s for 20,000
columns. pandas reads numbers in half the time, but for it a short row of text has empty fields, and True among numbers
is 1. pyarrow is strict, but takes 1.8 GB for 200,000 columns, and 170 MB on the disk.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...source import open_text
from ...table import DataError, Dialect, Path, Request, Table, check_size
from ..cells import MISSING, Kind, kind_of, kind_of_all, labels_of
from ..columns import COUNTS_ROWS, EMPTY, label_advice, named, roles_of, with_texts
from .dialect import Records, find_dialect, is_surplus
from .lines import Chunk, Lines, split_records
from .reading import Reading

SAMPLED_LINES = 500  # Lines from which the form of a text is inferred.
LINES_AT_ONCE = 4096  # Lines that are read before any of them is split: some hundred kilobytes of text.
WORDY = 0.1  # Share of text among the values of a column from which on it is a column of text.
# A first column of whole numbers may be an id from this many rows on, if it is so many times as large as the others.
ID_ROWS, ID_RATIO = 100, 100
_HINT = re.compile(r'"?sep=(.)"?', re.IGNORECASE)  # the first line that Excel takes for its own


def read_delimited(path: Path, request: Request, separator: str) -> Table:
    """Read a table; numbers become dense float64.

    Parameters
    ----------
    separator : str
        The separator that the file's name shows: the one to take if others fit as well.
    """
    with open_text(path, request.max_bytes, request.encoding) as stream:
        lines = Lines(stream)
        sample = lines.take(SAMPLED_LINES)
        hint = _HINT.fullmatch(sample.lines[0].strip()) if sample.lines else None
        if hint:
            request, sample = replace(request, separator=request.separator or hint[1]), sample.after(1)
        reading = _begin(path, sample, request, separator)
        rest = iter(sample.lines)
        if reading.dialect.header:
            next(split_records(chain(rest, (line for _, line in lines)), reading.dialect.separator))
        chunk = sample.after(len(sample.lines) - len(list(rest)))
        numbers = array("q")
        parts: list[NDArray[np.float64]] = []
        while chunk.lines or (chunk := lines.take(LINES_AT_ONCE)).lines:
            found, values = reading.values(chunk, lines)
            check_size(path, "values", 8 * reading.rows * reading.roles.width, request.max_bytes, at_least=True)
            numbers.extend(found)
            parts.append(values)
            chunk = chunk.after(len(chunk.lines))
    values = np.concatenate(parts)
    parts.clear()
    return _table(reading, numbers, values)


def _begin(path: Path, sample: Chunk, request: Request, separator: str) -> Reading:
    """Infer the form and the roles of the columns from the first lines."""
    if not sample.lines:
        raise DataError(path, "the file holds no data")
    missing, line = frozenset(MISSING if request.missing is None else request.missing), sample.numbers[0]
    if "\0" in sample.lines[0]:
        fault = "not a text file: a byte is 0; --encoding says if it is UTF-16 without a byte order mark, as utf-16-le"
        raise DataError(path, fault, line)
    dialect, records = find_dialect(path, sample.lines, request, separator, missing, line)
    body, first = (records[1:] if dialect.header else records), records[0]
    if not body:
        quote = "; a quote in the header may have no end" * ('"' in sample.lines[0])
        raise DataError(path, f"a header row and no data{quote}", line)
    if dialect.header:
        width = Counter(map(len, body)).most_common(1)[0][0]
        first = ["", *first] if len(first) == width - 1 else first[:-1] if is_surplus(first, width) else first
    names = first if dialect.header else None
    roles = roles_of(path, first, dialect.header, request, partial(_suspicion, body), line)
    kinds = {index: _kind(body, index, dialect, missing) for index in roles.features}
    texts = [index for at, index in enumerate(roles.features) if request.takes_text(at, kinds[index] == Kind.TEXT)]
    start = int(body[0][0]) if roles.left_out.get(0) == COUNTS_ROWS else 0
    label = label_advice(0, [record[0] for record in body], roles.label, request)
    return Reading(path, request, dialect, names, roles, missing, kinds, frozenset(texts), label, start)


def _suspicion(body: Records, index: int, least: int, anywhere: bool) -> str | None:
    """Say why the values of a column show that it is no feature."""
    values = [record[index] if index < len(record) else "" for record in body]
    if not any(values):
        return EMPTY if index else None
    if index or len(values) < least or not all(one.isascii() and one.isdigit() for one in values):
        return None
    if len(values[0]) > 18 or (not anywhere and values[0] not in ("0", "1")):
        return None
    start = int(values[0])
    return COUNTS_ROWS if all(one == str(start + row) for row, one in enumerate(values)) else None


def _kind(body: Records, index: int, dialect: Dialect, missing: frozenset[str]) -> Kind:
    """Return the kind of a column; a few words among numbers are faults, and the column one of numbers."""
    kinds = [kind_of(record[index], dialect.decimal, missing) for record in body if index < len(record)]
    kind = kind_of_all(kinds)
    known = [one for one in kinds if one != Kind.MISSING]
    if kind == Kind.TEXT and sum(one == Kind.TEXT for one in known) < WORDY * len(known):
        return Kind.NUMBER
    return Kind.NUMBER if kind == Kind.MISSING else kind


def _table(reading: Reading, numbers: array[int], values: NDArray[np.float64]) -> Table:
    """Return the table of all values; in columns of text these are the numbers of the texts."""
    names, features, label = reading.names, reading.roles.features, reading.roles.label
    X = np.ascontiguousarray(values[:, features])
    y = None if label is None else _labels(reading, label, values[:, label].astype(np.int64), numbers)
    texts = {
        at: _texts(reading, index, X[:, at].astype(np.int64))
        for at, index in enumerate(features)
        if index in reading.codes
    }
    table = Table(
        X, y, tuple(names[index] for index in features) if names else None,
        names[label] if names and label is not None else None, label,
        notes=(*reading.roles.notes(names), *_id_note(reading, X)), dialect=reading.dialect,
        columns=tuple(features),
    )  # fmt: skip
    return with_texts(reading.path, table, texts, reading.request)


def _labels(reading: Reading, label: int, codes: NDArray[np.int64], numbers: array[int]) -> NDArray[Any]:
    """Return the labels in the type that writes them back as they were read."""
    texts, path = list(reading.codes[label].numbers), reading.path
    check_size(path, "labels", 4 * len(codes) * max(map(len, texts)), reading.request.max_bytes)
    distinct = labels_of(texts, reading.dialect.decimal)
    wrong = [] if distinct.dtype.kind != "f" else np.flatnonzero(~np.isfinite(distinct[codes]))
    if len(wrong):
        raise DataError(path, f"the label {texts[codes[wrong[0]]]!r} is not a finite number", numbers[wrong[0]])
    return distinct[codes]


def _texts(reading: Reading, index: int, codes: NDArray[np.int64]) -> NDArray[Any]:
    """Return a feature's texts, and NaN for missing ones."""
    return np.array([np.nan if text in reading.gaps else text for text in reading.codes[index].numbers], object)[codes]


def _id_note(reading: Reading, X: NDArray[np.float64]) -> tuple[str, ...]:
    """Return a sentence about a first feature that may be an id: large whole numbers, most of them different."""
    request, n = reading.request, len(X)
    if request.n_features is not None or request.keep_index or n < ID_ROWS or X.shape[1] < 2 or 0 not in reading.kinds:
        return ()
    first = X[:, 0]
    different = len(np.unique(first))
    largest = np.abs(X[:, 1:], where=np.isfinite(X[:, 1:]), out=np.zeros((n, X.shape[1] - 1))).max(initial=0.0)
    if different < 0.9 * n or (first % 1).any() or np.median(first) < ID_RATIO * largest:
        return ()
    where = named(0, reading.names)
    return (f"{where} holds {different} different whole numbers in {n} rows, as an id does: --index 0 leaves it out",)
