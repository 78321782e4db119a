"""The choice of the label's column, the check of a model's features, and tables with named and typed columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..table import DataError, Path, Request, Table, check_size
from .arrays import checked_labels, checked_table

LABEL_NAMES = ("label", "target", "class", "y")


def label_column(path: Path, fields: Sequence[str], request: Request, line: int | None = None) -> int | None:
    """Return the index of the label's column, or None if the columns hold features only.

    Parameters
    ----------
    fields : sequence of str
        The names of the columns, or the first row of a table that may have none.
    line : int, optional
        Line of the columns, for the error.
    """
    names, width, label = [field.strip() for field in fields], len(fields), request.label
    if isinstance(label, str):
        if label not in names:
            raise DataError(path, f"no column {label!r}; the columns are {_shortened(names)}", line)
        return names.index(label)
    if label is not None:
        if not -width <= label < width:
            raise DataError(path, f"no column {label}; the columns are 0 to {width - 1}", line)
        return label % width
    if not request.labelled and request.n_features in (None, width):
        return None
    features = set(request.feature_names or names)
    beside = [index for index, name in enumerate(names) if name not in features]
    if len(beside) == 1:
        return beside[0]
    lowered = [name.lower() for name in names]
    return next((lowered.index(name) for name in LABEL_NAMES if name in lowered), width - 1)


def check_columns(
    path: Path, names: Sequence[str] | None, width: int, label: int | None, request: Request, line: int | None = None
) -> None:
    """Check that the columns beside the label are the features that a model expects.

    Parameters
    ----------
    names : sequence of str, or None
        The header; without a header only the number of columns is checked.
    """
    if names and request.feature_names:
        _check_names(path, list(names), label, request, line)
    features = width if label is None else width - 1
    if request.n_features not in (None, features):
        wanted = f"{request.n_features} features"
        if label is not None and (request.labelled or request.label is not None):
            wanted += " and a label"
        lack = "no label column: " if width == request.n_features and request.label is None else ""
        found = f"{width} columns found"
        raise DataError(path, f"{lack}{wanted} expected, {found}" if lack else f"{found}, {wanted} expected", line)
    if not features:
        raise DataError(path, "only one column, and that is the label: is the separator another one?", line)


def _check_names(path: Path, names: list[str], label: int | None, request: Request, line: int | None) -> None:
    """Compare the header, without the label, with the names of a model's features."""
    wanted = list(request.feature_names or ())
    found = [name for index, name in enumerate(names) if index != label]
    set_of_wanted, set_of_found = set(wanted), set(found)
    # All features without a label is not a matter of names.
    if found == wanted or (names == wanted and request.label is None):
        return
    missing = next((name for name in wanted if name not in set_of_found), None)
    unknown = next((name for name in found if name not in set_of_wanted), None)
    if missing is not None and label is not None and names[label] == missing:
        fault = f"column {missing!r} is taken for the label, but it is a feature of the model"
    elif missing is not None:
        fault = f"no column {missing!r}, which is a feature of the model"
    elif unknown is not None:
        fault = f"column {unknown!r} is no feature of the model"
    else:
        fault = "the features are those of the model in another order"
    raise DataError(path, f"{fault}: found {_shortened(found)}, expected {_shortened(wanted)}", line)


def label_note(label: int | None, names: Sequence[str] | None, request: Request) -> str:
    """Return a possible reason for an error about a column: a label that nobody named."""
    if label is None or request.label is not None:
        return ""
    name = f" ({names[label]})" if names else ""
    return f"; the label is taken from column {label}{name}, --label names another one"


def table_of_columns(path: Path, names: Sequence[str], columns: Sequence[NDArray[Any]], request: Request) -> Table:
    """Return the table of some named columns; all except the label's must be numbers.

    Raises
    ------
    DataError
        If a feature is not numeric, or not finite.
    """
    if not names:
        raise DataError(path, "the file holds no columns")
    label = label_column(path, names, request)
    check_columns(path, names, len(names), label, request)
    features = [index for index in range(len(names)) if index != label]
    texts = [index for index in features if columns[index].dtype.kind not in "biuf"]
    if texts and not request.categorical:
        fault = f"column {names[texts[0]]!r} holds text, not numbers: --categorical auto encodes it one-hot"
        raise DataError(path, fault + label_note(label, names, request))
    kept, own = [names[index] for index in features], None if label is None else names[label]
    if texts or request.missing:
        table = _of_objects(path, [columns[index] for index in features], kept, request)
        y = None if label is None else checked_labels(path, columns[label], request)
        return replace(table, y=y, label_name=own, label_column=label)
    single = all(columns[index].dtype == np.float32 for index in features)
    dtype = np.dtype(np.float32 if single else np.float64)
    check_size(path, "features", len(columns[0]) * len(features) * dtype.itemsize, request.max_bytes)
    X = np.stack([columns[index] for index in features], axis=1, dtype=dtype)
    table = checked_table(path, X, None if label is None else columns[label], request, kept, own)
    return replace(table, label_column=label)


def _of_objects(path: Path, columns: Sequence[NDArray[Any]], names: Sequence[str], request: Request) -> Table:
    """Return the features with text or missing values: objects if there is text, else numbers with NaN."""
    texts = tuple(index for index, column in enumerate(columns) if column.dtype.kind not in "biuf")
    check_size(path, "features", len(columns[0]) * len(columns) * (40 if texts else 8), request.max_bytes)
    X = np.empty((len(columns[0]), len(columns)), object if texts else np.float64)
    for index, column in enumerate(columns):
        gaps = np.equal(column, np.array(None)) if index in texts else np.isnan(column)
        if gaps.any() and not request.missing:
            sample = int(np.argmax(gaps))
            raise DataError(path, f"sample {sample}, feature {index} ({names[index]}) is missing: --impute fills it")
        if index not in texts and np.isinf(column).any():
            sample = int(np.argmax(np.isinf(column)))
            raise DataError(path, f"sample {sample}, feature {index} ({names[index]}) is not a finite number")
        X[:, index] = np.where(gaps, np.nan, column) if gaps.any() else column
    return Table(X, None, tuple(names), categorical=texts)


def _shortened(names: list[str], most: int = 12) -> str:
    listed = ", ".join(map(repr, names[:most]))
    return listed if len(names) <= most else f"{listed} and {len(names) - most} more"
