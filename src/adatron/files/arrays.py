"""Samples that are arrays already: NumPy files, and the checks that every array goes through."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .source import open_binary
from .table import MISSING_LABELS, DataError, Path, Request, Table, whole_if_possible

FEATURES = ("X", "data", "features")
LABELS = ("y", "target", "label", "labels")


def read_npy(path: Path, request: Request) -> Table:
    """Read features alone from one array; the labels are a file of their own, see `read_labels`."""
    return of_features(path, checked_table(path, _load(path), None), request)


def read_labels(path: Path) -> NDArray[Any]:
    """Read the labels of a pair of files."""
    return checked_labels(path, _load(path))


def read_npz(path: Path, request: Request) -> Table:
    """Read the arrays X and y (or data and target, or the one that ``label`` names) of a NumPy archive."""
    archive = _load(path)
    if not isinstance(archive, np.lib.npyio.NpzFile):
        raise DataError(path, "one array, not an archive of arrays: rename it to .npy")
    with archive, _damage_named(path):
        return table_of_named(path, archive, request)


def table_of_named(path: Path, arrays: Mapping[str, Any], request: Request) -> Table:
    """Return the table of X and y among named arrays.

    Raises
    ------
    DataError
        If one of them is missing, or not what it should be.
    """
    if isinstance(request.label, int):
        raise DataError(path, f"no column {request.label}; here the labels are an array: give its name")
    features = _first(FEATURES, arrays)
    label = request.label or _first(LABELS, arrays)
    if features is None:
        raise DataError(path, f"no array {' or '.join(FEATURES)}; the arrays are {', '.join(arrays) or 'none'}")
    y = np.asarray(arrays[label]) if label is not None and label in arrays else None
    if y is None and (request.labelled or request.label):
        wanted = request.label or " or ".join(LABELS)
        raise DataError(path, f"no array {wanted}; the arrays are {', '.join(arrays)}")
    return of_features(path, checked_table(path, np.asarray(arrays[features]), y), request)


def checked_table(
    path: Path,
    X: NDArray[Any],
    y: NDArray[Any] | None,
    names: Sequence[str] | None = None,
    label_name: str | None = None,
) -> Table:
    """Return a table after checking shapes, types and values; float32 stays, other numbers become float64.

    A sample of more than one dimension, such as an image, is one row.
    """
    if X.dtype.kind not in "biuf":
        raise DataError(path, f"features of type {X.dtype}, not numbers")
    if X.ndim < 2 or not X.size:
        raise DataError(path, f"features of shape {X.shape}; wanted are samples x features, none of them 0")
    X = np.ascontiguousarray(X.reshape(len(X), -1), np.float32 if X.dtype == np.float32 else np.float64)
    if not np.isfinite(X).all():
        row, column = np.argwhere(~np.isfinite(X))[0]
        name = f" ({names[column]})" if names else ""
        raise DataError(path, f"sample {row}, feature {column}{name} is {X[row, column]}, not a finite number")
    labels = None if y is None else checked_labels(path, y)
    if labels is not None and len(labels) != len(X):
        raise DataError(path, f"{len(X)} samples and {len(labels)} labels")
    return Table(X, labels, tuple(names) if names else None, label_name)


def checked_labels(path: Path, y: NDArray[Any]) -> NDArray[Any]:
    """Return labels as int64 or float64 if all are numbers, written as text or not, else as text."""
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if y.ndim != 1:
        raise DataError(path, f"labels of shape {y.shape}; wanted is one for each sample")
    if y.dtype.kind in "OSU":
        y = np.array([item.decode() if isinstance(item, bytes) else str(item) for item in y])
        gaps = np.flatnonzero(np.isin(y, MISSING_LABELS))
        if len(gaps):
            raise DataError(path, f"the label of sample {gaps[0]} is missing")
        try:
            y = y.astype(np.float64)
        except ValueError:
            return y
    if y.dtype.kind not in "biuf":
        raise DataError(path, f"labels of type {y.dtype}, neither numbers nor text")
    if not np.isfinite(y).all():
        raise DataError(path, f"the label of sample {int(np.argmin(np.isfinite(y)))} is not a finite number")
    return whole_if_possible(y.astype(np.float64))


def _load(path: Path) -> Any:
    """Read a NumPy file, never a pickle."""
    with open_binary(path) as stream:
        data = stream.read()
    with _damage_named(path):
        return np.load(io.BytesIO(data), allow_pickle=False)


@contextmanager
def _damage_named(path: Path) -> Iterator[None]:
    """Turn what NumPy and zip raise for damaged files, and for pickles, into a DataError."""
    try:
        yield
    except DataError:
        raise
    except (ValueError, EOFError, KeyError, NotImplementedError, zipfile.BadZipFile, zlib.error) as error:
        raise DataError(path, f"not a NumPy file of plain arrays ({error})") from error


def of_features(path: Path, table: Table, request: Request) -> Table:
    """Return the table if it has the features that a model expects."""
    if request.n_features not in (None, table.shape[1]):
        raise DataError(path, f"{table.shape[1]} features found, {request.n_features} expected")
    return table


def _first(names: Iterable[str], arrays: Mapping[str, Any]) -> str | None:
    return next((name for name in names if name in arrays), None)
