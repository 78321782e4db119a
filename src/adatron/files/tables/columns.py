"""From the columns of a frame to samples: which column is the label, which are no features, which are text."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..labels import checked_labels
from ..table import DataError, Dialect, Path, Request, Table, check_size

LABEL_NAMES = ("label", "target", "class", "y")  # Names of a label's column.
# Names of an index of pandas, or of a column that tells rows apart: id, ID, patient_id, Patient ID, PatientId.
_INDEX = re.compile(r"Unnamed: 0|__index_level_\d+__|(.*[_ .-])?(id|ID|Id)|.*[a-z](Id|ID)")

MANY_ROWS = 10  # Rows from which on 0, 1, 2, ... in a first column are numbers of rows.


@dataclass(frozen=True)
class Roles:
    """The roles of the columns of a table: the features, the label, and for each other one why it is left out."""

    features: list[int]
    label: int | None
    left_out: dict[int, str] = field(default_factory=dict[int, str])
    guessed: Collection[int] = ()


def roles_of(
    path: Path,
    fields: Sequence[str],
    header: bool,
    request: Request,
    line: int | None = None,
    indices: Collection[str] = (),
) -> Roles:
    """Return the role of each column, after checking that the features are those that a model expects.

    ``fields`` are the names of the columns if there is a header, else any texts; ``line`` is their line, for errors.
    ``indices`` are the columns that the file itself calls an index.
    """
    names, width = ([one.strip() for one in fields] if header else None), len(fields)
    left_out = {_position(path, names, width, one, line): "is left out" for one in request.drop}
    if request.index is not None:
        left_out[_position(path, names, width, request.index, line)] = "is the index"
    if names is None and isinstance(request.label, str):
        raise _no_header(path, request.label, line)
    label = label_column(path, fields, request, line, left_out)
    if label in left_out:
        raise DataError(path, f"{named(label, names)} is the label, and {left_out[label]}: it cannot be both", line)
    guessed = _guessed(names, request, left_out, indices)
    label = label_column(path, fields, request, line, {*left_out, *guessed})
    guessed.pop(-1 if label is None else label, None)
    if len(left_out) + len(guessed) + (label is not None) >= width:
        guessed = {}  # nothing else would be left
        label = label_column(path, fields, request, line, left_out)
    if guessed and request.n_features is not None and not request.feature_names:
        index, reason = next(iter(guessed.items()))
        fault = f"--index {index} leaves it out, --keep-index takes it for a feature"
        raise DataError(path, f"{named(index, names)} {reason}: {fault}", line)
    left_out |= guessed
    features = [index for index in range(width) if index != label and index not in left_out]
    roles = Roles(features, label, left_out, tuple(guessed))
    _check_columns(path, names, width, roles, request, line)
    return roles


def named(index: int, names: Sequence[str] | None) -> str:
    """Return the words for a column: its name, else its number, which counts from 0 as that of an option."""
    if names is None:
        return f"column {index}"
    if not names[index]:
        return f"column {index} (without a name)"
    return f"column {names[index]!r}" if list(names).count(names[index]) == 1 else f"column {index} ({names[index]})"


def _position(path: Path, names: list[str] | None, width: int, one: str | int, line: int | None) -> int:
    if not isinstance(one, str):
        if not -width <= one < width:
            raise DataError(path, f"no column {one}; the columns are 0 to {width - 1}", line)
        return one % width
    if names is None:
        raise _no_header(path, one, line)
    if names.count(one) > 1:
        raise DataError(path, f"{names.count(one)} columns are named {one!r}: number the column from 0", line)
    if one not in names:
        raise DataError(path, f"no column {one!r}; the columns are {_shortened(names)}", line)
    return names.index(one)


def _no_header(path: Path, name: str, line: int | None) -> DataError:
    return DataError(path, f"no column {name!r}: the file has no header, number the column from 0", line)


def _guessed(
    names: list[str] | None, request: Request, known: Collection[int], indices: Collection[str]
) -> dict[int, str]:
    """Return the columns whose names are those of an index or an id, each with the reason."""
    found: dict[int, str] = {}
    features = set(request.feature_names or ())
    for index, name in enumerate(() if names is None or request.keep_index else names):
        if index in known or name in features or name.lower() in LABEL_NAMES:
            continue
        if name in indices or _INDEX.fullmatch(name) or (not name and index == 0):
            found[index] = "is an index or an id"
        elif not name and index == len(names or ()) - 1:
            found[index] = "is empty"
    return found


def label_column(
    path: Path, fields: Sequence[str], request: Request, line: int | None = None, left_out: Collection[int] = ()
) -> int | None:
    """Return the index of the label's column, or None if the columns hold features only.

    ``fields`` are the names of the columns, or the first row of a table that may have none; ``line`` is their line, for
    errors. A column that is ``left_out`` is the label only if the request names it.
    """
    names = [one.strip() for one in fields]
    if request.label is not None:
        return _position(path, names, len(fields), request.label, line)
    among = [index for index in range(len(fields)) if index not in left_out]
    if not among or (not request.labelled and request.n_features in (None, len(among))):
        return None
    features = set(request.feature_names or names)
    beside = [index for index in among if names[index] not in features]
    if len(beside) == 1:
        return beside[0]
    lowered = {names[index].lower(): index for index in reversed(among)}
    return next((lowered[name] for name in LABEL_NAMES if name in lowered), among[-1])


def _check_columns(
    path: Path, names: list[str] | None, width: int, roles: Roles, request: Request, line: int | None
) -> None:
    """Check that the columns beside the label are the features that a model expects."""
    features, label, wanted = roles.features, roles.label, request.n_features
    if names and (request.feature_names or wanted is None):
        first: dict[str, int] = {}
        for index in sorted((*features, *(() if request.label is not None or label is None else (label,)))):
            if first.setdefault(names[index], index) != index:
                found = f"columns {first[names[index]]} and {index} are both named {names[index]!r}"
                raise DataError(path, f"{found}: rename one, or --drop {index} leaves it out", line)
    if names and request.feature_names:
        _check_names(path, names, roles, list(request.feature_names), request, line)
    if wanted not in (None, len(features)):
        expected = f"{wanted} features" + " and a label" * (request.labelled or request.label is not None)
        lack = "no label column: " * (len(features) + (label is not None) == wanted and request.label is None)
        found = f"{width} column{'s' * (width != 1)} found"
        found += f", {len(roles.left_out)} of them left out" if roles.left_out else ""
        raise DataError(path, f"{lack}{expected} expected, {found}" if lack else f"{found}, {expected} expected", line)
    if not features:
        raise DataError(
            path, "only one column, and that is the label: --separator names another character between columns", line
        )


def _check_names(
    path: Path, names: list[str], roles: Roles, wanted: list[str], request: Request, line: int | None
) -> None:
    """Compare the header, without the label, with the names of a model's features."""
    found = [names[index] for index in roles.features]
    kept = [name for index, name in enumerate(names) if index not in roles.left_out]
    if found == wanted or (kept == wanted and request.label is None):
        return  # all features without a label is not a matter of names
    fault = "the features are those of the model in another order"
    if lacking := _beside(wanted, found):
        fault = f"no column {lacking[0]!r}, which is a feature of the model"
        if roles.label is not None and names[roles.label] == lacking[0]:
            fault = f"column {lacking[0]!r} is taken for the label, but it is a feature of the model"
    elif unknown := _beside(found, wanted):
        fault = f"column {unknown[0]!r} is no feature of the model (--drop leaves it out)"
    raise DataError(path, f"{fault}: found {_shortened(found)}, expected {_shortened(wanted)}", line)


