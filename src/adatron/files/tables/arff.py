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
from .arff_header import ArffAttribute, attribute
from .cells import Kind, refusal
from .columns import Roles, roles_of, table_of_columns

# Bytes of memory that a byte of the text may become: a row is an object of Python for each of its values.
EXPANSION = 2
ROW = 40  # Bytes of a row, or of a text, besides its values.
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


def _header(path: Path, lines: Iterator[tuple[int, str]]) -> list[ArffAttribute]:
    """Return the columns; the next line is the first row."""
    attributes: list[ArffAttribute] = []
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

    def __init__(self, path: Path, lines: Iterator[tuple[int, str]], attributes: Sequence[ArffAttribute]) -> None:
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
    """The values as they come, row by row: numbers, and the number of a text among those of its column.

    A row in braces leaves out zeros, and so the text with the number 0.

    Parameters
    ----------
    roles : Roles
        The columns that are features, and the label's column, as far as names tell them.
    """

    def __init__(self, path: Path, attributes: Sequence[ArffAttribute], roles: Roles, request: Request) -> None:
        self.path, self.attributes, self.roles, self.request = path, attributes, roles, request
        self.lines = array("q")
        self._texts = {i: _known(one) for i, one in enumerate(attributes) if one.number is None or i == roles.label}
        self._values, self._places, self._rows = array("d"), array("q"), array("q", [0])
        self._spent = 0

    def add(self, line: int, row: Any) -> None:
        """Add the values of a row."""
        self.lines.append(line)
        for index, text in sorted(row.items()) if isinstance(row, dict) else enumerate(row):
            self._values.append(
                self._code(index, text, line) if index in self._texts else self._number(index, text, line)
            )
        if isinstance(row, dict):
            self._places.extend(sorted(row))
            self._rows.append(len(self._places))
        self._spent += ROW + (16 if isinstance(row, dict) else 8) * len(row)
        check_size(self.path, "rows", self._spent, self.request.max_bytes, at_least=True)

    def _number(self, index: int, text: str | None, line: int) -> float:
        name, read = self.attributes[index].name, self.attributes[index].number
        if text is None:
            if self.request.allow_missing:
                return np.nan
            raise DataError(self.path, refusal(f"column {name!r}", Kind.MISSING, "?"), line)
        try:
            number = np.nan if read is None else read(text)
        except (ValueError, OverflowError):
            number = np.nan
        if not abs(number) < np.inf:
            raise DataError(self.path, f"column {name!r} holds {text!r}, not a finite number or date", line)
        return number

    def _code(self, index: int, text: str | None, line: int) -> float:
        one, known = self.attributes[index], self._texts[index]
        if text not in known:
            if one.values is not None and text is not None:
                fault = f"column {one.name!r} holds {text!r}, which it does not declare"
                raise DataError(self.path, fault, line)
            known[text] = len(known)
            self._spent += 4 * len(text or "") + ROW
        return known[text]

    def table(self, in_braces: bool) -> Table:
        """Return all rows."""
        names, features, label = [one.name for one in self.attributes], self.roles.features, self.roles.label
        shape, values = (len(self.lines), len(names)), np.frombuffer(self._values)
        if not in_braces:
            return self._dense_table(names, values.reshape(shape))
        parts = values, np.frombuffer(self._places, np.int64), np.frombuffer(self._rows, np.int64)
        every: Any = sparse.csr_matrix(parts, shape)
        if set(self._texts) & set(features) or self.request.categorical not in (None, "auto", frozenset()):
            check_size(self.path, "rows", 8 * shape[0] * shape[1], self.request.max_bytes)
            return self._dense_table(names, every.toarray())
        X = sparse.csr_matrix(every[:, features])
        X.eliminate_zeros()
        table = Table(
            X, None, tuple(names[index] for index in features), notes=self.roles.notes(names), columns=tuple(features)
        )
        if label is None:
            return table
        y = self._labels(label, every[:, [label]].toarray()[:, 0])
        return replace(table, y=y, label_name=names[label], label_column=label)

    def _dense_table(self, names: list[str], values: NDArray[np.float64]) -> Table:
        columns: list[NDArray[Any]] = list(values.T)
        for index, known in self._texts.items():
            read = np.array([*known], object)[columns[index].astype(np.int64)]
            columns[index] = self._labels(index, values[:, index]) if index == self.roles.label else read
        return table_of_columns(self.path, names, columns, self.request)

    def _labels(self, index: int, codes: NDArray[np.float64]) -> NDArray[Any]:
        """Return labels in their final form."""
        known, read = [*self._texts[index]], self.attributes[index].number
        texts = [known[code] or "" for code in codes.astype(np.int64).tolist()]
        gap = next((line for text, line in zip(texts, self.lines, strict=True) if text in MISSING_LABELS), None)
        if gap is not None:
            raise DataError(self.path, "the label is missing", gap)
        if read is None:
            return named_labels(self.path, texts, self.request.max_bytes)
        if read is float:
            return exact_numbers(self.path, texts, self.lines)
        return np.array([self._number(index, text, line) for text, line in zip(texts, self.lines, strict=True)])


def _known(one: ArffAttribute) -> dict[str | None, int]:
    """Return the numbers of the texts of a column that its header shows, first what a row in braces leaves out."""
    first = (None,) if one.number is None else ("0",)
    return {text: code for code, text in enumerate(dict.fromkeys(one.values or first))}
