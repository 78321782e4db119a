"""From the columns of a frame to samples: which column is the label, which are no features, which are text."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..labels import checked_labels
from ..table import DataError, Dialect, Path, Request, Table, check_size, shortened

LABEL_NAMES = ("label", "target", "class", "y")  # Names of a label's column.
# Names of an index of pandas, or of a column that tells rows apart: id, ID, patient_id, Patient ID, PatientId.
_INDEX = re.compile(r"Unnamed: 0|__index_level_\d+__|(.*[_ .-])?(id|ID|Id)|.*[a-z](Id|ID)")

MANY_ROWS = 10  # Rows from which on 0, 1, 2, ... in a first column are numbers of rows.


class Columns:
    """The columns of a table: the features, the label, and for each other one why it is left out.

    A DataError says that an option names no column, that the features are not those of the model, or that an index may
    be a feature.

    fields : the names of the columns if there is a header, else any texts
    line : the line of the fields, for errors
    indices : columns that the file itself calls an index
    """

    def __init__(
        self,
        path: Path,
        fields: Sequence[str],
        header: bool,
        request: Request,
        line: int | None = None,
        indices: Collection[str] = (),
    ) -> None:
        self.path, self.request, self.line, self.width = path, request, line, len(fields)
        self.names = [one.strip() for one in fields] if header else None
        names = self.names or [""] * self.width
        self.left_out = {_position(path, names, one, line): "is left out" for one in request.drop}
        if request.index is not None:
            self.left_out[_position(path, names, request.index, line)] = "is the index"
        label = label_column(path, names, request, line, self.left_out)
        if label in self.left_out:
            raise self._error(f"{self.named(label)} is the label, and {self.left_out[label]}: it cannot be both")
        guessed = self._guessed(indices)
        self.label = label_column(path, names, request, line, {*self.left_out, *guessed})
        guessed.pop(-1 if self.label is None else self.label, None)
        if len(self.left_out) + len(guessed) + (self.label is not None) >= self.width:
            guessed, self.label = {}, label  # nothing else would be left
        if guessed and request.n_features is not None and not request.feature_names:
            index, reason = next(iter(guessed.items()))
            fault = f"--index {index} leaves it out, --keep-index takes it for a feature"
            raise self._error(f"{self.named(index)} {reason}: {fault}")
        self.left_out |= guessed
        self.guessed = tuple(guessed)
        self.features = [index for index in range(self.width) if index != self.label and index not in self.left_out]
        self._check()

    def named(self, index: int) -> str:
        """Return the words for a column."""
        return named(index, self.names)

    def label_note(self) -> str:
        """Return a possible reason for an error about a column: a label that nobody named."""
        if self.label is None or self.request.label is not None:
            return ""
        return f"; the label is taken from {self.named(self.label)}, --label names another one"

    def refusal(self, index: int, example: str, texts: Sequence[Any]) -> str:
        """Return the sentence about a column of text that is to be a feature, and what helps.

        The first column may be the label if its texts repeat.
        """
        printed = f"{self.named(index)} holds {example!r}, text"
        if self.request.n_features is not None:
            return f"{printed}, and the model expects numbers there{self.label_note()}"
        guess = self.request.label is None and self.label is not None and 2 * len(set(texts)) <= len(texts)
        advice = "--label 0 says that it is the label, " * (guess and index == 0)
        advice += "train --categorical auto encodes columns of text, --drop leaves this one out"
        return f"{printed}: {advice}{self.label_note()}"

    def notes(self, X: NDArray[Any]) -> tuple[str, ...]:
        """Return a sentence for each column that is left out by its name, and for a first one that counts the rows.

        Data for a model, which may have been trained without such a column that counts, are an error.
        """
        notes = [
            f"{self.named(index)} {self.left_out[index]}: it is no feature and was left out, --keep-index keeps it"
            for index in sorted(self.guessed)
        ]
        request, index = self.request, self.features[0]
        if X.shape[1] > 1 and counts(X[:, 0]) and not (request.keep_index or (self.names and request.feature_names)):
            found = f"{self.named(index)} counts the rows: --index {index} leaves it out"
            if request.n_features is None:
                notes.append(found)
            elif self.label is not None and not request.labelled and request.label is None:
                raise DataError(self.path, f"{found}, --keep-index takes it for a feature")
        return tuple(notes)

    def _error(self, fault: str) -> DataError:
        return DataError(self.path, fault, self.line)

    def _guessed(self, indices: Collection[str]) -> dict[int, str]:
        """Return the columns whose names are those of an index or an id, each with the reason."""
        found: dict[int, str] = {}
        features = set(self.request.feature_names or ())
        for index, name in enumerate(() if self.names is None or self.request.keep_index else self.names):
            if index in self.left_out or name in features or name.lower() in LABEL_NAMES:
                continue
            if name in indices or _INDEX.fullmatch(name) or (not name and index == 0):
                found[index] = "is an index or an id"
            elif not name and index == self.width - 1:
                found[index] = "is empty"
        return found

    def _check(self) -> None:
        """Check that the columns beside the label are the features that a model expects."""
        request, features, label, wanted = self.request, self.features, self.label, self.request.n_features
        if self.names and (request.feature_names or wanted is None):
            first: dict[str, int] = {}
            for index in sorted((*features, *(() if request.label is not None or label is None else (label,)))):
                name = self.names[index]
                if first.setdefault(name, index) != index:
                    found = f"columns {first[name]} and {index} are both named {name!r}"
                    raise self._error(f"{found}: rename one, or --drop {index} leaves it out")
        if self.names and request.feature_names:
            self._check_names(self.names, list(request.feature_names))
        if wanted not in (None, len(features)):
            expected = f"{wanted} features" + " and a label" * (request.labelled or request.label is not None)
            found = f"{self.width} column{'s' * (self.width != 1)} found"
            found += f", {len(self.left_out)} of them left out" if self.left_out else ""
            lacks = len(features) + (label is not None) == wanted and request.label is None
            fault = f"no label column: {expected} expected, {found}" if lacks else f"{found}, {expected} expected"
            raise self._error(fault)
        if not features:
            fault = "only one column, and that is the label: --separator names another character between columns"
            raise self._error(fault)

    def _check_names(self, names: list[str], wanted: list[str]) -> None:
        """Compare the header, without the label, with the names of a model's features."""
        found = [names[index] for index in self.features]
        kept = [name for index, name in enumerate(names) if index not in self.left_out]
        if found == wanted or (kept == wanted and self.request.label is None):
            return  # all features without a label is not a matter of names
        known, expected = set(found), set(wanted)
        fault = "the features are those of the model in another order"
        if lacking := next((name for name in wanted if name not in known), None):
            fault = f"no column {lacking!r}, which is a feature of the model"
            if self.label is not None and names[self.label] == lacking:
                fault = f"column {lacking!r} is taken for the label, but it is a feature of the model: --label names it"
        elif unknown := next((name for name in found if name not in expected), None):
            fault = f"column {unknown!r} is no feature of the model (--drop leaves it out)"
        raise self._error(f"{fault}: found {shortened(found, form=repr)}, expected {shortened(wanted, form=repr)}")


