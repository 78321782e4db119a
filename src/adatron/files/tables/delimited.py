"""Read delimited text: one sample a row, fields between commas, semicolons, tabs, bars or spaces.

pandas reads the values. It fills short rows up, and does not say in which line it stopped. So a text with quotes, or
with gaps in its last column, is read once more by Python's csv module, which counts the fields. A text that pandas
refuses is looked at field by field, for the line and the fault.
"""

from __future__ import annotations

import csv
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from math import isfinite, nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...extras import needed
from ..source import open_text
from ..table import MISSING, MISSING_LABELS, SEPARATOR_NAMES, DataError, Dialect, Path, Request, Table, check_size
from .columns import Columns, missing_value, table_of
from .dialect import find_dialect, is_surplus
from .fields import TEXT, TRUTH, Lines, Marks, is_number, is_value, labels_of, number_of, split_records

SAMPLED_LINES = 500  # Lines from which the form of a text is inferred.
ENTRY = 120  # Bytes of a distinct text.
WORDY = 0.1  # Share of words among the values of a column from which on it is none of numbers.
Numbered = list[tuple[int, str]]  # lines with their numbers
_HINT = re.compile(r'"?sep=(.)"?', re.IGNORECASE)  # the first line that Excel takes for its own


@dataclass(frozen=True)
class Body:
    """The rows of one text, which become a frame: their form, and what the columns are.

    first : the line of the first row
    words, truths : the features that hold words, or truth values alone; all others are numbers
    declared : the texts that some columns may have; nothing stands for any
    """

    columns: Columns
    dialect: Dialect
    first: int
    words: Set[int]
    truths: Set[int]
    marks: Marks = TEXT
    declared: Mapping[int, frozenset[str]] = field(default_factory=dict[int, frozenset[str]])

    @property
    def request(self) -> Request:
        return self.columns.request

    @cached_property
    def texts(self) -> set[int]:
        """The features that are read as text."""
        features = enumerate(self.columns.features)
        return {index for at, index in features if self.request.takes_text(at, index in self.words)}

    def table(self, lines: Lines) -> Table:
        """Return the table of all rows."""
        path, width = self.columns.path, self.columns.width
        try:
            frame = self._frame(lines)
            last = frame[width - 1]
            padded = bool((last.isna() if last.dtype == np.float64 else last == "").any())
            for index in range(width):
                if frame[index].dtype != np.float64:
                    frame[index] = self._words(index, frame[index])
        except (DataError, UnicodeError):
            raise
        except (ValueError, KeyError) as error:  # those of pandas, too
            self._check_rows(True)
            raise DataError(path, f"not a table ({error})") from error
        if lines.quotes or padded:
            self._check_rows(False)
        return table_of(self.columns, frame, self.dialect)

    def _frame(self, lines: Lines) -> Any:
        """Return the columns as pandas reads them: numbers, and all else as text."""
        pandas = needed("pandas", "cli", "reading a table takes")
        separator, width = self.dialect.separator, self.columns.width
        exact = {} if tuple(map(int, pandas.__version__.split(".")[:2])) > (3, 0) else {"float_precision": "round_trip"}
        numbers = set(self.columns.features) - self.words - self.truths - self.texts
        frame = pandas.read_csv(
            lines, sep=r"\s+" if separator == " " else separator, header=None, engine="c", skipinitialspace=True,
            dtype={index: np.float64 if index in numbers else object for index in range(width)},
            na_values={index: list(self.request.marks) for index in numbers},
            keep_default_na=False, decimal=self.dialect.decimal, quotechar=self.marks.quote,
            escapechar=self.marks.escape, **exact,
        )  # fmt: skip
        if frame.shape[1] != width:
            raise ValueError(f"{frame.shape[1]} fields")
        for index in numbers:
            values = frame[index].to_numpy()
            if np.isinf(values).any() if self.request.allow_missing else not np.isfinite(values).all():
                raise ValueError("a value is no finite number")
        return frame

    def _words(self, index: int, column: Any) -> NDArray[Any]:
        """Return a column of labels, of text, or of truth values; a ValueError says that one has none."""
        most, (codes, uniques) = self.request.max_bytes, column.factorize()
        texts = [text.strip() for text in uniques]
        check_size(self.columns.path, "texts", ENTRY * len(texts), most)
        if index in self.columns.left_out:
            return codes
        if self.declared.get(index) and not self.declared[index].issuperset({*texts} - self.request.gaps):
            raise ValueError("a value is not declared")
        if index == self.columns.label:
            if not self.request.gaps.union(MISSING_LABELS).isdisjoint(texts):
                raise ValueError("a label is missing")
            check_size(self.columns.path, "labels", 4 * len(codes) * max(map(len, texts)), most)
            labels = labels_of(texts, self.dialect.decimal)
            if labels.dtype.kind == "f" and not np.isfinite(labels).all():
                raise ValueError("a label is not a finite number")
            as_read = labels.dtype.kind in "iu" and list(map(str, labels.tolist())) == texts
            # Declared texts are names of classes: 07 and 7.0 are others than 7.
            return (np.array(texts) if index in self.declared and not as_read else labels)[codes]
        marks = self.request.gaps if index in self.texts else self.request.marks
        if not (self.request.allow_missing or marks.isdisjoint(texts)):
            raise ValueError("a value is missing")
        if index in self.texts:
            return np.array([nan if text in marks else text for text in texts], object)[codes]
        return np.array([nan if text in marks else TRUTH[text] for text in texts], float)[codes]

    def _check_rows(self, values: bool) -> None:
        """Fail at the first row that has another number of fields, or a field that has no value."""
        for line, fields in self._records():
            if len(fields) != self.columns.width:
                separator = SEPARATOR_NAMES.get(self.dialect.separator, repr(self.dialect.separator))
                fault = f"{len(fields)} fields found, {self.columns.width} expected (the separator is {separator}, "
                raise DataError(self.columns.path, f"{fault}--separator names another)", line)
            for index, one in enumerate(fields) if values else ():
                fault = self._fault(index, one)
                if fault is not None:
                    raise DataError(self.columns.path, fault, line)

    def _records(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the line in which each record begins, and its fields; a broken quote is an error."""
        begun: list[int] = []

        def texts(lines: Iterable[tuple[int, str]]) -> Iterator[str]:
            for number, line in lines:
                if number >= self.first:
                    begun.append(number)
                    yield line

        with open_text(self.columns.path, self.request.max_bytes, self.request.encoding) as stream:
            lines = texts(Lines(self.columns.path, stream, self.marks))
            try:
                for fields in split_records(lines, self.dialect.separator, self.marks, strict=True):
                    yield begun[0], fields
                    begun.clear()
            except csv.Error as error:
                raise DataError(self.columns.path, f"not a table ({error})", begun[0]) from error

    def _fault(self, index: int, field: str) -> str | None:
        """Return the fault of a field; None if it has none."""
        request, where, decimal = self.request, self.columns.named(index), self.dialect.decimal
        value = number_of(field) if is_number(field, decimal) else nan
        if self.declared.get(index) and field not in self.declared[index] | request.gaps:
            return f"{where} holds {field!r}, which it does not declare"
        if index == self.columns.label:
            if field in request.gaps.union(MISSING_LABELS):
                return f"the label is missing ({field!r})"
            return f"the label {field!r} is not a finite number" if abs(value) == np.inf else None
        if index in self.columns.left_out or (index in self.texts and field not in request.gaps):
            return None
        if field in request.marks or value in [number_of(mark) for mark in request.marks if is_number(mark, decimal)]:
            return None if request.allow_missing else missing_value(where, repr(field))
        known = is_value(field, decimal, ())
        if field in TRUTH if index in self.truths else known if index in self.words else isfinite(value):
            return None
        if index in self.words and request.n_features is None:
            texts = [fields[0] for _, fields in islice(self._records(), SAMPLED_LINES)]
            return self.columns.refusal(index, field, texts)
        wanted = "a truth value" if index in self.truths else "a finite number"
        cure = "" if known else f"; if it is a mark of missing values, --missing {shlex.quote(field)} says so"
        return f"{where} holds {field!r}, not {wanted}{cure}{self.columns.label_note()}"


def read_delimited(path: Path, request: Request, separator: str) -> Table:
    """Read a table; numbers become dense float64.

    The file's name shows the ``separator``, which is the one to take if others fit as well.
    """
    with open_text(path, request.max_bytes, request.encoding, cost) as stream:
        lines = Lines(path, stream)
        sample = lines.take(SAMPLED_LINES)
        hint = _HINT.fullmatch(sample[0][1].strip()) if sample else None
        if hint:
            request, sample = replace(request, separator=request.separator or hint[1]), sample[1:]
        body, sample = _begin(path, sample, request, separator)
        lines.put_back(sample)
        return body.table(lines)


def cost(text: bytes) -> int:
    """Return the bytes of the values of a text: its fields end at some separator, or at the end of a line."""
    return 8 * (max(map(text.count, (b",", b";", b"\t", b"|", b" "))) + text.count(b"\n"))


def _begin(path: Path, sample: Numbered, request: Request, separator: str) -> tuple[Body, Numbered]:
    """Infer the form and the roles of the columns from the first lines; return them, and the lines below the header."""
    if not sample:
        raise DataError(path, "the file holds no data")
    line = sample[0][0]
    texts = [text for _, text in sample]
    if "\0" in texts[0]:
        fault = "not a text file: a byte is 0; --encoding says if it is UTF-16 without a byte order mark, as utf-16-le"
        raise DataError(path, fault, line)
    dialect, records = find_dialect(path, texts, request, separator, line)
    rows, first = (records[1:] if dialect.header else records), records[0]
    if not rows:
        quote = "; a quote in the header may have no end" * ('"' in texts[0])
        raise DataError(path, f"a header row and no data{quote}", line)
    if dialect.header:
        rest = iter(texts)
        next(split_records(rest, dialect.separator))
        sample = sample[len(texts) - len(list(rest)) :]
        width = Counter(map(len, rows)).most_common(1)[0][0]
        first = ["", *first] if len(first) == width - 1 else first[:-1] if is_surplus(first, width) else first
    columns = Columns(path, first, dialect.header, request, line)
    words, truths = set[int](), set[int]()
    for index in columns.features:
        known = [row[index] for row in rows if index < len(row) and row[index] not in request.marks]
        if sum(not is_value(one, dialect.decimal, ()) for one in known) >= WORDY * len(known) > 0:
            words.add(index)
        elif known and all(one in TRUTH for one in known):
            truths.add(index)
    return Body(columns, dialect, sample[0][0], words, truths), sample


def plain_row(line: str, like: Table, worded: bool = False) -> Table | None:
    """Return the table of one row, or None unless it has numbers and a label in the places of those of another table.

    A stream brings such rows: this takes a tenth of the time that `read_delimited` takes to open a file, which reads
    all other rows, or says what is wrong with them. ``like`` is a row of the same text; all its columns are features,
    except the label. ``worded`` says that the other labels are text, whatever these look like.
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
    given = None if label is None else fields.pop(label)
    if given in MISSING or given in MISSING_LABELS or not all(is_number(field, dialect.decimal) for field in fields):
        return None
    values = [number_of(field) for field in fields]
    y: Any = None if given is None else np.array([given]) if worded else labels_of([given], dialect.decimal)
    if not all(map(isfinite, values)) or (y is not None and y.dtype.kind == "f" and not isfinite(y[0])):
        return None
    return Table(np.array([values]), y, label_column=label, dialect=dialect)
