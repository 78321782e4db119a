"""The fields of a text: which are values, and labels as they were written."""

from __future__ import annotations

import re
from collections.abc import Collection
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

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(?i:inf(inity)?)", re.ASCII)
_WITH_COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?", re.ASCII)
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+", re.ASCII)
_WHOLE = re.compile(r"[+-]?\d+", re.ASCII)
_PADDED = re.compile(r"[+-]?0\d+", re.ASCII)
_CODE = re.compile(r"\+\d+|[+-]?\d+[eE]\d+", re.ASCII)  # whole, but hardly written so
LONGEST_WHOLE = 24  # Characters of a whole number of up to 64 bits, more or less.


def is_number(text: str, decimal: str = ".") -> bool:
    """Tell whether a stripped field is a number, finite or infinite."""
    if decimal == "," and "." in text:
        return False
    return bool((_WITH_COMMA if decimal == "," and "," in text else _NUMBER).fullmatch(text))


def number_of(text: str) -> float:
    """Return the number that a field stands for, with either decimal sign."""
    return float(text.replace(",", "."))


def is_value(text: str, decimal: str, missing: Collection[str]) -> bool:
    """Tell whether a stripped field is a number, a truth value or a mark of a missing one, and not a word."""
    return text in missing or text in TRUTH or is_number(text, decimal)


def has_comma(text: str) -> bool:
    """Tell whether a stripped field is a number with a decimal comma."""
    return bool(_WITH_COMMA.fullmatch(text))


def may_be_thousands(text: str) -> bool:
    """Tell whether the commas of a stripped field may stand between thousands, as in 1,234."""
    return bool(_THOUSANDS.fullmatch(text))


def labels_of(texts: list[str], decimal: str = ".") -> NDArray[Any]:
    """Return labels in the type that writes them back as they were read.

    Whole numbers are int64 or uint64, other numbers float64, True and False truth values, all else text. Text are also
    numbers with zeros in front, as 007, whole numbers of more than 64 bits, and, among whole numbers, 12E3 and +1.
    """
    as_text = np.array(texts, dtype=np.str_)
    if not all(is_number(text, decimal) for text in texts) or any(map(_PADDED.fullmatch, texts)):
        return np.array([text == "True" for text in texts]) if set(texts) <= {"True", "False"} else as_text
    y = np.array([number_of(text) for text in texts])
    if np.all(y == np.rint(y)) and any(map(_CODE.fullmatch, texts)):
        return as_text
    whole = [bool(_WHOLE.fullmatch(text)) for text in texts]
    if all(whole):
        fits = max(map(len, texts)) <= LONGEST_WHOLE
        found = whole_numbers([int(text) for text in texts]) if fits else None
        return as_text if found is None else found
    return as_text if (np.abs(y[whole]) >= LARGEST_EXACT_INTEGER).any() else whole_if_possible(y)
