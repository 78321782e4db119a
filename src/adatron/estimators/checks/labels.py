"""Labels that NumPy would make one of."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def refuse_merged(given: Any, y: NDArray[Any]) -> None:
    """Fail if the array of a list has fewer labels than the list: 1 beside '1', or whole numbers made float64."""
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
