"""Read LIBSVM text: `label index:value index:value ...`, one sample a line."""

from __future__ import annotations

import os
import re
import warnings
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from ...arrays import MOST_COLUMNS
from ..labels import whole_numbers
from ..source import data_lines, open_binary, open_text
from ..table import DataError, Path, Request, Table, whole_if_possible

MOST_DIGITS = 18  # Most digits of the number of a feature, which is an integer of 64 bits.
_EXACT = 2.0**53  # Whole numbers below are exact in float64.
_WHOLE_NUMBER = re.compile(r"[+-]?[0-9]{1,20}")  # Those of more digits do not fit into 64 bits.
_RANKED = "query ids (qid) are ignored: the samples of all queries are one set, and no machine here learns a ranking"
_SIGN = b"\xef\xbb\xbf"  # The byte order mark that some editors put in front.


def read_libsvm(path: Path, request: Request) -> Table:
    """Read a LIBSVM text file into CSR float64; explicit zeros are dropped.

    Unless the request says otherwise, a file that uses index 0 counts from 0 (scikit-learn writes such files), others
    count from 1. Query ids (qid) are ignored, with a warning.
    """
    if request.label is not None:
        raise DataError(path, "LIBSVM text has its label in front: leave out the label column")
    n_features, zero_based = request.n_features, request.zero_based
    raw, y, ranked = _parsed(path, request)
    if not len(y):
        raise DataError(path, "the file holds no data")
    lowest = min(1, int(raw.indices.min(initial=1)))
    first = lowest if zero_based is None else 1 - zero_based
    found = max(raw.shape[1] - first, 0)
    width = found if n_features is None else max(found, n_features) if request.surplus else n_features
    if (
        found > MOST_COLUMNS
        or not (np.isfinite(raw.data).all() and np.isfinite(y).all())
        or found > width
        or lowest < first
    ):
        raise _first_fault(path, replace(request, zero_based=not first)) or DataError(path, "not finite numbers")
    # Built anew from its parts, a matrix gets 32-bit indices if they suffice; most of scikit-learn needs these.
    X = csr_matrix((raw.data, raw.indices - first, raw.indptr), shape=(len(y), width))
    X.eliminate_zeros()
    if n_features is None and not X.nnz:
        raise DataError(path, "no line has a feature")
    if ranked:
        warnings.warn(f"{os.fspath(path)}: {_RANKED}", stacklevel=2)
    return Table(X, _labels(path, y, request), first_index=first)


def _parsed(path: Path, request: Request) -> tuple[Any, Any, bool]:
    """Return the features with column j for feature j, the labels in float64, and whether there are query ids."""
    from sklearn.datasets import load_svmlight_file

    try:
        with open_binary(path, request.max_bytes, text=True, cost=_cost) as stream:
            if stream.peek(len(_SIGN)).startswith(_SIGN):  # pyright: ignore[reportAttributeAccessIssue]
                stream.read(len(_SIGN))
            read: Any = load_svmlight_file
            X, y, queries = read(stream, dtype=np.float64, zero_based=True, query_id=True)
            return X, y, len(queries) > 0
    except DataError:
        raise
    except (ValueError, OverflowError) as error:
        # The fast parser does not say where it stopped; a slow second reading does.
        raise _first_fault(path, request) or DataError(path, f"not LIBSVM text ({error})") from error


def _labels(path: Path, y: NDArray[np.float64], request: Request) -> NDArray[Any]:
    """Return the labels; large whole numbers are read again, since float64 does not tell them apart."""
    if not (np.abs(y) >= _EXACT).any():
        return whole_if_possible(y)
    with open_text(path, request.max_bytes) as stream:
        texts = [line.split(None, 1)[0] for _, line in data_lines(stream)]
    if not all(map(_WHOLE_NUMBER.fullmatch, texts)):
        return whole_if_possible(y)
    found = whole_numbers(list(map(int, texts)))
    if found is None:
        raise DataError(path, "labels are whole numbers of more than 64 bits, but 64 are the most")
    return found


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
    if widest >= MOST_COLUMNS + (request.zero_based is not True):
        return f"feature {widest} found, and at most {MOST_COLUMNS} features are possible"
    for before, after in pairwise(indices):
        if after <= before:
            return f"feature {after} follows feature {before}; indices must increase"
    if request.zero_based is False and 0 in indices[:1]:
        return "feature 0 found, and features count from 1 here, as requested or as in the model's data"
    expected = None if request.surplus or not indices else request.n_features
    if expected is not None and indices[-1] > expected - bool(request.zero_based):
        counted = ", which count from 0," if request.zero_based else ""
        most = indices[-1] + bool(request.zero_based)
        return (
            f"feature {indices[-1]} found, {expected} features{counted} expected: train with "
            f"--features {most} or more (n_features in Python), as this file has features that the training data lack"
        )
    return None


def _is_finite(text: str) -> bool:
    try:
        return bool(np.isfinite(float(text)))
    except ValueError:
        return False
