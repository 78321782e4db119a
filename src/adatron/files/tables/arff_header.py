"""The header of an ARFF file: the names and the types of its columns.

liac-arff reads the rows. Its pattern for a header takes exponential time on a damaged one, and it does not read dates.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime

from ..table import DataError, Path

_QUOTED = r"""'(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+\""""
_PLAIN = r"""[^\s{},%'"][^\s{},%]*+"""
_WORD = re.compile(rf"{_QUOTED}|{_PLAIN}")
_ATTRIBUTE = re.compile(rf"@attribute\s++({_QUOTED}|{_PLAIN})\s*+(.*)", re.IGNORECASE | re.DOTALL)
_NOMINAL = re.compile(rf"\{{((?:\s*+(?:{_QUOTED}|{_PLAIN})\s*+(?:,|(?=\}})))*+)\s*+\}}\s*+(?:%.*)?", re.DOTALL)
_TYPE = re.compile(rf"(\w++)\s*+({_QUOTED}|[^\s%]++)?\s*+(?:%.*)?", re.DOTALL)
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}
NUMERIC_TYPES = ("numeric", "real", "integer")  # Types that are read as numbers.
_WEKA_DATE = "yyyy-MM-dd'T'HH:mm:ss"  # Weka's own form
# Parts of Java's forms of dates, and the same in Python.
_PARTS = {
    "yyyy": "%Y", "yy": "%y", "MMMM": "%B", "MMM": "%b", "MM": "%m", "M": "%m", "dd": "%d", "d": "%d", "HH": "%H",
    "H": "%H", "hh": "%I", "h": "%I", "a": "%p", "mm": "%M", "m": "%M", "ss": "%S", "s": "%S", "SSS": "%f",
    "EEEE": "%A", "EEE": "%a", "E": "%a", "D": "%j", "DDD": "%j", "Z": "%z", "X": "%z", "XX": "%z", "XXX": "%z",
}  # fmt: skip
_FORM = re.compile(r"'([^']*)'|([A-Za-z])\2*|([^A-Za-z']+)")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)  # Dates are milliseconds since then.


@dataclass(frozen=True)
class ArffAttribute:
    """A column.

    Attributes
    ----------
    name : str
    number : callable, or None
        Makes a number of the text of a value; None for columns of text.
    values : tuple of str, or None
        The values that a nominal column may have.
    """

    name: str
    number: Callable[[str], float] | None
    values: tuple[str, ...] | None = None


def attribute(path: Path, line: str, number: int) -> ArffAttribute:
    """Return the column that a line of the header declares.

    Parameters
    ----------
    number : int
        Number of the line, for the error.
    """
    found = _ATTRIBUTE.fullmatch(line)
    if found is None:
        raise DataError(path, f"not '@attribute name type': {line!r} (a name with spaces is in quotes)", number)
    name, kind = _text_of(found[1]), found[2].strip()
    if kind.startswith("{"):
        nominal = _NOMINAL.fullmatch(kind)
        if nominal is None:
            message = f"the values of {name!r} are not a list {{a,b,'c d'}}: one with spaces or signs is in quotes"
            raise DataError(path, message, number)
        return ArffAttribute(name, None, tuple(_text_of(word) for word in _WORD.findall(nominal[1])))
    typed = _TYPE.fullmatch(kind)
    word = "" if typed is None else typed[1].lower()
    form = None if typed is None else typed[2]
    if word == "date":
        return ArffAttribute(name, _date(path, name, _WEKA_DATE if form is None else _text_of(form), number))
    if form is None and word in NUMERIC_TYPES:
        return ArffAttribute(name, float)
    if form is None and word == "string":
        return ArffAttribute(name, None)
    known = f"{', '.join(NUMERIC_TYPES)}, string, date and {{a,b}}"
    raise DataError(path, f"the type of {name!r} is {kind or 'missing'!r}; the types that are read are {known}", number)


def _text_of(word: str) -> str:
    """Return a word without its quotes."""
    if word[0] not in "'\"":
        return word
    return _ESCAPE.sub(lambda found: _ESCAPES.get(found[1], _escaped(found[1])), word[1:-1])


def _escaped(sign: str) -> str:
    return chr(int(sign[1:], 16)) if len(sign) > 1 else sign


def _date(path: Path, name: str, form: str, number: int) -> Callable[[str], float]:
    """Return the reading of dates: milliseconds since 1970 as in Weka, in UTC unless the date has a zone."""
    pieces = [_piece(found) for found in _FORM.finditer(form)]
    if None in pieces or "".join(found[0] for found in _FORM.finditer(form)) != form:
        raise DataError(path, f"the form {form!r} of the dates of {name!r} is not known", number)
    pattern = "".join(piece or "" for piece in pieces)
    try:
        with suppress(ValueError):  # no date
            datetime.strptime("", pattern)  # noqa: DTZ007
    except re.error as error:  # the expression that strptime makes has a group for each part
        raise DataError(path, f"the form {form!r} of the dates of {name!r} names a part twice", number) from error

    def milliseconds(text: str) -> float:
        date = datetime.strptime(text, pattern)  # noqa: DTZ007 (the zone follows)
        return ((date if date.tzinfo else date.replace(tzinfo=UTC)) - _EPOCH).total_seconds() * 1000.0

    return milliseconds


def _piece(found: re.Match[str]) -> str | None:
    """Return a part of a form of dates as Python writes it; None if Python has no such part."""
    if found[2]:
        return _PARTS.get(found[0])
    return (found[1] or ("'" if found[0] == "''" else found[3] or "")).replace("%", "%%")
