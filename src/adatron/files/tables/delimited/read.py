"""Read delimited text: one sample a row, fields between commas, semicolons, tabs, bars or spaces.

pandas reads the values. It fills short rows up, and does not say in which line it stopped. So a text with quotes, or
with gaps in its last column, is read once more by Python's csv module, which counts the fields. A text that pandas
refuses is looked at field by field, for the line and the fault.
"""

from __future__ import annotations

import re
import shlex
import sys
import warnings
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import isfinite, nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....extras import needed
from ...labels import named_labels
from ...source import open_text
from ...table import MISSING_LABELS, SEPARATOR_NAMES, DataError, Dialect, Path, Request, Table, check_size
from ..cells import MISSING, TRUTH, WORDS, Kind, is_number, kind_of, kind_of_all, labels_of, refusal
from ..columns import Roles, label_advice, label_note, named, roles_of, table_of_columns
from .dialect import Records, find_dialect, is_surplus
from .lines import TEXT, Chunk, Lines, Marks, numbered_records, split_records

SAMPLED_LINES = 500  # Lines from which the form of a text is inferred.
ENTRY = 120  # Bytes of a distinct text.
WORDY = 0.1  # Share of text among the values of a column from which on it is a column of text.
_HINT = re.compile(r'"?sep=(.)"?', re.IGNORECASE)  # the first line that Excel takes for its own


