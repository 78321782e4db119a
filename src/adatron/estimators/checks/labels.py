"""Labels that are refused: those that NumPy would make one of, and several ones that are not 0 and 1."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ...quoted import quoted

ONE_EACH = "sklearn.multioutput.MultiOutputClassifier fits one classifier for each column."


def refuse_merged(given: Any, y: NDArray[Any]) -> None:
    """Fail if an array holds dates, or fewer labels than the list it was: 1 beside '1', or whole numbers in float64."""
    if y.dtype.kind in "mM":
        raise ValueError(
            f"Unknown label type: {y.dtype}. Pass text, as y.astype(str) makes of dates, or whole numbers: a model "
            "file holds no dates."
        )
    if not isinstance(given, (list, tuple)) or y.ndim != 1 or y.dtype.kind not in "fU":
        return
    labels: Any = given
    kinds = set(map(type, labels))
    if kinds <= {str, np.str_} or kinds <= {float, np.float64}:
        return
    try:
        many = len(set(labels))
    except TypeError:  # labels that are sequences of one number
        return
    if many > len(np.unique(y)):
        raise ValueError(
            f"Unknown label type: NumPy turns {many} different labels into {len(np.unique(y))} in {y.dtype}. Pass an "
            "array of one type: text, or whole numbers in int64 or uint64."
        )


def flags(y: Any) -> NDArray[Any]:
    """Return several labels of each sample, (n, T), which must be 0 and 1."""
    if sparse.issparse(y):
        y = y.toarray()
    wrong = y if y.dtype.kind not in "biuf" else y[(y != 0) & (y != 1)]
    if wrong.size:
        raise ValueError(
            f"Several labels of a sample must be numbers 0 or 1. Got {quoted(wrong.flat[0])} of type {y.dtype}. "
            f"{ONE_EACH}"
        )
    return y


def refuse_constant(sides: NDArray[np.float64]) -> None:
    """Fail if a label is the same for all samples.

    sides : (T, n_combinations) 1 or -1, what each combination has of each label
    """
    constant = np.flatnonzero(sides.min(axis=1) == sides.max(axis=1))
    if constant.size:
        column, only = constant[0], int(sides[constant[0], 0] > 0.0)
        raise ValueError(f"Each column of y needs positive weights of both 0 and 1. Column {column} has only {only}.")
