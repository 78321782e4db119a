"""Which column is the label, and tables whose columns have names and types of their own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .arrays import checked_table
from .table import DataError, Path, Request, Table

LABEL_NAMES = ("label", "target", "class", "y")


def label_column(path: Path, fields: Sequence[str], request: Request, line: int | None = None) -> int | None:
    """Return the index of the label's column, None if the columns hold features only.

    Parameters
    ----------
    fields : sequence of str
        The names of the columns, or the first row of a table that may have none.
    line : int, optional
        Where these stand, for the error.
    """
    names, width, label = [field.strip() for field in fields], len(fields), request.label
    if isinstance(label, str):
        if label not in names:
            raise DataError(path, f"no column {label!r}; the columns are {_shortened(names)}", line)
        column = names.index(label)
    elif label is not None:
        if not -width <= label < width:
            raise DataError(path, f"no column {label}; the columns are 0 to {width - 1}", line)
        column = label % width
    elif not request.labelled and request.n_features in (None, width):
        return None
    else:
        lowered = [name.lower() for name in names]
        column = next((lowered.index(name) for name in LABEL_NAMES if name in lowered), width - 1)
    if request.n_features not in (None, width - 1):
        raise DataError(path, f"{width} columns found, {request.n_features} features expected", line)
    if width == 1:
        raise DataError(path, "only one column, and that is the label: is the separator another one?", line)
    return column


def table_of_columns(path: Path, names: Sequence[str], columns: Sequence[NDArray[Any]], request: Request) -> Table:
    """Return the table of some named columns, numbers all but the label's.

    Raises
    ------
    DataError
        If a feature is not numeric, or not finite.
    """
    label = label_column(path, names, request)
    features = [index for index in range(len(names)) if index != label]
    for index in features:
        if columns[index].dtype.kind not in "biuf":
            raise DataError(path, f"column {names[index]!r} holds text, not numbers: encode it, for example one-hot")
    single = all(columns[index].dtype == np.float32 for index in features)
    X = np.stack([columns[index] for index in features], axis=1, dtype=np.float32 if single else np.float64)
    y = None if label is None else columns[label]
    return checked_table(path, X, y, [names[i] for i in features], None if label is None else names[label])


def _shortened(names: list[str], most: int = 12) -> str:
    listed = ", ".join(map(repr, names[:most]))
    return listed if len(names) <= most else f"{listed} and {len(names) - most} more"