@dataclass(frozen=True)
class Body:
    """The rows of one text: their form, the roles of the columns, and the kinds of the features in the first rows.

    Attributes
    ----------
    first : int
        The line of the first row.
    texts : frozenset of int
        The features that are read as text.
    advice : str
        The option that makes the first column the label, if its texts repeat in the first rows.
    declared : mapping of int to frozenset of str
        The texts that some columns may have; nothing stands for any.
    """

    path: Path
    request: Request
    dialect: Dialect
    names: list[str] | None
    roles: Roles
    first: int
    kinds: dict[int, Kind]
    texts: frozenset[int]
    advice: str
    marks: Marks = TEXT
    declared: Mapping[int, frozenset[str]] = field(default_factory=dict[int, frozenset[str]])

    @property
    def missing(self) -> frozenset[str]:
        """The marks of missing values."""
        return frozenset(MISSING if self.request.missing is None else self.request.missing)

    @cached_property
    def numeric_gaps(self) -> list[float]:
        """The numbers that stand for a missing value, as -999."""
        decimal = self.dialect.decimal
        return [float(mark.replace(",", ".")) for mark in self.missing if is_number(mark, decimal)]

    @property
    def gaps(self) -> frozenset[str]:
        """The marks of missing labels, and of those in columns of text."""
        return self.missing - WORDS if self.request.missing is None else self.missing

    def table(self, lines: Lines) -> Table:
        """Return the table of all rows."""
        frame: Any = None
        try:
            frame = self._frame(lines)
            columns = [self._column(index, frame[index]) for index in range(self.roles.width)]
        except (DataError, UnicodeError):
            raise
        except (ValueError, KeyError) as error:  # those of pandas, too
            self._check_rows(True)
            raise DataError(self.path, f"not a table ({error})") from error
        last = frame[self.roles.width - 1]
        if lines.quotes or (last.isna() if last.dtype == np.float64 else last == "=").any():
            self._check_rows(False)
        del frame, last
        return replace(table_of_columns(self.path, self.names, columns, self.roles, self.request), dialect=self.dialect)

    def _frame(self, lines: Lines) -> Any:
        """Return the columns as pandas reads them: numbers, and texts."""
        pandas = needed("pandas", "cli", "reading a table takes")
        separator, width = self.dialect.separator, self.roles.width
        exact = {} if tuple(map(int, pandas.__version__.split(".")[:2])) > (3, 0) else {"float_precision": "round_trip"}
        words = [i for i in range(width) if i not in self.kinds or i in self.texts or self.kinds[i] == Kind.TRUTH]
        with warnings.catch_warnings(action="ignore", category=pandas.errors.ParserWarning):  # no dtype for words
            frame = pandas.read_csv(
                lines, sep=r"\s+" if separator == " " else separator, header=None, engine="c", skipinitialspace=True,
                dtype=np.float64, converters=dict.fromkeys(words, _word), na_values=list(self.missing),
                keep_default_na=False, decimal=self.dialect.decimal, quotechar=self.marks.quote,
                escapechar=self.marks.escape, **exact,
            )  # fmt: skip
        if frame.shape[1] != width:
            raise ValueError(f"{frame.shape[1]} fields")
        return frame

    def _column(self, index: int, column: Any) -> NDArray[Any]:
        """Return the values of a column; a ValueError says that one has none."""
        if column.dtype == np.float64:
            values = column.to_numpy()
            if np.isinf(values).any() or (not self.request.allow_missing and np.isnan(values).any()):
                raise ValueError("a value is no finite number")
            return values
        codes, uniques = column.factorize()
        check_size(self.path, "texts", ENTRY * len(uniques), self.request.max_bytes)
        texts = [text[1:] for text in uniques]
        if self.declared.get(index) and not self.declared[index].issuperset({*texts} - self.gaps):
            raise ValueError("a value is not declared")
        if index == self.roles.label:
            check_size(self.path, "labels", 4 * len(codes) * max(map(len, texts)), self.request.max_bytes)
            whole = index in self.declared  # names of classes, not numbers
            labels = named_labels(self.path, texts, sys.maxsize) if whole else labels_of(texts, self.dialect.decimal)
            if not self.gaps.isdisjoint(texts) or not set(MISSING_LABELS).isdisjoint(texts):
                raise ValueError("a label is missing")
            if labels.dtype.kind == "f" and not np.isfinite(labels).all():
                raise ValueError("a label is not a finite number")
            return labels[codes]
        if index in self.roles.left_out:
            return codes
        marks = self.gaps if index in self.texts else self.missing
        if not self.request.allow_missing and not marks.isdisjoint(texts):
            raise ValueError("a value is missing")
        if index in self.texts:
            return np.array([nan if text in marks else text for text in texts], object)[codes]
        return np.array([nan if text in marks else TRUTH[text] for text in texts])[codes]

    def _check_rows(self, values: bool) -> None:
        """Fail at the first row that has another number of fields, or a field that has no value."""
        with open_text(self.path, self.request.max_bytes, self.request.encoding) as stream:
            lines = (pair for pair in Lines(self.path, stream, self.marks) if pair[0] >= self.first)
            for line, fields in numbered_records(self.path, lines, self.dialect.separator, self.marks):
                if len(fields) != self.roles.width:
                    separator = SEPARATOR_NAMES.get(self.dialect.separator, repr(self.dialect.separator))
                    found = f"{len(fields)} fields found, {self.roles.width} expected"
                    raise DataError(
                        self.path, f"{found} (the separator is {separator}, --separator names another)", line
                    )
                for index, field in enumerate(fields) if values else ():
                    fault = self._fault(index, field)
                    if fault is not None:
                        raise DataError(self.path, fault, line)

    def _fault(self, index: int, field: str) -> str | None:
        """Return the fault of a field; None if it has none."""
        request, where, decimal = self.request, named(index, self.names), self.dialect.decimal
        kind, value = kind_of(field, decimal, self.missing), nan
        if is_number(field, decimal):
            value = float(field.replace(",", "."))
        if self.declared.get(index) and field not in self.declared[index] | self.gaps:
            return f"{where} holds {field!r}, which it does not declare"
        if index == self.roles.label:
            if field in self.gaps or field in MISSING_LABELS:
                return f"the label is missing ({field!r})"
            return None if abs(value) < np.inf or kind != Kind.NUMBER else f"the label {field!r} is not a finite number"
        known = self.kinds.get(index)
        if known is None or (index in self.texts and field not in self.gaps):
            return None
        if kind == Kind.MISSING or value in self.numeric_gaps:
            return None if request.allow_missing else refusal(where, Kind.MISSING, field)
        if (isfinite(value) and known != Kind.TRUTH) or kind == known == Kind.TRUTH:
            return None
        note = label_note(self.roles.label, self.names, request)
        if request.n_features is None and kind == known == Kind.TEXT:  # a model expects numbers
            return refusal(where, kind, field, "" if index else self.advice) + note
        wanted = "a truth value" if known == Kind.TRUTH else "a finite number"
        cure = f"; if it is a mark of missing values, --missing {shlex.quote(field)} says so" * (kind != Kind.NUMBER)
        return f"{where} holds {field!r}, not {wanted}{cure}{note}"


