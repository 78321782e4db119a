"""Sizes of a machine's arrays, which compiled loops trust: a state from elsewhere must have the right ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse


def refuse_torn(machine: Any) -> None:
    """Fail if the arrays of a fitted machine do not fit each other.

    Raises
    ------
    ValueError
    """
    state = vars(machine)
    if "support_vectors_" not in state or "dual_coef_" not in state:
        return
    fault = _fault(machine, state["support_vectors_"], state["dual_coef_"])
    if fault:
        raise ValueError(f"This is no valid state of a fitted {type(machine).__name__}: {fault}.")


def _fault(machine: Any, vectors: Any, dual: Any) -> str:
    for name, matrix in (("support_vectors_", vectors), ("dual_coef_", dual)):
        if fault := _unreadable(matrix):
            return f"{name} {fault}"
    support = machine.support_
    if not isinstance(support, np.ndarray) or support.ndim != 1 or support.dtype.kind not in "iu":
        return "support_ holds no whole numbers"
    counts = np.asarray(machine._n_support)
    if counts.ndim != 1 or (counts < 0).any() or counts.sum() != dual.shape[1]:
        return f"dual_coef_ has {dual.shape[1]} columns for {counts.sum()} support vectors"
    width = vars(machine).get("n_features_in_")  # a model of LIBSVM's text knows no width of kernel values
    if machine._values:
        most = dual.shape[1] if machine.compact_ else 2**31 if width is None else int(width)
        columns = machine._columns()
        inside = machine.given_objects is not None or not len(columns) or 0 <= columns.min() <= columns.max() < most
        return "" if inside and len(columns) == dual.shape[1] else "support_ does not number columns of kernel values"
    wanted = dual.shape[1], vectors.shape[1] if width is None else int(width)
    if vectors.shape != wanted:
        return f"support_vectors_ has the shape {vectors.shape}, not {wanted}"
    tilts = vars(machine).get("tilts_")
    return "tilts_ has another shape" if tilts is not None and np.shape(tilts) != vectors.shape else ""


def _unreadable(matrix: Any) -> str:
    """Return what is wrong with a table of numbers, or nothing."""
    if sparse.issparse(matrix):
        try:
            matrix.check_format(full_check=True)
        except (AttributeError, ValueError) as error:
            return f"is not a valid CSR matrix ({error})"
    elif not isinstance(matrix, np.ndarray):
        return "is no array"
    return "" if matrix.ndim == 2 and matrix.dtype.kind == "f" else "is no table of real numbers"
