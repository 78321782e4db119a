"""The form of a delimited text: its separator, its decimal sign, and whether it has a header.

Each separator that may be meant splits the first records. One that the first record lacks is not meant. (A comma that
numbers hold below may be: in numbers with a decimal comma, or between two numbers of one more column.) One that gives
the same number of fields everywhere goes before one that does not, and then the one that makes more fields numbers:
`1,5;0` is two numbers with semicolons, and one with commas. `1,5;a` is one number with either, so the user must say
which. Names, unlike numbers, tell no separator from another: if two fit below them, the user must say which, too.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from ..table import SEPARATOR_NAMES, DataError, Dialect, Path, Request, check_size
from .columns import LABEL_NAMES, label_column
from .fields import WITH_COMMA, is_number, is_value, split_records

CANDIDATES = (",", ";", "\t", "|", " ")  # Separators that are tried.
# From this length on 0, 1, 2, ... are numbers of columns, not data that look like them by chance.
NUMBERED_COLUMNS = 10
# A field whose commas may stand between thousands, as in 1,234.
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+", re.ASCII)

Records = list[list[str]]


class _Split(NamedTuple):
    """The records of a text as one separator splits them.

    rank : whether all records have the width; the share of fields that are not text; the share of records of the width
    """

    separator: str
    decimal: str
    records: Records
    width: int = 1
    rank: tuple[bool, float, float] = (True, 1.0, 1.0)


def find_dialect(
    path: Path, lines: Sequence[str], request: Request, preferred: str, line: int
) -> tuple[Dialect, Records]:
    """Return the form of a text, and its first records; fail if it may be read in more than one way, or in none.

    ``lines`` are the first ones, without comments, up to the end of a record; ``line`` is the number of the first. The
    file's name shows the ``preferred`` separator, which wins if others fit as well.
    """
    candidates = CANDIDATES if request.separator is None else (request.separator,)
    for separator in candidates:
        check_size(path, "columns", 8 * lines[0].count(separator), request.max_bytes)
    splits = [one for separator in candidates for one in _splits(lines, separator, request)]
    if not splits:  # one column
        separator = request.separator or preferred
        try:
            records = list(filter(None, split_records(lines, separator)))
        except csv.Error as error:
            long = next((at for at, one in enumerate(lines) if len(one) > csv.field_size_limit()), 0)
            raise DataError(path, f"not a table ({error})", line + long) from error
        best = _Split(separator, request.decimal or ".", records)
    else:
        best = _best(path, splits, request, preferred, line)
    commas = [field for record in best.records for field in record if WITH_COMMA.fullmatch(field)]
    if best.decimal == "," and request.decimal is None and commas and all(map(_THOUSANDS.fullmatch, commas)):
        fault = f"{commas[0]!r} may be {commas[0].replace(',', '.')} or {commas[0].replace(',', '')}"
        raise DataError(path, f"{fault}: --decimal , says that it has decimals; write thousands without commas", line)
    header = _header(path, best, request, line)
    return Dialect(best.separator, best.decimal, header), best.records


def _splits(lines: Sequence[str], separator: str, request: Request) -> list[_Split]:
    """Return the records for each decimal sign that is allowed; none if the separator does not occur."""
    try:
        records = list(split_records(lines, separator))
    except csv.Error:
        return []
    body = records[1:] or records
    width, count = Counter(map(len, body)).most_common(1)[0]
    if width < 2:
        return []
    # R leaves out the name of the row names; other programs end the header with a separator.
    first = len(records) == 1 or len(records[0]) in (width, width - 1) or is_surplus(records[0], width)
    even = (count + first) / (len(body) + 1)
    decimals = (".", ",") if request.decimal is None else (request.decimal,)
    if request.decimal is None and not any(WITH_COMMA.fullmatch(field) for record in body for field in record):
        decimals = (".",)
    records = list(filter(None, records))  # a tab alone, between rows that white space separates
    fields = [field for record in body for field in record]
    known = {one: sum(is_value(field, one, request.marks) for field in fields) / len(fields) for one in decimals}
    return [_Split(separator, one, records, width, (even == 1, known[one], even)) for one in decimals]


def is_surplus(header: list[str], width: int) -> bool:
    """Tell whether a header has one name more than there are columns, and that name is empty."""
    return len(header) == width + 1 and not header[-1]


def _best(path: Path, splits: list[_Split], request: Request, preferred: str, line: int) -> _Split:
    whole = [one for one in splits if not any('"' in field for field in one.records[0])]
    candidates = splits = whole or splits  # others break names in quotes
    if request.separator is None:  # the header decides
        splits = [one for one in candidates if len(one.records[0]) > 1]
        if not splits:
            fault = f"the first row is one field, and the separator of the others may be {_named(candidates)}"
            raise DataError(path, f"{fault}: say which by --separator", line)
    top = max(one.rank for one in splits)
    best = [one for one in splits if one.rank == top]
    if request.decimal == ",":
        best = [one for one in best if one.separator != ","] or best
    best = [one for one in best if one.separator == preferred] or best
    named = preferred != "," and best[0].separator == preferred  # by the file's name
    if request.decimal is None and not named:
        commas = [one for one in candidates if one.rank == top and "," in (one.separator, one.decimal)]
        if 0 < sum(one.separator == "," for one in commas) < len(commas):
            best = commas  # each comma stands in a number, or between two
    if not named and not any(is_number(field, one.decimal) for one in splits for field in one.records[0]):
        best += [one for one in splits if one.rank[0] and one.separator != " "]  # names may hold spaces
    found = [one for one in best if one.records != best[0].records]
    if found:  # tabs are white space, too
        raise DataError(path, f"the separator may be {_named([best[0], *found])}: say which by --separator", line)
    return best[0]


def _named(splits: list[_Split]) -> str:
    return " or ".join(dict.fromkeys(SEPARATOR_NAMES.get(one.separator, repr(one.separator)) for one in splits))


def _header(path: Path, split: _Split, request: Request, line: int) -> bool:
    """Tell whether the first record holds names.

    A number above a number is data, so any other text in that row is a fault in the data, not a name.
    """
    first, body = split.records[0], split.records[1:]
    columns = list(zip(*body, strict=False))
    if request.header is not None:
        return request.header
    if isinstance(request.label, str) and request.label in first:
        return True
    if body and split.width > 1 and len(first) == split.width - 1:
        if not any(is_number(field, split.decimal) for field in first) and _names_rows(body, split.decimal):
            return True
        fault = f"{len(first)} fields found, {split.width} expected: --header says that the first column names the rows"
        raise DataError(path, fault, line)
    pairs = list(zip(first, columns, strict=False))
    label = None if isinstance(request.label, str) else label_column(path, first, request, line)
    for name, column in () if label is None else pairs[label : label + 1]:  # y is a class as often as a name
        known = name.lower() in (LABEL_NAMES if is_number(column[0], split.decimal) else LABEL_NAMES[:-1])
        if known and name not in column:
            return True
    if _numbered(first, body, split.decimal, label):
        return True
    values = [is_value(field, split.decimal, ()) for field in first]
    below = (body or [first])[0]
    if any(one and is_value(field, split.decimal, ()) for one, field in zip(values, below, strict=False)):
        return False
    words = [not one and field not in request.marks for one, field in zip(values, first, strict=True)]
    named = any(words[:label]) or (label is not None and any(words[label + 1 :]))
    if not body or not named:
        return named
    for word, column in zip(words, columns, strict=False):
        known = [is_value(field, split.decimal, ()) for field in column if field not in request.marks]
        if word and known and all(known):
            return True
    if any(name.lower() in LABEL_NAMES for name in first):
        return True
    if any(name in column for name, column in pairs):
        return False
    raise DataError(path, f"the first row, {first[:3]}, may hold names or text: say --header or --no-header", line)


def _names_rows(body: Records, decimal: str) -> bool:
    """Tell whether the first fields are names of rows: all differ, and not all are numbers with decimals.

    Otherwise a comma may stand between thousands. No last field in any row means a surplus separator.
    """
    names = {record[0] for record in body}
    decimals = all(is_number(name, decimal) and not name.isdigit() for name in names)
    return len(names) == len(body) and not decimals and any(record[-1] for record in body)


def _numbered(first: list[str], body: Records, decimal: str, label: int | None) -> bool:
    """Tell whether the names are 0, 1, 2, ..., which pandas gives to columns without names; the label may have a name.

    Data may be 0, 1, 2 by chance; then the following rows are likely to hold the same few numbers.
    """
    begin = int(first[0] in ("", "Unnamed: 0"))
    fields, below = first[begin:], (body or [[]])[0][begin:]
    names = [field for field in fields if is_number(field, decimal)]
    if not names or len(below) < len(fields) or names != [str(index) for index in range(len(names))]:
        return False
    others = [one for field, one in zip(fields, below, strict=False) if not is_number(field, decimal)]
    many = len(first) >= NUMBERED_COLUMNS
    if others:
        named = label is not None and not is_number(first[label], decimal)
        return named and len(others) == 1 and (many or is_number(others[0], decimal))
    return many or any(field not in fields for field in below)
