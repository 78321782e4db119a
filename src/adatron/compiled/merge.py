"""Samples in an order, equal ones next to each other, merged."""

from __future__ import annotations

from typing import Any

import numpy as np

from .cache.jit import jit


@jit
def alike(order: Any, keys: Any, codes: Any) -> Any:
    """Return places in the order whose sample has the class and hash of the one before: they may be equal."""
    out, count = np.empty(len(order), np.int64), 0
    for i in range(1, len(order)):
        a, b = order[i - 1], order[i]
        if keys[a] == keys[b] and codes[a] == codes[b]:
            out[count] = i
            count += 1
    return out[:count]


@jit
def merge(order: Any, first: Any, codes: Any, n_classes: int, weight: Any) -> Any:
    """Return ``rows``, ``sizes``, ``weight``, ``group`` and ``own`` of ``Samples``.

    order, first : the members, and whether each is not equal to the one before it
    codes, weight : those of all samples, members or not
    """
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
        before, more = total[count - 1], weight[row]
        after = before + more
        taken = after - before
        low += (before - (after - taken)) + (more - taken)
        total[count - 1] = after
    if count:
        total[count - 1] += low
    return rows[:count], sizes, total[:count], group, own
