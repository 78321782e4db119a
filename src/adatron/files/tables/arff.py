"""Read ARFF, the format of Weka."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import arff
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..labels import exact_numbers, named_labels
from ..source import open_text
from ..table import MISSING_LABELS, DataError, Path, Request, Table, check_size
from .arff_header import Attribute, attribute
from .cells import Kind, refusal
from .columns import Roles, roles_of, table_of_columns

# Bytes of memory that a byte of the text may become: a row is an object of Python for each of its values.
EXPANSION = 2
# Bytes of a row besides its values, and of a text.
ROW, TEXT = 40, 8
_QUOTED_OR_SPACE = re.compile(r"""('(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+")|\s++""")
_UNUSUAL = re.compile(r"""["'{}\s]""")
_WEIGHT = re.compile(r",\s*+\{[^{}]*+\}$")


def read_arff(path: Path, request: Request) -> Table:
    """Read numbers, dates, texts and nominal values; rows in braces, {1 2.5, 4 yes}, leave out zeros.

    Numeric features of such rows become CSR. In them a nominal value that is left out is the first one of its column.
    """
    with open_text(path, request.max_bytes // EXPANSION, request.encoding) as stream:
        lines = ((number, line.strip()) for number, line in enumerate(stream, 1))
        lines = ((number, line) for number, line in lines if line and not line.startswith("%"))
        attributes = _header(path, lines)
        names = [one.name for one in attributes]
        if not names:
            raise DataError(path, "the file holds no columns")
        rows = _Rows(path, lines, attributes)
        data = _Columns(path, attributes, roles_of(path, names, True, request, lambda *_: None), request)
        for row in rows:
            data.add(rows.line, row)
    if not data.lines:
        raise DataError(path, "a header and no data")
    return data.table(rows.sparse)


def _header(path: Path, lines: Iterator[tuple[int, str]]) -> list[Attribute]:
    """Return the columns; the next line is the first row."""
    attributes: list[Attribute] = []
    places: dict[str, int] = {}
    for number, line in lines:
        word = line.split(None, 1)[0].lower()
        if word == "@attribute":
            found = attribute(path, line, number)
            if found.name in places:
                raise DataError(path, f"column {found.name!r} is also in line {places[found.name]}", number)
            places[found.name] = number
            attributes.append(found)
        elif word == "@data":
            return attributes
        elif word != "@relation":
            raise DataError(path, f"@relation, @attribute or @data expected, {line!r} found: no ARFF file", number)
    raise DataError(path, "not an ARFF file: no @data")


class _Rows:
    """The rows as liac-arff splits them: a list of texts, or a dictionary of those in braces; None is missing.

    Attributes
    ----------
    line : number of the present line
    sparse : whether rows are in braces
    """

    def __init__(self, path: Path, lines: Iterator[tuple[int, str]], attributes: Sequence[Attribute]) -> None:
        self.path, self.width, self.line, self.sparse = path, len(attributes), 0, False
        self._lines, self._count = lines, 0

    def __iter__(self) -> Iterator[Any]:
        first = next(self._lines, None)
        if first is None:
            return
        self.sparse = first[1].startswith("{")
        header = ["@relation r", *(f"@attribute {number} string" for number in range(self.width)), "@data"]
        kind = arff.LOD_GEN if self.sparse else arff.DENSE_GEN
        try:
            for row in arff.ArffDecoder().decode(self._texts(header, first), return_type=kind)["data"]:
                if self.sparse and len(row) != self._count:
                    raise DataError(self.path, "a column has two values, or none after its number", self.line)
                yield row
        except (DataError, MemoryError):
            raise
        except arff.BadDataFormat as error:
            message = f"a number of a column is beyond the columns 0 to {self.width - 1}"
            raise DataError(self.path, message, self.line) from error
        except Exception as error:  # the library does not list its errors
            reason = getattr(error, "message", None) or str(error)
            raise DataError(self.path, f"not a row of an ARFF file ({_without_line(reason)})", self.line) from error

    def _texts(self, header: list[str], first: tuple[int, str]) -> Iterator[str]:
        yield from header
        self.line, line = first
        yield self._checked(line)
        for self.line, line in self._lines:  # noqa: B020 (the present line)
            yield self._checked(line)

    def _checked(self, line: str) -> str:
        """Return a row with commas between its values, after checking their number: this bounds the memory."""
        if line.startswith("{") != self.sparse:
            raise DataError(self.path, "a row in braces among rows without them, or the other way round", self.line)
        bare = line
        if _UNUSUAL.search(line):
            bare = _QUOTED_OR_SPACE.sub(lambda found: "x" if found[1] else " ", line)
        if _WEIGHT.search(bare):
            raise DataError(self.path, "weights of rows, in braces at their end, are not read", self.line)
        if not self.sparse and self.width > 1 and "," not in bare:  # Weka also takes blanks and tabs
            line = _QUOTED_OR_SPACE.sub(lambda found: found[1] or ",", line)
            bare = bare.replace(" ", ",")
        count = bare.count(",") + 1
        self._count = count if bare.replace(" ", "") != "{}" else 0
        if count > self.width or (count < self.width and not self.sparse):
            raise DataError(self.path, f"{count} values found, {self.width} expected", self.line)
        return line


def _without_line(message: str) -> str:
    """Return a message of the library without its number of the line, which does not count from the file's start."""
    return re.sub(r",? (at|in) line %d", "", message).replace("%%", "%").rstrip(". ")


class _Columns:
    """The values column by column, as they come.

    Parameters
    ----------
    roles : Roles
        The columns that are features, and the label's column, as far as names tell them.
    """

    def __init__(self, path: Path, attributes: Sequence[Attribute], roles: Roles, request: Request) -> None:
        self.path, self.attributes, self.roles, self.request = path, attributes, roles, request
        self.label = label = roles.label
        self.lines = array("q")
        self._numbers = {i: array("d") for i, one in enumerate(attributes) if one.number and i != label}
        self._texts: dict[int, list[str | None]] = {i: [] for i in range(len(attributes)) if i not in self._numbers}
        self._known = {i: {text: text for text in attributes[i].values or ()} for i in self._texts}
        self._spent = 0
        # The values of rows in braces, if all features are numbers.
        self._rows, self._places, self._values = array("q", [0]), array("q"), array("d")
        self._lean = not set(self._texts) & set(roles.features) and request.categorical in (None, "auto", frozenset())

    def add(self, line: int, row: Any) -> None:
        """Add the values of a row."""
        self.lines.append(line)
        if isinstance(row, dict):
            self._add_sparse(line, row)
        else:
            for index, values in self._numbers.items():
                values.append(self._number(index, row[index], line))
            self._spent += 8 * len(self._numbers)
            for index in self._texts:
                self._add_text(index, row[index], line)
        self._spent += ROW
        check_size(self.path, "rows", self._spent, self.request.max_bytes, at_least=True)

    def _add_sparse(self, line: int, row: dict[int, str | None]) -> None:
        for index in self._texts:
            self._add_text(index, row[index] if index in row else self._first(index), line)
        if self._lean:
            found = sorted(index for index in row if index in self._numbers)
            self._places.extend(found)
            self._values.extend(self._number(index, row[index], line) for index in found)
            self._rows.append(len(self._places))
            self._spent += 16 * len(found)
        else:
            for index, values in self._numbers.items():
                values.append(self._number(index, row[index], line) if index in row else 0.0)
            self._spent += 8 * len(self._numbers)

    def _first(self, index: int) -> str | None:
        """Return what a value in braces is that was left out."""
        one = self.attributes[index]
        if one.number is not None:
            return "0"
        return one.values[0] if one.values else None

    def _number(self, index: int, text: str | None, line: int) -> float:
        if text is None:
            if self.request.allow_missing:
                return np.nan
            where = f"column {index} ({self.attributes[index].name})"
            raise DataError(self.path, refusal(where, Kind.MISSING, "?"), line)
        read = self.attributes[index].number
        try:
            number = np.nan if read is None else read(text)
        except (ValueError, OverflowError):
            number = np.nan
        if not abs(number) < np.inf:
            name = self.attributes[index].name
            raise DataError(self.path, f"column {index} ({name}) holds {text!r}, not a finite number or date", line)
        return number

    def _add_text(self, index: int, text: str | None, line: int) -> None:
        one, known = self.attributes[index], self._known[index]
        if index == self.label and (text is None or text in MISSING_LABELS):
            raise DataError(self.path, "the label is missing", line)
        if text is not None and text not in known:
            if one.values is not None:
                raise DataError(
                    self.path, f"column {index} ({one.name}) holds {text!r}, which it does not declare", line
                )
            known[text] = text
            self._spent += 4 * len(text) + ROW
        self._texts[index].append(None if text is None else known[text])
        self._spent += TEXT

    def table(self, in_braces: bool) -> Table:
        """Return all rows."""
        names = [one.name for one in self.attributes]
        if in_braces and self._lean:
            return self._sparse_table(names)
        columns = [self._column(index) for index in range(len(names))]
        return table_of_columns(self.path, names, columns, self.request)

    def _sparse_table(self, names: list[str]) -> Table:
        features = self.roles.features
        parts = np.frombuffer(self._values), np.frombuffer(self._places, np.int64), np.frombuffer(self._rows, np.int64)
        all_columns: Any = sparse.csr_matrix(parts, (len(self.lines), len(names)))
        X = sparse.csr_matrix(all_columns[:, features])
        X.eliminate_zeros()
        table = Table(X, None, tuple(names[index] for index in features), notes=self.roles.notes(names))
        if self.label is None:
            return table
        return replace(table, y=self._column(self.label), label_name=names[self.label], label_column=self.label)

    def _column(self, index: int) -> NDArray[Any]:
        """Return a column: numbers, or texts as objects, None where one is missing; labels in their final form."""
        if index in self._numbers:
            return np.frombuffer(self._numbers[index])
        if index != self.label:
            return np.array(self._texts[index], dtype=object)
        texts = [text for text in self._texts[index] if text is not None]
        if self.attributes[index].number is None:
            return named_labels(self.path, texts, self.request.max_bytes)
        if self.attributes[index].number is float:
            return exact_numbers(self.path, texts, self.lines)
        return np.array([self._number(index, text, line) for text, line in zip(texts, self.lines, strict=True)])
