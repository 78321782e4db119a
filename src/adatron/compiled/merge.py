"""Samples in an order, equal ones next to each other, merged."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .cache.jit import jit
from .sums import two_sum


def alike(order: NDArray[np.int64], keys: NDArray[np.uint64], codes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return places in the order whose sample has the class and hash of the one before: they may be equal."""
    keys, codes = keys[order], codes[order]
    return 1 + np.flatnonzero((keys[1:] == keys[:-1]) & (codes[1:] == codes[:-1]))


def merge(
    order: NDArray[np.int64], first: NDArray[np.bool_], codes: NDArray[np.int64], n_classes: int, weight: Any
) -> Any:
    """Return ``rows``, ``sizes``, ``weight``, ``group`` and ``own`` of ``Samples``.

    order, first : the members, and whether each is not equal to the one before it
    codes, weight : those of all samples, members or not
    """
    if not first.all():
        return _merged(order, first, codes, n_classes, weight)
    own = weight[order]  # no samples are equal: nothing has to be compiled
    return order.copy(), np.bincount(codes[order], minlength=n_classes), own.copy(), np.arange(len(order)), own


@jit
def _merged(order: Any, first: Any, codes: Any, n_classes: int, weight: Any) -> Any:
    n, sizes, count = len(order), np.zeros(n_classes, np.int64), 0
    rows, total, group, own = np.empty(n, np.int64), np.zeros(n), np.empty(n, np.int64), np.empty(n)
    low = 0.0  # roundings of the additions so far, so that a thousand members weigh the sum of their weights
    for i in range(n):
        row = order[i]
        if first[i]:
            if count:
                total[count - 1] += low
            low = 0.0
            rows[count] = row
            sizes[codes[row]] += 1
            count += 1
        group[i], own[i] = count - 1, weight[row]
        total[count - 1], rounding = two_sum(total[count - 1], weight[row])
        low += rounding
    if count:
        total[count - 1] += low
    return rows[:count], sizes, total[:count], group, own
