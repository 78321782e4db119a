"""The roles of columns: which one is the label, which are no features, and whether a model's features are there."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..table import DataError, Path, Request, Table, check_size
from .arrays import checked_labels, checked_table
from .cells import Kind, refusal

LABEL_NAMES = ("label", "target", "class", "y")  # Names of a label's column.
# Names that pandas gives to an index.
_INDEX = re.compile(r"Unnamed: 0|__index_level_\d+__")
# Names of a column that tells rows apart: id, ID, patient_id, Patient ID, PatientId.
_ID = re.compile(r"(.*[_ .-])?(id|ID|Id)|.*[a-z](Id|ID)")

MANY_ROWS = 10  # Rows from which on 0, 1, 2, ... in a first column are numbers of rows.


@dataclass(frozen=True)
class Roles:
    """The roles of the columns of a table.

    Attributes
    ----------
    width : int
        The number of columns.
    label : int or None
    left_out : mapping of int to str
        The columns that are no features, each with the reason.
    guessed : collection of int
        Those of them that no option names.
    """

    width: int
    label: int | None
    left_out: Mapping[int, str] = field(default_factory=dict[int, str])
    guessed: Collection[int] = ()

    @property
    def features(self) -> list[int]:
        """The columns that are features."""
        return [index for index in range(self.width) if index != self.label and index not in self.left_out]


def roles_of(
    path: Path,
    fields: Sequence[str],
    header: bool,
    request: Request,
    line: int | None = None,
    indices: Collection[str] = (),
) -> Roles:
    """Return the role of each column, after checking that the features are those that a model expects.

    Parameters
    ----------
    fields : sequence of str
        The names of the columns if there is a header, else any texts.
    line : int, optional
        Line of the columns, for the error.
    indices : collection of str
        Columns that the file itself calls an index.

    Raises
    ------
    DataError
        An option names no column, or the features are not those of the model, or an index may be a feature.
    """
    names, width = ([one.strip() for one in fields] if header else None), len(fields)
    if names is None and isinstance(request.label, str):
        raise _no_header(path, request.label, line)
    left_out = {_position(path, names, width, one, line): "is left out" for one in request.drop}
    if request.index is not None:
        left_out[_position(path, names, width, request.index, line)] = "is the index"
    guessed = _guessed(names, request, set(left_out), indices)
    label = label_column(path, fields, request, line, {*left_out, *guessed})
    if label in left_out:
        raise DataError(path, f"{named(label, names)} is the label, and {left_out[label]}: it cannot be both", line)
    guessed.pop(-1 if label is None else label, None)
    if len(left_out) + len(guessed) + (label is not None) >= width:
        guessed = {}  # nothing else would be left
    if not _as_trained(path, names, width - len(left_out), request, guessed, line):
        guessed = {}
    label = label_column(path, fields, request, line, {*left_out, *guessed})
    roles = Roles(width, label, {**left_out, **guessed}, tuple(guessed))
    check_columns(path, names, roles, request, line)
    return roles


def named(index: int, names: Sequence[str] | None) -> str:
    """Return the words for a column: its name, else its number, which counts from 0 as that of an option."""
    if names is None:
        return f"column {index}"
    name = names[index]
    if not name:
        return f"column {index} (without a name)"
    return f"column {name!r}" if list(names).count(name) == 1 else f"column {index} ({name})"


def _position(path: Path, names: list[str] | None, width: int, one: str | int, line: int | None) -> int:
    if isinstance(one, str):
        if names is None:
            raise _no_header(path, one, line)
        if one not in names:
            raise DataError(path, f"no column {one!r}; the columns are {_shortened(names)}", line)
        if names.count(one) > 1:
            raise DataError(path, f"{names.count(one)} columns are named {one!r}: number the column from 0", line)
        return names.index(one)
    if not -width <= one < width:
        raise DataError(path, f"no column {one}; the columns are 0 to {width - 1}", line)
    return one % width


def _no_header(path: Path, name: str, line: int | None) -> DataError:
    return DataError(path, f"no column {name!r}: the file has no header, number the column from 0", line)


def _guessed(names: list[str] | None, request: Request, known: set[int], indices: Collection[str]) -> dict[int, str]:
    """Return the columns whose names are those of an index or an id, each with the reason."""
    found: dict[int, str] = {}
    label, ends, features = request.label, (0, len(names or ()) - 1), set(request.feature_names or ())
    for index, name in enumerate(() if names is None or request.keep_index else names):
        at_label = name == label if isinstance(label, str) else label is not None and index == label % (ends[1] + 1)
        if index in known or at_label or name in features or name.lower() in LABEL_NAMES:
            continue
        if name in indices or _INDEX.fullmatch(name) or (not name and index in ends):
            found[index] = "is an index" if name or not index else "is empty"
        elif _ID.fullmatch(name):
            found[index] = "names the rows"
    return found


def _as_trained(
    path: Path, names: list[str] | None, width: int, request: Request, guessed: dict[int, str], line: int | None
) -> bool:
    """Tell whether guessed columns are to be left out, in view of the number of features that a model expects."""
    n = request.n_features
    if not guessed or n is None or (names is not None and request.feature_names):
        return True
    if request.labelled or request.label is not None:
        return width - len(guessed) == n + 1
    labelled = names is not None and any(name.lower() in LABEL_NAMES for name in names)
    if width == n + 1 and len(guessed) == 1 and not labelled:
        (index,) = guessed
        where = named(index, names)
        raise DataError(
            path, f"{where} {guessed[index]}: --index {index} leaves it out, --keep-index takes it for a feature", line
        )
    return width - len(guessed) in (n, n + 1) and width not in (n, n + 1)


def label_column(
    path: Path, fields: Sequence[str], request: Request, line: int | None = None, left_out: Collection[int] = ()
) -> int | None:
    """Return the index of the label's column, or None if the columns hold features only.

    Parameters
    ----------
    fields : sequence of str
        The names of the columns, or the first row of a table that may have none.
    line : int, optional
        Line of the columns, for the error.
    left_out : collection of int
        Columns that are not the label, unless the request names one of them.
    """
    names, label = [one.strip() for one in fields], request.label
    if label is not None:
        return _position(path, names, len(fields), label, line)
    among = [index for index in range(len(fields)) if index not in left_out]
    if not among or (not request.labelled and request.n_features in (None, len(among))):
        return None
    features = set(request.feature_names or names)
    beside = [index for index in among if names[index] not in features]
    if len(beside) == 1:
        return beside[0]
    lowered = {names[index].lower(): index for index in reversed(among)}
    return next((lowered[name] for name in LABEL_NAMES if name in lowered), among[-1])


def check_columns(path: Path, names: Sequence[str] | None, roles: Roles, request: Request, line: int | None) -> None:
    """Check that the columns beside the label are the features that a model expects."""
    if names and (request.feature_names or request.n_features is None):
        first: dict[str, int] = {}
        label = () if request.label is not None or roles.label is None else (roles.label,)
        for index in sorted((*roles.features, *label)):
            if first.setdefault(names[index], index) != index:
                found = f"columns {first[names[index]]} and {index} are both named {names[index]!r}"
                raise DataError(path, f"{found}: rename one, or --drop {index} leaves it out", line)
    if names and request.feature_names:
        _check_names(path, list(names), roles, request, line)
    features, label = len(roles.features), roles.label
    width = features + (label is not None)
    if request.n_features not in (None, features):
        wanted = f"{request.n_features} features"
        if label is not None and (request.labelled or request.label is not None):
            wanted += " and a label"
        lack = "no label column: " if width == request.n_features and request.label is None else ""
        found = f"{roles.width} column{'s' * (roles.width != 1)} found"
        found += f", {len(roles.left_out)} of them left out" if roles.left_out else ""
        raise DataError(path, f"{lack}{wanted} expected, {found}" if lack else f"{found}, {wanted} expected", line)
    if not features:
        raise DataError(
            path, "only one column, and that is the label: --separator names another character between columns", line
        )


def _check_names(path: Path, names: list[str], roles: Roles, request: Request, line: int | None) -> None:
    """Compare the header, without the label, with the names of a model's features."""
    wanted = list(request.feature_names or ())
    found = [names[index] for index in roles.features]
    set_of_wanted, set_of_found = set(wanted), set(found)
    kept = [name for index, name in enumerate(names) if index not in roles.left_out]
    if found == wanted or (kept == wanted and request.label is None):
        return  # all features without a label is not a matter of names
    missing = next((name for name in wanted if name not in set_of_found), None)
    unknown = next((name for name in found if name not in set_of_wanted), None)
    if missing is not None and roles.label is not None and names[roles.label] == missing:
        fault = f"column {missing!r} is taken for the label, but it is a feature of the model"
    elif missing is not None:
        fault = f"no column {missing!r}, which is a feature of the model"
    elif unknown is not None:
        fault = f"column {unknown!r} is no feature of the model (--drop leaves it out)"
    else:
        fault = "the features are those of the model in another order"
    raise DataError(path, f"{fault}: found {_shortened(found)}, expected {_shortened(wanted)}", line)