def read_delimited(path: Path, request: Request, separator: str) -> Table:
    """Read a table; numbers become dense float64.

    Parameters
    ----------
    separator : str
        The separator that the file's name shows: the one to take if others fit as well.
    """
    with open_text(path, request.max_bytes, request.encoding, cost) as stream:
        lines = Lines(path, stream)
        sample = lines.take(SAMPLED_LINES)
        hint = _HINT.fullmatch(sample.lines[0].strip()) if sample.lines else None
        if hint:
            request, sample = replace(request, separator=request.separator or hint[1]), sample.after(1)
        body, sample = _begin(path, sample, request, separator)
        lines.put_back(sample.lines)
        return body.table(lines)


def _word(text: str) -> str:
    """Return a text with a sign before it, so that it stands for no missing value."""
    return f"={text.strip()}"


def cost(text: bytes) -> int:
    """Return the bytes of the values of a text: its fields end at some separator, or at the end of a line."""
    return 8 * (max(map(text.count, (b",", b";", b"\t", b"|", b" "))) + text.count(b"\n"))


def _begin(path: Path, sample: Chunk, request: Request, separator: str) -> tuple[Body, Chunk]:
    """Infer the form and the roles of the columns from the first lines; return them, and the lines below the header."""
    if not sample.lines:
        raise DataError(path, "the file holds no data")
    missing, line = frozenset(MISSING if request.missing is None else request.missing), sample.numbers[0]
    if "\0" in sample.lines[0]:
        fault = "not a text file: a byte is 0; --encoding says if it is UTF-16 without a byte order mark, as utf-16-le"
        raise DataError(path, fault, line)
    dialect, records = find_dialect(path, sample.lines, request, separator, missing, line)
    rows, first = (records[1:] if dialect.header else records), records[0]
    if not rows:
        quote = "; a quote in the header may have no end" * ('"' in sample.lines[0])
        raise DataError(path, f"a header row and no data{quote}", line)
    if dialect.header:
        rest = iter(sample.lines)
        next(split_records(rest, dialect.separator))
        sample = sample.after(len(sample.lines) - len(list(rest)))
        width = Counter(map(len, rows)).most_common(1)[0][0]
        first = ["", *first] if len(first) == width - 1 else first[:-1] if is_surplus(first, width) else first
    names, start = first if dialect.header else None, sample.numbers[0]
    roles = roles_of(path, first, dialect.header, request, line)
    kinds = {index: _kind(rows, index, dialect, missing) for index in roles.features}
    texts = [index for at, index in enumerate(roles.features) if request.takes_text(at, kinds[index] == Kind.TEXT)]
    advice = label_advice(0, [record[0] for record in rows], roles.label, request)
    return Body(path, request, dialect, names, roles, start, kinds, frozenset(texts), advice), sample


def _kind(rows: Records, index: int, dialect: Dialect, missing: frozenset[str]) -> Kind:
    """Return the kind of a column; a few words among numbers are faults, and the column one of numbers."""
    kinds = [kind_of(record[index], dialect.decimal, missing) for record in rows if index < len(record)]
    kind = kind_of_all(kinds)
    known = [one for one in kinds if one != Kind.MISSING]
    if kind == Kind.TEXT and sum(one == Kind.TEXT for one in known) < WORDY * len(known):
        return Kind.NUMBER
    return Kind.NUMBER if kind == Kind.MISSING else kind
