"""The lines of a stream: each is read as the readers of whole files would read it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, cast

from ..data import Form

# Bytes that lines read together may take. Asking for the free memory would take longer than reading a line.
LINE_BYTES = 2**30

_FORGET = re.compile(r"\s*-(\d+)\s*$")


@dataclass(frozen=True)
class LineForm:
    """How a line is read.

    format : as in ``files.read``; None: the name or the line tells it
    label : column of the label in tables
    zero_based : whether features of LIBSVM text count from 0; None: as for the model, or from 1
    forget : whether a line with only a minus and a whole number forgets; None: unless it may be a sample
    form : form of the lines; a first column is a feature, since a line alone does not show that it counts
    """

    format: str | None
    label: int | str | None
    zero_based: bool | None
    features: int | None
    forget: bool | None
    form: Form


@dataclass
class LineReader:
    """Turns the lines of an input into samples.

    name : name of the input, for messages
    reading : how a line is read
    labelled : whether a line has a label
    found : the form with what earlier lines have shown
    like : a table of an earlier line, whose form the lines have; see `plain_row`
    """

    name: str
    reading: LineForm
    labelled: bool = True
    way: Any = None
    classes: Any = None
    names: list[str] | None = None
    header: str = ""
    found: Form | None = None
    like: Any = None

    def below_header(self, lines: Iterator[tuple[int, str]]) -> Iterator[tuple[int, str]]:
        """Yield the lines of an input without its header, which says which column is the label."""
        first = next(lines, None)
        if first is None:
            return
        names = self._header_of(*first)
        if names is None:
            yield first
        else:
            self.header = first[1]
            self._take_header(first[0], names)
        yield from lines

    def _header_of(self, number: int, text: str) -> list[str] | None:
        """Return the names in a header, whose separator is that of all lines; None if the line is no header."""
        from ...files.source import Piped
        from ...files.table import Request
        from ...files.tables.delimited.row import header_of
        from ...files.tables.readers import SEPARATOR, format_of

        form = self.reading.form
        request = Request(separator=form.separator, decimal=form.decimal, header=form.header, missing=form.missing)
        chosen = self.reading.format or format_of(
            Piped(self.name, text.encode()), replace(request, max_bytes=LINE_BYTES)
        )
        if chosen not in SEPARATOR:
            return None
        found = header_of(self.name, text, number, request, SEPARATOR[chosen])
        if found is None:
            return None
        self.found = replace(form, separator=found[1].separator)
        return found[0]

    def _read_with(self, **changed: Any) -> None:
        self.reading = replace(self.reading, **changed)

    def _take_header(self, line: int, names: list[str]) -> None:
        """Take a header, which must be that of the lines that were learned before."""
        from ...files import DataError

        if self.names is not None and names != self.names:
            before = ", ".join(self.names)
            raise DataError(
                self.name, f"its header ({', '.join(names)}) is not that of the lines before ({before})", line
            )
        self._take_names(names, line)

    def _take_names(self, names: list[str], line: int | None = None) -> None:
        """Take the names of the columns, which say which one is the label."""
        from ...files.table import Request
        from ...files.tables.columns import label_column

        self.names = names
        request = Request(self.reading.label, self.reading.features, self.labelled)
        self._read_with(label=label_column(self.name, names, request, line))

    def remember_header(self, last: Any) -> None:
        """Tell a model the names of its columns, and which one is the label."""
        if self.names is not None:
            last.header_ = {"names": self.names, "label": self.reading.label}

    def _recall_header(self, header: Any) -> None:
        """Take the columns of a model, which may be from a file of a stranger."""
        if not isinstance(header, dict):
            return
        names, label = cast("dict[str, Any]", header).get("names"), cast("dict[str, Any]", header).get("label")
        if not isinstance(names, list) or not all(isinstance(name, str) for name in cast("list[Any]", names)):
            return
        if self.reading.label is None and isinstance(label, int):
            self._read_with(label=label)
        self._take_names(cast("list[str]", names))

    def expect(self, model: Any, last: Any) -> None:
        """Read from a model what lines it takes."""
        from sklearn.base import is_outlier_detector

        from ...estimators.forms.way import way_to
        from ..parts import counting_of

        self.labelled = not is_outlier_detector(last)
        self._read_with(features=model.n_features_in_)
        way = way_to(model)
        self.way = way if way.steps else None
        self.classes = getattr(last, "classes_", None)
        self._recall_header(vars(last).get("header_"))
        if self.reading.zero_based is None:
            self._read_with(zero_based=counting_of(model) == 0)

    def forgotten(self, number: int, text: str) -> int | None:
        """Return the id that a line says to forget, or None if it is a sample.

        Raises
        ------
        DataError
            The line may be either.
        """
        from ...files import DataError

        found = _FORGET.match(text)
        if not found or self.reading.forget is False:
            return None
        if self.reading.forget is None and self._may_be_sample(number, text):
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
            reading = replace(self.reading, features=self.reading.features or 1)
            label = replace(self, reading=reading).table(number, [text]).y
        except ValueError:
            return False
        return label is None or self.classes is None or bool(label[0] in self.classes)

    def table(self, first: int, texts: list[str]) -> Any:
        """Return samples and labels of some lines; the first one has this number.

        The form of the first lines is that of the next ones, too.
        """
        from ...files import DataError, read
        from ...files.source import Piped, uncompressed

        name, reading = uncompressed(self.name), self.reading
        form = self.found or reading.form
        roles: Any = {"drop": self._columns(form.drop), "index": self._columns((form.index,))[0]}
        given: Any = vars(form) | roles | {"keep_index": True, "header": False, "encoding": None}
        piped, from_zero = Piped(name, "\n".join(texts).encode()), bool(reading.zero_based)
        try:
            table = read(
                piped, reading.format, reading.label, reading.features, self.labelled, from_zero, max_bytes=LINE_BYTES,
                **given,
            )  # fmt: skip
        except DataError as error:
            raise DataError(self.name, error.problem, first) from error
        found = table.dialect
        if found is not None and table.shape[1] > 1:
            # Whole numbers alone do not show the decimal sign.
            sign = found.decimal if "," in (found.decimal, found.separator) else form.decimal
            self.found = replace(form, separator=found.separator, decimal=sign)
            plain = not form.drop and form.index is None and form.missing is None
            self.like = replace(table, X=table.X[:1], y=None) if plain else None
        return table

    def _columns(self, given: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return columns by their numbers, if the header has their names."""
        names = self.names or []
        return tuple(names.index(one) if isinstance(one, str) and one in names else one for one in given)

    def parse(self, number: int, text: str) -> tuple[Any, Any]:
        """Return the sample of a line, and its label, of the kind that the model's classes have."""
        from ...files.labels import as_targets
        from ...files.tables.delimited.row import plain_row

        kind = "" if self.classes is None else self.classes.dtype.kind
        table = self.table(number, [text]) if self.like is None else None
        row = None if self.like is None else plain_row(text, self.like, kind == "U")
        table = row or table or self.table(number, [text])
        X, y = (table.X if self.way is None else self.way.taken(table.X)), table.y
        found = as_targets(y) if y is not None and y.dtype.kind == "U" and kind in ("i", "u", "f") else None
        return X, y if found is None else found
