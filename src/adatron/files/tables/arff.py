"""Read ARFF, the format of Weka: a header that declares the columns, and a table of their values.

`scipy.io.arff` reads neither text beyond ASCII nor strings, and drops surplus fields without a word.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from ..source import open_text
from ..table import DataError, Dialect, Path, Request, Table
from .columns import Columns
from .delimited import SAMPLED_LINES, Body, cost
from .fields import Lines, Marks, split_records

NUMERIC_TYPES = ("numeric", "real", "integer")  # Types that are read as numbers.
_MARKS = Marks("'", "\\", "%")
_WORD = r"""'(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+"|[^\s{},%'"][^\s{},%]*+"""
_ATTRIBUTE = re.compile(rf"@attribute\s++({_WORD})\s*+(\{{.*\}}|[^{{%\s][^%]*+)\s*+(?:%.*)?", re.IGNORECASE | re.DOTALL)


def read_arff(path: Path, request: Request) -> Table:
    """Read numbers, texts and nominal values."""
    with open_text(path, request.max_bytes, request.encoding, cost) as stream:
        columns, end = _header(path, stream)
        lines = Lines(path, stream, _MARKS, end + 1)
        sample = lines.take(SAMPLED_LINES)
        if not sample:
            raise DataError(path, "a header and no data")
        first, text = sample[0]
        if text.startswith("{"):
            raise DataError(path, "rows in braces (sparse ARFF) are not read: write all values", first)
        if any('"' in line for _, line in sample) and not any("'" in line for _, line in sample):
            lines.marks = replace(_MARKS, quote='"')
        lines.put_back(sample)
        separator = next((one for one in ",\t" if one in text), " ")
        found = Columns(path, list(columns), True, replace(request, missing=("?",)))
        declared = {index: values for index, values in enumerate(columns.values()) if values is not None}
        words = declared.keys() & found.features
        body = Body(found, Dialect(separator, ".", True), first, words, set(), lines.marks, declared)
        return replace(body.table(lines), dialect=None)


def _header(path: Path, lines: Iterable[str]) -> tuple[dict[str, frozenset[str] | None], int]:
    """Return the values of each column by its name, None for numbers, nothing for any text; and the last line."""
    columns: dict[str, frozenset[str] | None] = {}
    for number, whole in enumerate(lines, 1):
        line = whole.strip()
        word = line.split(None, 1)[0].lower() if line else "%"
        if word == "@data":
            return columns, number
        if word[0] == "%" or word == "@relation":
            continue
        found = _ATTRIBUTE.fullmatch(line)
        if found is None:
            raise DataError(path, f"not '@attribute name type' of an ARFF file: {line!r}", number)
        name, kind = _words(found[1])[0], found[2].strip()
        if name in columns:
            raise DataError(path, f"two columns are named {name!r}", number)
        if kind.startswith("{"):
            columns[name] = frozenset(_words(kind[1:-1]))
        elif kind.lower() in (*NUMERIC_TYPES, "string"):
            columns[name] = frozenset() if kind.lower() == "string" else None
        else:
            known = f"{', '.join(NUMERIC_TYPES)}, string and {{a,b}}"
            raise DataError(
                path, f"the type of {name!r} is {kind.split()[0]!r}; the types that are read are {known}", number
            )
    raise DataError(path, "not an ARFF file: no @data")


def _words(text: str) -> list[str]:
    """Return words with commas between, without their quotes."""
    quote = '"' if '"' in text and "'" not in text else "'"
    return next(split_records([text], ",", replace(_MARKS, quote=quote)), [])