def label_note(label: int | None, names: Sequence[str] | None, request: Request) -> str:
    """Return a possible reason for an error about a column: a label that nobody named."""
    if label is None or request.label is not None:
        return ""
    return f"; the label is taken from {named(label, names)}, --label names another one"


def label_advice(index: int, texts: Sequence[object], label: int | None, request: Request) -> str:
    """Return the option that makes a column of text the label: the first one, whose texts repeat; else nothing."""
    if index or label is None or request.label is not None or 2 * len(set(texts)) > len(texts):
        return ""
    return "--label 0"


def table_of_columns(
    path: Path, names: Sequence[str] | None, columns: Sequence[NDArray[Any]], roles: Roles, request: Request
) -> Table:
    """Return the table of some typed columns.

    Parameters
    ----------
    columns : sequence of ndarray
        Numbers, truth values, or text; None and NaN are missing values.

    Raises
    ------
    DataError
        A feature is not numeric or not finite, and the request does not allow that.
    """
    features, label = roles.features, roles.label
    texts = {at: columns[index] for at, index in enumerate(features) if columns[index].dtype.kind not in "biuf"}
    texts |= {at: columns[index] for at, index in enumerate(features) if request.takes_text(at, at in texts)}
    for at, column in texts.items():
        where = named(features[at], names)
        if column.dtype.kind in "Mm" or not request.takes_text(at, True):
            advice = label_advice(features[at], column.tolist(), label, request)
            raise DataError(path, _fault(where, column, request, advice) + label_note(label, names, request))
        texts[at] = text_column(path, where, column, request)
    numbers = [columns[index] for at, index in enumerate(features) if at not in texts]
    single = bool(numbers) and all(column.dtype == np.float32 for column in numbers)
    dtype = np.dtype(np.float32 if single else np.float64)
    check_size(path, "features", len(columns[0]) * len(features) * dtype.itemsize, request.max_bytes)
    zeros = np.zeros(len(columns[0]), dtype)
    X = np.stack([zeros if at in texts else columns[i] for at, i in enumerate(features)], axis=1, dtype=dtype)
    table = checked_table(path, X, None, request, names and [names[index] for index in features])
    y = None if label is None else checked_labels(path, columns[label], request)
    label_name = names[label] if names and label is not None else None
    notes = notes_of(path, X, roles, names, request)
    table = replace(table, y=y, label_column=label, label_name=label_name, notes=notes, columns=tuple(features))
    if not texts:
        return table
    check_size(path, "features", 32 * X.size, request.max_bytes)
    mixed = X.astype(object)
    for at, column in texts.items():
        mixed[:, at] = column
    return replace(table, X=mixed, categorical=tuple(sorted(texts)))


