"""Read LIBSVM text: `label index:value index:value ...`, one sample a line."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.datasets import load_svmlight_file

from .source import data_lines, open_binary, open_text
from .table import DataError, Path, Request, Table, whole_if_possible


def read_libsvm(path: Path, request: Request) -> Table:
    """Read a LIBSVM text file into CSR float64; explicit zeros are dropped.

    Indices count from 1. A file that uses index 0 counts from 0 (scikit-learn writes such files).

    Raises
    ------
    DataError
        For an empty file, a malformed line, text or NaN where a number should be, or more features than expected.
    """
    if request.label is not None:
        raise DataError(path, "LIBSVM text has its label in front: leave out the label column")
    n_features = request.n_features
    try:
        with open_binary(path) as stream:
            read: Any = load_svmlight_file
            raw, y = read(stream, dtype=np.float64, zero_based=True)
    except DataError:
        raise
    except (ValueError, OverflowError) as error:
        # The fast parser does not say where it stopped; a slow second reading does.
        raise _first_fault(path, n_features) or DataError(path, f"not LIBSVM text ({error})") from error
    if not len(y):
        raise DataError(path, "the file holds no data")
    first = min(1, int(raw.indices.min(initial=1)))
    width = max(raw.shape[1] - first, 0) if n_features is None else n_features
    if not (np.isfinite(raw.data).all() and np.isfinite(y).all()) or raw.shape[1] - first > width:
        raise _first_fault(path, n_features) or DataError(path, "NaN, infinity or too many features")
    # Built anew from its parts, a matrix gets 32-bit indices where they suffice; most of scikit-learn wants these.
    X = csr_matrix((raw.data, raw.indices - first, raw.indptr), shape=(len(y), width))
    X.eliminate_zeros()
    if n_features is None and not X.nnz:
        raise DataError(path, "no line has a feature")
    return Table(X, whole_if_possible(y), first_index=first)


def _first_fault(path: Path, n_features: int | None) -> DataError | None:
    """Return the error for the first line that breaks the format, None if none does."""
    with open_text(path) as stream:
        for number, line in data_lines(stream):
            fault = _fault(line.partition("#")[0].split(), n_features)
            if fault:
                return DataError(path, fault, number)
    return None


def _fault(tokens: list[str], n_features: int | None) -> str | None:
    """Return what is wrong with the tokens of one line, None if nothing is."""
    label, *pairs = tokens
    if not _is_finite(label):
        return f"the label {label!r} is not a finite number"
    indices: list[int] = []
    for pair in pairs:
        index, colon, value = pair.partition(":")
        if index == "qid":
            continue
        if not (colon and index.isdecimal()):
            return f"{pair!r} is not index:value"
        if not _is_finite(value):
            return f"feature {index} is {value!r}, not a finite number"
        indices.append(int(index))
    for before, after in pairwise(indices):
        if after <= before:
            return f"feature {after} follows feature {before}; indices must increase"
    if n_features is not None and indices and indices[-1] > n_features:
        return f"feature {indices[-1]} found, {n_features} features expected"
    return None


def _is_finite(text: str) -> bool:
    try:
        return bool(np.isfinite(float(text)))
    except ValueError:
        return False
