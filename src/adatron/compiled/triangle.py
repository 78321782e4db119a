"""A Cholesky factor that gains and loses single rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from .cache.jit import jit


@jit
def forward(L: Any, r: Any) -> None:
    """Set r to L^-1 r, for the leading rows of L that r has; two rows in two sums each, or one would wait."""
    m = len(r)
    for k in range(0, m - 1, 2):
        row, below = L[k], L[k + 1]
        a, b, c, d = r[k], r[k + 1], 0.0, 0.0
        for j in range(0, k, 2):
            a -= row[j] * r[j]
            b -= below[j] * r[j]
            c += row[j + 1] * r[j + 1]
            d += below[j + 1] * r[j + 1]
        r[k] = (a - c) / row[k]
        r[k + 1] = (b - d - below[k] * r[k]) / below[k + 1]
    if m % 2:
        row, total = L[m - 1], r[m - 1]
        for j in range(m - 1):
            total -= row[j] * r[j]
        r[m - 1] = total / row[m - 1]


@jit
def backward(L: Any, r: Any) -> None:
    """Set r to L'^-1 r, for the leading rows of L that r has."""
    for k in range(len(r) - 1, -1, -1):
        row = L[k]
        r[k] = r[k] / row[k]
        for j in range(k):
            r[j] -= row[j] * r[k]


@jit
def drop(L: Any, m: int, place: int) -> None:
    """Update a factor of m rows in place: remove the row and the column ``place`` of its matrix.

    The rows below move up; the entry that each then has right of the diagonal is rotated away.
    """
    cosine, sine = np.empty(m), np.empty(m)
    for r in range(place, m - 1):
        row, below = L[r], L[r + 1]
        for j in range(r + 2):
            row[j] = below[j]
        carried = row[place]
        for k in range(place, r):
            right = row[k + 1]
            row[k] = cosine[k] * carried + sine[k] * right
            carried = cosine[k] * right - sine[k] * carried
        length = np.hypot(carried, row[r + 1])
        cosine[r], sine[r] = carried / length, row[r + 1] / length
        row[r] = length
        row[r + 1] = 0.0
