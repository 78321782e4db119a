"""The table of the values that were read: features, labels, and what is said about them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...table import MISSING_LABELS, DataError, Table, check_size
from ..cells import Kind, is_number, labels_of, refusal
from ..columns import with_texts
from .reading import Reading, fault

# A first column of whole numbers may be an id from this many rows on, if it is so many times as large as the others.
SEVERAL, LARGE = 100, 100


def table_of(reading: Reading, values: NDArray[np.float64]) -> Table:
    """Return the table of all values; in columns of text these are the numbers of the texts."""
    path, roles, request = reading.path, reading.roles, reading.request
    features, label = roles.features, roles.label
    _set_marked(reading, values)
    refused = ~np.isfinite(values) & ~(np.isnan(values) & request.allow_missing)
    if refused.any():
        row, index = map(int, np.argwhere(refused)[0])
        line, fields = reading.locate(row)
        raise fault(reading, index, fields[index], line)
    X = np.ascontiguousarray(values[:, features])
    y = None if label is None else _labels(reading, label, values[:, label].astype(np.int64))
    texts = {
        at: _texts(reading, index, values[:, index].astype(np.int64))
        for at, index in enumerate(features)
        if index in reading.codes
    }
    names = reading.names
    table = Table(
        X, y, tuple(names[index] for index in features) if names else None,
        names[label] if names and label is not None else None, label,
        notes=(*roles.notes(names), *_id_note(reading, X)), dialect=reading.dialect,
    )  # fmt: skip
    return with_texts(path, table, texts, request)


def _set_marked(reading: Reading, values: NDArray[np.float64]) -> None:
    """Let numbers that stand for a missing value, as -999, be NaN."""
    decimal = reading.dialect.decimal
    marks = [float(mark.replace(",", ".")) for mark in reading.missing if is_number(mark, decimal)]
    for index in reading.roles.features if marks else ():
        if index not in reading.codes:
            values[np.isin(values[:, index], marks), index] = np.nan


def _labels(reading: Reading, label: int, codes: NDArray[np.int64]) -> NDArray[Any]:
    """Return the labels in the type that writes them back as they were read."""
    texts, path = reading.codes[label].texts, reading.path
    gaps = {"", *MISSING_LABELS, *reading.missing_texts}
    check_size(path, "labels", 4 * len(codes) * max(map(len, texts)), reading.request.max_bytes)
    distinct = labels_of(texts, reading.dialect.decimal)
    for code, text in enumerate(texts):
        if text not in gaps and (distinct.dtype.kind != "f" or np.isfinite(distinct[code])):
            continue
        line, _ = reading.locate(int(np.argmax(codes == code)))
        fault = f"the label is missing ({text!r})" if text in gaps else f"the label {text!r} is not a finite number"
        raise DataError(path, fault, line)
    return distinct[codes]


def _texts(reading: Reading, index: int, codes: NDArray[np.int64]) -> NDArray[Any]:
    """Return a feature's texts, and NaN for missing ones."""
    texts = reading.codes[index].texts
    gap = next((code for code, text in enumerate(texts) if text in reading.missing_texts), None)
    if gap is not None and not reading.request.allow_missing:
        line, _ = reading.locate(int(np.argmax(codes == gap)))
        raise DataError(reading.path, refusal(reading.where(index), Kind.MISSING, texts[gap]), line)
    return np.array([np.nan if text in reading.missing_texts else text for text in texts], object)[codes]


def _largest(X: NDArray[np.float64]) -> float:
    """Return the largest size of all values that are not missing."""
    sizes = np.abs(X[np.isfinite(X)])
    return float(sizes.max(initial=0.0))


def _id_note(reading: Reading, X: NDArray[np.float64]) -> tuple[str, ...]:
    """Return a sentence about a first feature that may be an id: large whole numbers, most of them different."""
    request, n = reading.request, len(X)
    if request.n_features is not None or request.keep_index or n < SEVERAL or X.shape[1] < 2 or 0 not in reading.kinds:
        return ()
    first = X[:, 0]
    different = len(np.unique(first))
    if different < 0.9 * n or (first % 1).any() or np.median(first) < LARGE * _largest(X[:, 1:]):
        return ()
    where = reading.where(0)
    return (f"{where} holds {different} different whole numbers in {n} rows, as an id does: --index 0 leaves it out",)
