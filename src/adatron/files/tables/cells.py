"""The fields of a text: which kind of value each is, and labels as they were written."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..labels import whole_numbers
from ..table import LARGEST_EXACT_INTEGER, whole_if_possible

# Marks of a missing value unless the caller names others.
MISSING = (
    "", "?", "NA", "N/A", "n/a", "na", "#N/A", "#NA", "<NA>", "NaN", "nan", "NAN", "-nan", "-NaN", "null", "NULL",
    "None", "none",
)  # fmt: skip
# Those of them that are as likely a word: in a column of text, and among labels, they are one.
WORDS = frozenset({"na", "null", "NULL", "None", "none"})
# What spreadsheets write in the place of a value; the signs begin as a comment does.
SPREADSHEET_ERRORS = ("#N/A", "#NA", "#NULL!", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!")
# Words of truth and their numbers.
TRUTH = {"True": 1.0, "False": 0.0, "true": 1.0, "false": 0.0, "TRUE": 1.0, "FALSE": 0.0}

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_WITH_COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?", re.ASCII)
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+", re.ASCII)
_INFINITE = re.compile(r"[+-]?inf(inity)?", re.IGNORECASE)
_WHOLE = re.compile(r"[+-]?\d+", re.ASCII)
_PADDED = re.compile(r"[+-]?0\d+", re.ASCII)
_CODE = re.compile(r"\+\d+|[+-]?\d+[eE]\d+", re.ASCII)  # whole, but hardly written so
LONGEST_WHOLE = 24  # Characters of a whole number of up to 64 bits, more or less.


class Kind(IntEnum):
    """The kind of a field, or of all fields in a column."""

    MISSING = 0
    NUMBER = 1
    TRUTH = 2
    TEXT = 3


def is_number(text: str, decimal: str = ".") -> bool:
    """Tell whether a stripped field is a number, finite or infinite."""
    if decimal == "," and "." in text:
        return False
    pattern = _WITH_COMMA if decimal == "," and "," in text else _NUMBER
    return bool(pattern.fullmatch(text) or _INFINITE.fullmatch(text))


def has_comma(text: str) -> bool:
    """Tell whether a stripped field is a number with a decimal comma."""
    return "," in text and bool(_WITH_COMMA.fullmatch(text))


def may_be_thousands(text: str) -> bool:
    """Tell whether the commas of a stripped field may stand between thousands, as in 1,234."""
    return bool(_THOUSANDS.fullmatch(text))


def kind_of(text: str, decimal: str, missing: Collection[str]) -> Kind:
    """Return the kind of one stripped field."""
    if text in missing:
        return Kind.MISSING
    if is_number(text, decimal):
        return Kind.NUMBER
    return Kind.TRUTH if text in TRUTH else Kind.TEXT


def kind_of_all(kinds: Iterable[Kind]) -> Kind:
    """Return the kind of a column: that of its fields if it is the same, else text."""
    found = set(kinds) - {Kind.MISSING}
    if not found:
        return Kind.MISSING
    return found.pop() if len(found) == 1 else Kind.TEXT


def refusal(where: str, kind: Kind, example: str, label: str = "") -> str:
    """Return the sentence about a column that cannot be a feature as it is, and what helps.

    Parameters
    ----------
    where : str
        The column, in words.
    example : str
        A value of the column.
    label : str
        How to say that the column of text is the label; empty if it hardly is.
    """
    if kind == Kind.MISSING:
        return f"{where} holds {example!r}, a missing value: train --impute fills it in, --drop leaves the column out"
    advice = f"{label} says that it is the label, " if label else ""
    advice += "train --categorical auto encodes columns of text, --drop leaves this one out"
    return f"{where} holds {example!r}, text: {advice}"


def labels_of(texts: list[str], decimal: str = ".") -> NDArray[Any]:
    """Return labels in the type that writes them back as they were read.

    Whole numbers are int64 or uint64, other numbers float64, True and False truth values, all else text. Text are also
    numbers with zeros in front, as 007, whole numbers of more than 64 bits, and, among whole numbers, 12E3 and +1.
    """
    if not all(is_number(text, decimal) for text in texts) or any(_PADDED.fullmatch(text) for text in texts):
        truth = set(texts) <= {"True", "False"}
        return np.array([text == "True" for text in texts]) if truth else np.array(texts, dtype=np.str_)
    y = np.array([float(text.replace(",", ".")) for text in texts])
    if np.all(y == np.rint(y)) and any(_CODE.fullmatch(text) for text in texts):
        return np.array(texts, dtype=np.str_)
    if all(_WHOLE.fullmatch(text) for text in texts):
        fits = max(map(len, texts)) <= LONGEST_WHOLE
        whole = whole_numbers([int(text) for text in texts]) if fits else None
        return np.array(texts, dtype=np.str_) if whole is None else whole
    if any(_WHOLE.fullmatch(text) for text, one in zip(texts, y, strict=True) if abs(one) >= LARGEST_EXACT_INTEGER):
        return np.array(texts, dtype=np.str_)
    return whole_if_possible(y)
