"""Samples that are already arrays: NumPy archives, and the checks that every array goes through."""

from __future__ import annotations

import io
import math
import zipfile
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from ..labels import whole_numbers
from ..source import read_whole
from ..table import MISSING_LABELS, DataError, Path, Request, Table, check_size, parsing, text_labels, whole_if_possible

FEATURES_NAMED = ("X", "data", "features")  # Names of X in a file; the first one by preference.
LABELS_NAMED = ("y", "target", "label", "labels")  # Names of y; the first one by preference.
PLAIN_ARRAYS = "a NumPy archive of plain arrays"


def read_npz(path: Path, request: Request) -> Table:
    """Read the arrays X and y (or data and target, or the one that ``label`` names) of a NumPy archive."""
    if isinstance(request.label, int):
        raise DataError(path, f"no column {request.label}; here the labels are an array: give its name")
    data = read_whole(path, request.max_bytes)
    if data.startswith(npy.MAGIC_PREFIX):
        raise DataError(path, "one array, not an archive of arrays: numpy.savez(file, X=X, y=y) writes one")
    with parsing(path, PLAIN_ARRAYS):
        archive = zipfile.ZipFile(io.BytesIO(data))
    members = {member.filename.removesuffix(".npy"): member for member in archive.infolist()}

    def array_of(name: str) -> NDArray[Any]:
        check_size(path, f"contents of the array {name}", members[name].file_size, request.max_bytes)
        with parsing(path, PLAIN_ARRAYS):
            return npy.read_array(io.BytesIO(archive.read(members[name])), allow_pickle=False)

    listed = ", ".join(members) or "none"
    features = next((name for name in FEATURES_NAMED if name in members), None)
    if features is None:
        raise DataError(path, f"no array {' or '.join(FEATURES_NAMED)}; the arrays are {listed}")
    names = LABELS_NAMED if request.label is None else (request.label,)
    label = next((name for name in names if name in members), None)
    if label is None and (request.labelled or request.label is not None):
        raise DataError(path, f"no array {' or '.join(names)}; the arrays are {listed}")
    y = None if label is None else array_of(label)
    return checked_table(path, array_of(features), y, request, label_name=label)


def checked_table(
    path: Path,
    X: NDArray[Any],
    y: NDArray[Any] | None,
    request: Request,
    names: Sequence[str] | None = None,
    label_name: str | None = None,
) -> Table:
    """Return a table after checking shapes, types and values; float32 stays, other numbers become float64.

    A sample of more than one dimension, such as an image, is one row.
    """
    if X.dtype.kind not in "biuf":
        raise DataError(path, f"features of type {X.dtype}, not numbers")
    if X.ndim < 2 or not X.size:
        raise DataError(path, f"features of shape {X.shape}; they must be samples x features, neither of them 0")
    if request.n_features not in (None, width := math.prod(X.shape[1:])):
        raise DataError(path, f"{width} features found, {request.n_features} expected")
    if y is not None and y.ndim and len(y) != len(X):
        raise DataError(path, f"{len(X)} samples and {len(y)} labels")
    dtype = np.dtype(np.float32 if X.dtype == np.float32 else np.float64)
    check_size(path, "features", X.size * dtype.itemsize, request.max_bytes)
    X = np.ascontiguousarray(X.reshape(len(X), -1), dtype)
    refused = ~np.isfinite(X) & ~(np.isnan(X) & request.allow_missing)
    if refused.any():
        row, column = np.argwhere(refused)[0]
        name = f" ({names[column]})" if names else ""
        cure = ": train --impute fills in missing values" if np.isnan(X[row, column]) else ""
        raise DataError(path, f"sample {row}, feature {column}{name} is {X[row, column]}, not a finite number{cure}")
    labels = None if y is None else checked_labels(path, y, request)
    return Table(X, labels, tuple(names) if names else None, label_name)


def checked_labels(path: Path, y: NDArray[Any], request: Request) -> NDArray[Any]:
    """Return labels as they are: truth values, whole numbers of 64 bits, other numbers as float64, or text.

    Whole numbers in float64 become int64, so that a class is printed as 1, not as 1.0.
    """
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if y.ndim != 1:
        raise DataError(path, f"labels of shape {y.shape}; there must be one label for each sample")
    if y.dtype.kind in "OSU":
        y = _of_objects(path, y, request.max_bytes)
    if y.dtype.kind == "U":
        gaps = np.flatnonzero(np.isin(y, MISSING_LABELS))
        if len(gaps):
            raise DataError(path, f"the label of sample {gaps[0]} is missing")
        return y
    if y.dtype.kind not in "biuf":
        raise DataError(path, f"labels of type {y.dtype}, neither numbers nor text")
    check_size(path, "labels", 8 * len(y), request.max_bytes)
    if y.dtype.kind == "b":
        return y.copy()
    if y.dtype.kind in "iu":
        return y.astype(np.uint64 if y.dtype.kind == "u" and y.max(initial=0) >= 2**63 else np.int64)
    if not np.isfinite(y).all():
        raise DataError(path, f"the label of sample {int(np.argmin(np.isfinite(y)))} is not a finite number")
    with np.errstate(over="ignore"):  # an extended number may be beyond float64
        y = y.astype(np.float64)
    if not np.isfinite(y).all():
        raise DataError(path, f"the label of sample {int(np.argmin(np.isfinite(y)))} is beyond float64")
    return whole_if_possible(y)


def _of_objects(path: Path, y: NDArray[Any], most: int) -> NDArray[Any]:
    """Return labels of text, of bytes in UTF-8, or of objects that are either, as text; numbers stay."""
    try:
        if y.dtype.kind == "S":
            check_size(path, "labels", 4 * y.nbytes, most)
            return np.char.decode(y, "utf-8")
        if y.dtype.kind == "U":
            return y
        kinds = set(map(type, y))
        if kinds and all(issubclass(kind, (bool, int, float, np.number)) for kind in kinds):
            whole = all(issubclass(kind, (int, np.integer)) for kind in kinds) and bool not in kinds
            found = whole_numbers(list(map(int, y))) if whole else y.astype(bool if kinds == {bool} else np.float64)
            if found is not None:
                return found
        other = next((kind for kind in kinds if not issubclass(kind, (str, bytes))), None)
        if other is not None:
            raise DataError(path, f"a label is of type {other.__name__}: all must be text, or numbers of 64 bits")
        return text_labels(path, [one.decode() if isinstance(one, bytes) else one for one in y], most)
    except UnicodeDecodeError as error:
        raise DataError(path, f"a label is not text (byte 0x{error.object[error.start]:02x} is not UTF-8)") from error
