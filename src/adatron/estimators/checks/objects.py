"""Samples that are not rows of numbers, such as texts, graphs and series, for the user's kernel function only.

As in scikit-learn, the function then gets them as they were given, all at once, in the fit and in predictions. Its
matrix is treated like a given one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ...quoted import quoted
from .columns import are_numbers

LONGEST_QUOTED = 60  # Characters of a text that a message shows.


def is_function(kernel: Any) -> bool:
    """Return whether a kernel is a function of the user."""
    if not callable(kernel):
        return False
    from ...kernels import Kernel

    return not isinstance(kernel, Kernel)


def kept(kernel: Any, X: Any) -> Any:
    """Return X if only a function can take it, so that predictions need it; else None."""
    if not is_function(kernel) or _are_rows(X):
        return None
    refuse_single(X)
    return X


def refuse_single(X: Any) -> None:
    """Fail if X is one text, whose letters would be samples, or an array of no dimension."""
    if isinstance(X, (str, bytes)) or getattr(X, "ndim", 1) == 0:
        one = quoted(X)[:LONGEST_QUOTED]
        raise ValueError(f"X must hold samples, such as a list of texts. Got one alone, {one}; pass [X].")


def kernel_matrix(kernel: Any, X: Any, samples: Any) -> NDArray[np.float64]:
    """Return the function's values of X (n) and the training samples (m), (n, m)."""
    from ...kernels import Function

    return Function(kernel)(X, samples)


def _are_rows(X: Any) -> bool:
    if sparse.issparse(X):
        return True
    try:
        array = np.asarray(X)
    except ValueError:  # sequences of different lengths
        return False
    return array.ndim == 2 and (array.dtype.kind in "biufc" or are_numbers(X))