def _fault(where: str, column: NDArray[Any], request: Request, label: str) -> str:
    """Return the sentence about a column that is no feature: text, or dates."""
    example = next((one for one in column if one is not None), None)
    shown = example.decode("utf-8", "replace") if isinstance(example, bytes) else str(example)
    if column.dtype.kind == "m":
        return f"{where} holds {shown!r}, a duration: write it as a number of seconds, or leave it out by --drop"
    if column.dtype.kind == "M":
        return f"{where} holds {shown!r}, a date: write it as a number, or leave the column out by --drop"
    if request.n_features is not None:
        return f"{where} holds {shown!r}, text, and the model expects numbers there"
    return refusal(where, Kind.TEXT, shown, label)


def text_column(path: Path, where: str, column: NDArray[Any], request: Request) -> NDArray[Any]:
    """Return a column of text as str, and NaN for missing values, if the request allows these."""
    gaps = [one is None or one != one for one in column.tolist()]
    if any(gaps) and not request.allow_missing:
        raise DataError(path, refusal(where, Kind.MISSING, f"{sum(gaps)} missing values"))
    values = [np.nan if gap else _text_of(one) for gap, one in zip(gaps, column.tolist(), strict=True)]
    return np.array(values, object)


def _text_of(one: Any) -> str:
    """Return a value of a column of text; in another file such a column may hold numbers alone."""
    if isinstance(one, bytes):
        return one.decode("utf-8", "replace")
    return str(int(one)) if isinstance(one, float) and one.is_integer() else str(one)


def notes_of(
    path: Path, X: NDArray[Any], roles: Roles, names: Sequence[str] | None, request: Request
) -> tuple[str, ...]:
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
    n, index = len(X), roles.features[0]
    by_names = request.keep_index or bool(names and request.feature_names)
    if not by_names and n >= MANY_ROWS and X.shape[1] > 1 and np.array_equal(X[:, 0], X[0, 0] + np.arange(n)):
        found = f"{named(index, names)} counts the rows: --index {index} leaves it out"
        if request.n_features is None:
            notes.append(found)
        elif roles.label is not None and not request.labelled and request.label is None:
            raise DataError(path, f"{found}, --keep-index takes it for a feature")
    return tuple(notes)


def _shortened(names: list[str], most: int = 12) -> str:
    listed = ", ".join(map(repr, names[:most]))
    return listed if len(names) <= most else f"{listed} and {len(names) - most} more"
