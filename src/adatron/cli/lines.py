"""The lines of a stream: each is read as the readers of whole files would read it."""

from __future__ import annotations

import errno
import io
import os
import re
import stat
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

from sklearn.base import is_outlier_detector

from ..files import DataError, read
from ..files.labels import as_targets
from ..files.source import STANDARD_INPUT, Piped, data_lines, open_binary, uncompressed
from ..files.table import Request
from ..files.tables.columns import label_column
from ..files.tables.delimited import plain_row
from ..files.tables.dialect import find_dialect
from ..files.tables.readers import SEPARATOR, format_of
from ..pipelines import way_to
from .parts import counting_of

STANDARD_NAME = "standard input"  # What messages call it.

# Bytes that lines read together may take. Asking for the free memory would take longer than reading a line.
LINE_BYTES = 2**30

_FORGET = re.compile(r"\s*-(\d+)\s*$")


class Input:
    """An input, read line by line: a file, or standard input.

    name : for messages
    source : the name by which the model remembers the input
    growing : whether the file may still grow: it is on the disk and not compressed
    again : whether the input begins at the same line each time: it is a file
    inode : number of the file; empty if the input is not a file
    unfinished : number of its last line if that had no end, and was therefore left out
    """

    def __init__(self, path: str, encoding: str | None = None) -> None:
        self.path, self.encoding, self.standard = path, encoding, path == STANDARD_INPUT
        self.name, self.source = (STANDARD_NAME, path) if self.standard else (path, os.path.realpath(path))
        try:
            found = os.fstat(sys.stdin.fileno()) if self.standard else Path(path).stat()
            regular, inode = stat.S_ISREG(found.st_mode), str(found.st_ino)
        except (OSError, ValueError, AttributeError):  # another object stands in for the stream
            if not self.standard:
                raise
            regular, inode = False, ""
        self.again = regular and not self.standard
        self.inode = inode if self.again else ""
        self.growing = regular and (self.standard or uncompressed(path) == path)
        self.unfinished: int | None = None

    def lines(self) -> Iterator[tuple[int, str]]:
        """Yield lines with their numbers, as they come; without blank ones and comments.

        If the last line of a growing file has no end, it is half of a line, and is left out. At the end of a pipe or
        of a compressed file it is the last line.
        """
        if self.standard and sys.stdin is None:  # pyright: ignore[reportUnnecessaryComparison]
            raise OSError(errno.EBADF, "it is closed", STANDARD_NAME)
        if self.standard and self.encoding is None:
            yield from data_lines(self._whole(sys.stdin))
            return
        with (
            nullcontext(sys.stdin.buffer) if self.standard else open_binary(self.path) as plain,
            # A character that is not complete yet must not hide the lines before it.
            io.TextIOWrapper(plain, self.encoding or "utf-8-sig", errors="surrogateescape", newline="") as text,
        ):
            yield from data_lines(self._whole(text))

    def _whole(self, stream: TextIO) -> Iterator[str]:
        for number, line in enumerate(stream, 1):
            if self.growing and not line.endswith(("\n", "\r")):
                self.unfinished = number if line.strip() else None
                return  # data that come later belong to the same line
            try:
                line.encode()
            except UnicodeEncodeError as error:
                byte, encoding = ord(line[error.start]) & 0xFF, self.encoding or "UTF-8"
                raise DataError(self.name, f"not a text file (byte 0x{byte:02x} is not {encoding})", number) from error
            yield line


