"""Read delimited text by NumPy's own reader: one sample a row, fields between commas, semicolons, tabs, bars or spaces.

NumPy's reader in C is strict about the number of fields and exact in its numbers. It reads line by line within bounds,
and is fast for millions of rows as for thousands of columns. Columns that are not numbers go through converters: text
becomes the number of its value, a truth value 1 or 0. The reader stops at the first field that fits neither, and the
line then says why.

Other readers were tried. DuckDB leaves out rows of another length when it infers the form, and takes 13 s for 20,000
columns. pandas fills short rows with missing values, and 007 among categories becomes 7. pyarrow is strict, but takes
1.8 GB for 200,000 columns, and 170 MB on the disk.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from ...source import marked, open_text
from ...table import DataError, Dialect, Path, Request, Table
from ..cells import MISSING, TRUTH, Kind, is_number, kind_of, kind_of_all
from ..columns import COUNTS, EMPTY, roles_of
from .dialect import Records, find_dialect, is_surplus
from .lines import Lines
from .reading import EXCHANGE, Codes, Reading, explain, ragged
from .table import table_of

LONG = 2**20  # Characters of a line from which on its fields are counted before they are split.
WORDY = 0.1  # Share of text among the values of a column from which on it is a column of text.
_HINT = re.compile(r'"?sep=(.)"?', re.IGNORECASE)  # the first line that Excel takes for its own


def read_delimited(path: Path, request: Request, separator: str) -> Table:
    """Read a table; numbers become dense float64.

    Parameters
    ----------
    separator : str
        The separator that the file's name shows: the one to take if others fit as well.
    """
    reading = _begin(path, request, separator)
    values = _loaded(reading)
    if values is None:
        reading.careful = True
        values = _loaded(reading)
    assert values is not None  # noqa: S101
    if values.shape[1] != reading.roles.width:  # in all rows alike: NumPy knows no header
        raise ragged(reading, values.shape[1], reading.locate(0)[0])
    return table_of(reading, values)


def _begin(path: Path, request: Request, separator: str) -> Reading:
    """Infer the form and the roles of the columns from the first lines."""
    missing = frozenset(MISSING if request.missing is None else request.missing)
    request = replace(request, encoding=request.encoding or marked(path, request.max_bytes))
    with open_text(path, request.max_bytes, request.encoding) as stream:
        lines = Lines(stream)
        begin = next(lines, None)
        hint = None if begin is None else _HINT.fullmatch(begin.strip())
        if hint:
            request, begin = replace(request, separator=request.separator or hint[1]), next(lines, None)
        line = lines.start
        sample = [] if begin is None else [begin, *lines.sample()]
    if not sample:
        raise DataError(path, "the file holds no data")
    if "\0" in sample[0]:
        fault = "not a text file: a byte is 0; --encoding says if it is UTF-16 without a byte order mark, as utf-16-le"
        raise DataError(path, fault, line)
    dialect, records = find_dialect(path, sample, request, separator, missing, line)
    body, first = (records[1:] if dialect.header else records), records[0]
    if not body:
        raise DataError(path, "a header row and no data", line)
    if dialect.header:
        width = Counter(map(len, body)).most_common(1)[0][0]
        first = ["", *first] if len(first) == width - 1 else first[:-1] if is_surplus(first, width) else first
    names = first if dialect.header else None
    roles = roles_of(path, first, dialect.header, request, partial(_suspicion, body), line)
    kinds = {index: _kind(body, index, dialect, missing) for index in roles.features}
    texts = [index for at, index in enumerate(roles.features) if request.takes_text(at, kinds[index] == Kind.TEXT)]
    kinds |= dict.fromkeys(texts, Kind.TEXT)
    skip = int(dialect.header) + bool(hint)
    careful = request.allow_missing and any(field in missing for record in body for field in record)
    return Reading(path, request, dialect, names, roles, missing, skip, kinds, frozenset(texts), careful)


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
    return COUNTS if all(one == str(start + row) for row, one in enumerate(values)) else None


def _kind(body: Records, index: int, dialect: Dialect, missing: frozenset[str]) -> Kind:
    """Return the kind of a column; a few words among numbers are faults, and the column one of numbers."""
    kinds = [kind_of(record[index], dialect.decimal, missing) for record in body if index < len(record)]
    kind = kind_of_all(kinds)
    known = [one for one in kinds if one != Kind.MISSING]
    if kind == Kind.TEXT and sum(one == Kind.TEXT for one in known) < WORDY * len(known):
        return Kind.NUMBER
    return Kind.NUMBER if kind == Kind.MISSING else kind


def _loaded(reading: Reading) -> NDArray[np.float64] | None:
    """Return the values, or None if the numbers need converters; see `Reading.careful`."""
    dialect = reading.dialect
    separator = None if dialect.separator == " " else reading.original(dialect.separator)
    with reading.lines() as lines:
        rows = _prepared(reading, lines)
        try:
            if (first := next(rows, None)) is None:
                raise DataError(reading.path, "no row after the header: a quote in the header may have no end")
            return np.loadtxt(
                chain([first], rows), delimiter=separator, comments=None, quotechar='"', ndmin=2,
                converters=_converters(reading),
            )  # fmt: skip
        except ValueError as error:
            if isinstance(error, (DataError, UnicodeError)):
                raise
            cause = error.__cause__
            if isinstance(cause, (DataError, MemoryError)) or not isinstance(cause, (Exception, type(None))):
                raise cause from None  # Ctrl-C in a converter is no fault of the data
            explain(reading, lines, error)
    return None


def _prepared(reading: Reading, lines: Lines) -> Iterator[str]:
    """Yield lines as NumPy takes them: with decimal points, and with nothing before a quote."""
    separator, width, exchange = reading.dialect.separator, reading.roles.width, reading.dialect.decimal == ","
    before_quote = re.compile(f'(?<={re.escape(separator)}) +(?="(?!"))')
    for line in lines:
        if len(line) > LONG and (found := line.count(separator)) > max(2 * width, LONG):
            raise DataError(reading.path, f"{found + 1} fields found, {width} expected", lines.start)
        plain = before_quote.sub("", line) if ' "' in line and separator != " " else line
        yield plain.translate(EXCHANGE) if exchange else plain


def _converters(reading: Reading) -> dict[int | str, Callable[[str], float]]:
    """Return the converter of each column that does not hold plain numbers."""
    roles, marks = reading.roles, {mark.translate(EXCHANGE) for mark in reading.missing}
    marks = marks if reading.dialect.decimal == "," else reading.missing

    def number(text: str) -> float:
        text = text.strip()
        if text in marks:
            return np.nan
        if is_number(text):
            return float(text)
        raise ValueError(text)

    def truth(text: str) -> float:
        text = text.strip()
        return np.nan if reading.careful and text in marks else TRUTH[text]

    found: dict[int | str, Callable[[str], float]] = {}
    for index in range(roles.width):
        kind = reading.kinds.get(index)
        if index in roles.left_out:
            found[index] = _checked(reading, index)
        elif index == roles.label or index in reading.texts:
            found[index] = reading.codes[index] = Codes(reading.path, reading.request.max_bytes, reading.original)
        elif kind == Kind.TRUTH:
            found[index] = truth
        elif reading.careful:
            found[index] = number
    return found


def _checked(reading: Reading, index: int) -> Callable[[str], float]:
    """Return a converter for a column that is left out; it fails if that was a wrong guess."""
    reason = reading.roles.left_out[index] if index in reading.roles.guessed else ""
    last: list[int] = []

    def counted(text: str) -> float:
        if last and int(text) != last[0] + 1:
            raise ValueError(text)
        last[:] = [int(text)]
        return 0.0

    def empty(text: str) -> float:
        if text.strip():
            raise ValueError(text)
        return 0.0

    return {COUNTS: counted, EMPTY: empty}.get(reason, lambda _: 0.0)