def _beside(names: list[str], others: list[str]) -> list[str]:
    known = set(others)
    return [name for name in names if name not in known]


def refusal(
    index: int, names: Sequence[str] | None, example: str, texts: Sequence[Any], roles: Roles, request: Request
) -> str:
    """Return the sentence about a column of text that is to be a feature, and what helps.

    The first column may be the label if its texts repeat.
    """
    said = f"{named(index, names)} holds {example!r}, text"
    guess = request.label is None and roles.label is not None and 2 * len(set(texts)) <= len(texts)
    if request.n_features is not None:
        said += ", and the model expects numbers there"
    else:
        advice = "--label 0 says that it is the label, " * (guess and index == 0)
        said += f": {advice}train --categorical auto encodes columns of text, --drop leaves this one out"
    return said + label_note(roles, names, request)


def missing_value(where: str, example: str) -> str:
    """Return the sentence about a missing value, and what helps."""
    return f"{where} holds {example}, a missing value: train --impute fills it in, --drop leaves the column out"


def label_note(roles: Roles, names: Sequence[str] | None, request: Request) -> str:
    """Return a possible reason for an error about a column: a label that nobody named."""
    if roles.label is None or request.label is not None:
        return ""
    return f"; the label is taken from {named(roles.label, names)}, --label names another one"