def counts(values: NDArray[Any]) -> bool:
    """Tell whether a column counts the rows."""
    if len(values) < MANY_ROWS or isinstance(values[0], str) or values.dtype.kind not in "iufO":
        return False
    return np.array_equal(values, values[0] + np.arange(len(values)))


def named(index: int, names: Sequence[str] | None) -> str:
    """Return the words for a column: its name, else its number, which counts from 0 as that of an option."""
    if names is None:
        return f"column {index}"
    if not names[index]:
        return f"column {index} (without a name)"
    return f"column {names[index]!r}" if list(names).count(names[index]) == 1 else f"column {index} ({names[index]})"


def _position(path: Path, names: list[str], one: str | int, line: int | None) -> int:
    if not isinstance(one, str):
        if not -len(names) <= one < len(names):
            raise DataError(path, f"no column {one}; the columns are 0 to {len(names) - 1}", line)
        return one % len(names)
    if not any(names):
        raise DataError(path, f"no column {one!r}: the file has no header, number the column from 0", line)
    if names.count(one) > 1:
        raise DataError(path, f"{names.count(one)} columns are named {one!r}: number the column from 0", line)
    if one not in names:
        raise DataError(path, f"no column {one!r}; the columns are {shortened(names, form=repr)}", line)
    return names.index(one)


def label_column(
    path: Path, fields: Sequence[str], request: Request, line: int | None = None, left_out: Collection[int] = ()
) -> int | None:
    """Return the index of the label's column, or None if the columns hold features only.

    ``fields`` are the names of the columns, empty without a header, or the first row of a table that may have none;
    ``line`` is their line, for errors. A column that is ``left_out`` is the label only if the request names it.
    """
    names = [one.strip() for one in fields]
    if request.label is not None:
        return _position(path, names, request.label, line)
    among = [index for index in range(len(fields)) if index not in left_out]
    if not among or (not request.labelled and request.n_features in (None, len(among))):
        return None
    features = set(request.feature_names or names)
    beside = [index for index in among if names[index] not in features]
    if len(beside) == 1:
        return beside[0]
    lowered = {names[index].lower(): index for index in reversed(among)}
    return next((lowered[name] for name in LABEL_NAMES if name in lowered), among[-1])


def missing_value(where: str, example: str) -> str:
    """Return the sentence about a missing value, and what helps."""
    return f"{where} holds {example}, a missing value: train --impute fills it in, --drop leaves the column out"