@dataclass
class LineReader:
    """Turns the lines of an input into samples.

    name : name of the input, for messages
    reading : arguments of ``files.read``; a first column is a feature, since a line alone does not show that it counts
    forget : whether a line with only a minus and a whole number forgets; None: unless it may be a sample
    labelled : whether a line has a label
    found : the form of the lines, as earlier ones have shown it
    like : a table of an earlier line, whose form the lines have; see `plain_row`
    """

    name: str
    reading: dict[str, Any]
    forget: bool | None
    labelled: bool = True
    way: Any = None
    classes: Any = None
    names: list[str] | None = None
    found: dict[str, Any] = field(default_factory=dict[str, Any])
    like: Any = None

    def below_header(self, lines: Iterator[tuple[int, str]]) -> Iterator[tuple[int, str]]:
        """Yield the lines of an input without its header, which says which column is the label.

        It must be the header of the lines that were learned before.
        """
        for number, text in islice(lines, 1):
            form = {name: self.reading[name] for name in ("separator", "decimal", "header", "missing")}
            request = Request(**form, max_bytes=LINE_BYTES)
            chosen = self.reading["format"] or format_of(Piped(self.name, text.encode()), request)
            if chosen not in SEPARATOR:
                yield number, text
                continue
            dialect, (names, *_) = find_dialect(self.name, [text], request, SEPARATOR[chosen], number)
            if not dialect.header:  # further lines would tell more, but they are still to come
                yield number, text
            elif self.names not in (None, names):
                here, before = ", ".join(names), ", ".join(self.names or ())
                raise DataError(self.name, f"its header ({here}) is not that of the lines before ({before})", number)
            else:
                self.found = {"separator": dialect.separator}
                self._take_names(names, number)
        yield from lines

    def _take_names(self, names: list[str], line: int | None = None) -> None:
        """Take the names of the columns, which say which one is the label."""
        self.names = names
        request = Request(self.reading["label"], self.reading["n_features"], self.labelled)
        self.reading = self.reading | {"label": label_column(self.name, names, request, line)}

    def expect(self, model: Any, last: Any) -> None:
        """Read from a model what lines it takes."""
        self.labelled = not is_outlier_detector(last)
        self.reading = self.reading | {"n_features": model.n_features_in_}
        if self.reading["zero_based"] is None:
            self.reading["zero_based"] = counting_of(model) == 0
        way = way_to(model)
        self.way = way if way.steps else None
        self.classes = getattr(last, "classes_", None)
        header = vars(last).get("header_")  # maybe from a file of a stranger
        names, label = (header.get("names"), header.get("label")) if isinstance(header, dict) else (None, None)
        if isinstance(names, list) and all(isinstance(name, str) for name in names):
            if self.reading["label"] is None and isinstance(label, int):
                self.reading["label"] = label
            self._take_names(names)

    def forgotten(self, number: int, text: str) -> int | None:
        """Return the id that a line says to forget, or None if it is a sample; an error if it may be either."""
        found = _FORGET.match(text)
        if not found or self.forget is False:
            return None
        if self.forget is None and self._may_be_sample(number, text):
            raise DataError(
                self.name,
                f"{text.strip()!r} is a sample without features, or forgets sample {found[1]}: give --forget or "
                "--no-forget, or write the sample with a feature, as in '-1 1:0'",
                number,
            )
        return int(found[1])

    def _may_be_sample(self, number: int, text: str) -> bool:
        """Return whether the line can be read as a sample, with a label that the model knows."""
        try:
            reading = self.reading | {"n_features": self.reading["n_features"] or 1}
            label = replace(self, reading=reading).table(number, [text]).y
        except ValueError:
            return False
        return label is None or self.classes is None or bool(label[0] in self.classes)

    def table(self, first: int, texts: list[str]) -> Any:
        """Return samples and labels of some lines; the first one has this number.

        The form of the first lines is that of the next ones, too.
        """
        piped, form = Piped(uncompressed(self.name), "\n".join(texts).encode()), self.reading | self.found
        at = {name: number for number, name in enumerate(self.names or ())}  # the header is not there
        form |= {"drop": tuple(at.get(one, one) for one in form["drop"]), "index": at.get(form["index"], form["index"])}
        form |= {"keep_index": True, "header": False, "encoding": None, "zero_based": bool(form["zero_based"])}
        try:
            table = read(piped, labelled=self.labelled, max_bytes=LINE_BYTES, **form)
        except DataError as error:
            raise DataError(self.name, error.problem, first) from error
        found = table.dialect
        if found is not None and table.shape[1] > 1:
            # Whole numbers alone do not show the decimal sign.
            sign = found.decimal if "," in (found.decimal, found.separator) else form["decimal"]
            self.found = {"separator": found.separator, "decimal": sign}
            plain = not form["drop"] and form["index"] is None and form["missing"] is None
            self.like = replace(table, X=table.X[:1], y=None) if plain else None
        return table

    def parse(self, number: int, text: str) -> tuple[Any, Any]:
        """Return the sample of a line, and its label, of the kind that the model's classes have."""
        kind = "" if self.classes is None else self.classes.dtype.kind
        table = self.table(number, [text]) if self.like is None else None  # which may be what shows the form
        row = None if self.like is None else plain_row(text, self.like, kind == "U")
        table = row or table or self.table(number, [text])
        X, y = (table.X if self.way is None else self.way.taken(table.X)), table.y
        found = as_targets(y) if y is not None and y.dtype.kind == "U" and kind in ("i", "u", "f") else None
        return X, y if found is None else found