def table_of(
    path: Path, frame: Any, names: Sequence[str] | None, roles: Roles, request: Request, dialect: Dialect | None = None
) -> Table:
    """Return the table of a frame, whose columns are numbers, truth values, or text; None and NaN are missing.

    A DataError says that a feature is not numeric or not finite, if the request does not allow that.
    """
    features, label = roles.features, roles.label
    columns = [_array_of(frame.iloc[:, index]) for index in features]
    texts: dict[int, NDArray[Any]] = {}
    for at, column in enumerate(columns):
        where = named(features[at], names)
        if request.takes_text(at, column.dtype.kind not in "biufMm"):
            texts[at] = _text_column(path, where, column, request)
        elif column.dtype.kind in "Mm":
            kind = "date" if column.dtype.kind == "M" else "duration"
            fault = f"holds {str(column[0])!r}, a {kind}: write it as a number, or leave the column out by --drop"
            raise DataError(path, f"{where} {fault}{label_note(roles, names, request)}")
        elif column.dtype.kind not in "biuf":
            example = next((_text_of(one) for one in column if one is not None), "None")
            raise DataError(path, refusal(features[at], names, example, column.tolist(), roles, request))
    numbers = [column for at, column in enumerate(columns) if at not in texts]
    single = bool(numbers) and all(column.dtype == np.float32 for column in numbers)
    dtype = np.dtype(np.float32 if single else np.float64)
    check_size(path, "features", len(frame) * len(features) * dtype.itemsize, request.max_bytes)
    zeros = np.zeros(len(frame), dtype)
    X: Any = np.stack([zeros if at in texts else one for at, one in enumerate(columns)], axis=1, dtype=dtype)
    feature_names = tuple(names[index] for index in features) if names else None
    X = checked_features(path, X, request, feature_names)
    y = None if label is None else frame.iloc[:, label]
    if y is not None and y.dtype.kind == "O" and y.isna().any():
        raise DataError(path, "a label is missing")
    labels = None if y is None else checked_labels(path, _array_of(y), request.max_bytes)
    notes = _notes(path, X, roles, names, request)
    if texts:
        check_size(path, "features", 32 * X.size, request.max_bytes)
        X = X.astype(object)
        for at, column in texts.items():
            X[:, at] = column
    return Table(
        X, labels, feature_names, names[label] if names and label is not None else None, label,
        categorical=tuple(sorted(texts)), notes=notes, dialect=dialect, columns=tuple(features),
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


def _notes(path: Path, X: NDArray[Any], roles: Roles, names: Sequence[str] | None, request: Request) -> tuple[str, ...]:
    """Return a sentence for each column that is left out by its name, and for a first one that counts the rows.

    Raises
    ------
    DataError
        The data are for a model, which may have been trained without such a column that counts.
    """
    notes = [
        f"{named(index, names)} {roles.left_out[index]}: it is no feature and was left out, --keep-index keeps it"
        for index in sorted(roles.guessed)
    ]
    index, known = roles.features[0], request.keep_index or (names and request.feature_names)
    counts = len(X) >= MANY_ROWS and X.shape[1] > 1 and np.array_equal(X[:, 0], X[0, 0] + np.arange(len(X)))
    if counts and not known:
        found = f"{named(index, names)} counts the rows: --index {index} leaves it out"
        if request.n_features is None:
            notes.append(found)
        elif roles.label is not None and not request.labelled and request.label is None:
            raise DataError(path, f"{found}, --keep-index takes it for a feature")
    return tuple(notes)


def _shortened(names: list[str], most: int = 12) -> str:
    listed = ", ".join(map(repr, names[:most]))
    return listed if len(names) <= most else f"{listed} and {len(names) - most} more"