def table_of(columns: Columns, frame: Any, dialect: Dialect | None = None) -> Table:
    """Return the table of a frame, whose columns are numbers, truth values, or text; None and NaN are missing.

    A DataError says that a feature is not numeric or not finite, if the request does not allow that.
    """
    path, request, names, label = columns.path, columns.request, columns.names, columns.label
    arrays = [_array_of(frame.iloc[:, index]) for index in columns.features]
    texts: dict[int, NDArray[Any]] = {}
    for at, (index, array) in enumerate(zip(columns.features, arrays, strict=True)):
        if request.takes_text(at, array.dtype.kind not in "biufMm"):
            texts[at] = _text_column(path, columns.named(index), array, request)
        elif array.dtype.kind in "Mm":
            kind = "date" if array.dtype.kind == "M" else "duration"
            fault = f"holds {str(array[0])!r}, a {kind}: write it as a number, or leave the column out by --drop"
            raise DataError(path, f"{columns.named(index)} {fault}{columns.label_note()}")
        elif array.dtype.kind not in "biuf":
            example = next((_text_of(one) for one in array if one is not None), "None")
            raise DataError(path, columns.refusal(index, example, array.tolist()))
    numbers = [array for at, array in enumerate(arrays) if at not in texts]
    single = bool(numbers) and all(array.dtype == np.float32 for array in numbers)
    dtype = np.dtype(np.float32 if single else np.float64)
    check_size(path, "features", len(frame) * len(arrays) * dtype.itemsize, request.max_bytes)
    zeros = np.zeros(len(frame), dtype)
    X: Any = np.stack([zeros if at in texts else one for at, one in enumerate(arrays)], axis=1, dtype=dtype)
    feature_names = tuple(names[index] for index in columns.features) if names else None
    X = checked_features(path, X, request, feature_names)
    y = None if label is None else frame.iloc[:, label]
    if y is not None and y.dtype.kind == "O" and y.isna().any():
        raise DataError(path, "a label is missing")
    labels = None if y is None else checked_labels(path, _array_of(y), request.max_bytes)
    notes = columns.notes(X)
    if texts:
        check_size(path, "features", 32 * X.size, request.max_bytes)
        X = X.astype(object)
        for at, column in texts.items():
            X[:, at] = column
    return Table(
        X, labels, feature_names, names[label] if names and label is not None else None, label,
        categorical=tuple(sorted(texts)), notes=notes, dialect=dialect, columns=tuple(columns.features),
    )  # fmt: skip


def checked_features(
    path: Path, X: NDArray[Any], request: Request, names: Sequence[str] | None = None
) -> NDArray[np.float32] | NDArray[np.float64]:
    """Return features, (n, d), after checking shape, type and values; float32 stays, other numbers become float64."""
    if X.dtype.kind not in "biuf":
        raise DataError(path, f"features of type {X.dtype}, not numbers")
    if X.ndim < 2 or not X.size:
        raise DataError(path, f"features of shape {X.shape}; they must be samples x features, neither of them 0")
    if request.n_features not in (None, width := math.prod(X.shape[1:])):
        raise DataError(path, f"{width} features found, {request.n_features} expected")
    dtype = np.dtype(np.float32 if X.dtype == np.float32 else np.float64)
    check_size(path, "features", X.size * dtype.itemsize, request.max_bytes)
    X = np.ascontiguousarray(X.reshape(len(X), -1), dtype)
    refused = ~np.isfinite(X) & ~(np.isnan(X) & request.allow_missing)
    if refused.any():
        row, column = np.argwhere(refused)[0]
        name = f" ({names[column]})" if names else ""
        cure = ": train --impute fills in missing values" if np.isnan(X[row, column]) else ""
        raise DataError(path, f"sample {row}, feature {column}{name} is {X[row, column]}, not a finite number{cure}")
    return X


def _array_of(column: Any) -> NDArray[Any]:
    """Return the values of a column; its distinct texts are not copied, and a missing one is None."""
    if column.dtype == "category":
        return np.array([*column.cat.categories, None], object)[column.cat.codes]
    return np.asarray(column)


def _text_column(path: Path, where: str, column: NDArray[Any], request: Request) -> NDArray[Any]:
    """Return a column of text as str, and NaN for missing values, if the request allows these."""
    listed = column.tolist()
    gaps = [one is None or one != one for one in listed]
    if any(gaps) and not request.allow_missing:
        raise DataError(path, missing_value(where, f"'{sum(gaps)} missing values'"))
    return np.array([np.nan if gap else _text_of(one) for gap, one in zip(gaps, listed, strict=True)], object)


def _text_of(one: Any) -> str:
    """Return a value of a column of text; in another file such a column may hold numbers alone."""
    if isinstance(one, bytes):
        return one.decode("utf-8", "replace")
    return str(int(one)) if isinstance(one, float) and one.is_integer() else str(one)
