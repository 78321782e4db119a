"""Read LIBSVM text: `label index:value index:value ...`, one sample a line."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.datasets import load_svmlight_file

from ..source import data_lines, open_binary, open_text
from ..table import DataError, Path, Request, Table, whole_if_possible

MOST_DIGITS = 18  # Most digits of the number of a feature, which is an integer of 64 bits.


def read_libsvm(path: Path, request: Request) -> Table:
    """Read a LIBSVM text file into CSR float64; explicit zeros are dropped.

    Unless the request says otherwise, a file that uses index 0 counts from 0 (scikit-learn writes such files), others
    count from 1.

    Raises
    ------
    DataError
        For an empty file, a malformed line, text or NaN in place of a number, more features than expected, or a
        feature 0 although features count from 1.
    """
    if request.label is not None:
        raise DataError(path, "LIBSVM text has its label in front: leave out the label column")
    n_features, zero_based = request.n_features, request.zero_based
    try:
        with open_binary(path, request.max_bytes, text=True, cost=_cost) as stream:
            read: Any = load_svmlight_file
            raw, y = read(stream, dtype=np.float64, zero_based=True)
    except DataError:
        raise
    except (ValueError, OverflowError) as error:
        # The fast parser does not say where it stopped; a slow second reading does.
        raise _first_fault(path, request) or DataError(path, f"not LIBSVM text ({error})") from error
    if not len(y):
        raise DataError(path, "the file holds no data")
    lowest = min(1, int(raw.indices.min(initial=1)))
    first = lowest if zero_based is None else 1 - zero_based
    width = max(raw.shape[1] - first, 0) if n_features is None else n_features
    too_wide = raw.shape[1] * 8 > request.max_bytes
    if (
        too_wide
        or not (np.isfinite(raw.data).all() and np.isfinite(y).all())
        or raw.shape[1] - first > width
        or lowest < first
    ):
        raise _first_fault(path, replace(request, zero_based=not first)) or DataError(path, "not finite numbers")
    # Built anew from its parts, a matrix gets 32-bit indices if they suffice; most of scikit-learn needs these.
    X = csr_matrix((raw.data, raw.indices - first, raw.indptr), shape=(len(y), width))
    X.eliminate_zeros()
    if n_features is None and not X.nnz:
        raise DataError(path, "no line has a feature")
    return Table(X, whole_if_possible(y), first_index=first)


def _cost(text: bytes) -> int:
    """Return the bytes of the arrays for a text: 16 for each value, and for each sample."""
    return 16 * (text.count(b":") + text.count(b"\n"))


def _first_fault(path: Path, request: Request) -> DataError | None:
    """Return the error for the first line that breaks the format, or None if no line does."""
    with open_text(path, request.max_bytes) as stream:
        for number, line in data_lines(stream):
            fault = _fault(line.partition("#")[0].split(), request)
            if fault:
                return DataError(path, fault, number)
    return None


def _fault(tokens: list[str], request: Request) -> str | None:
    """Return the fault in the tokens of one line, or None if there is no fault."""
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
        if len(index) > MOST_DIGITS:
            return f"feature {index} found, and a feature's number has at most {MOST_DIGITS} digits"
        if not _is_finite(value):
            return f"feature {index} is {value!r}, not a finite number"
        indices.append(int(index))
    widest = max(indices, default=0)
    if widest * 8 > request.max_bytes:
        return f"feature {widest} found, and a sample with this many features takes more bytes than max_bytes allows"
    for before, after in pairwise(indices):
        if after <= before:
            return f"feature {after} follows feature {before}; indices must increase"
    if request.zero_based is False and 0 in indices[:1]:
        return "feature 0 found, and features count from 1 here, as requested or as in the model's data"
    if request.n_features is not None and indices and indices[-1] > request.n_features - bool(request.zero_based):
        counted = ", which count from 0," if request.zero_based else ""
        return f"feature {indices[-1]} found, {request.n_features} features{counted} expected"
    return None


def _is_finite(text: str) -> bool:
    try:
        return bool(np.isfinite(float(text)))
    except ValueError:
        return False
