"""Parts of a matrix, and sums of its rows: numpy's indexing by lists takes several times as long."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._jit import jit

SQUARE = 32


@jit
def _runs(columns: Any, places: Any) -> Any:
    """ends[j]: of the run of neighbours, in both lists, that begins at j."""
    n = len(columns)
    ends = np.empty(n, np.int64)
    for j in range(n - 1, -1, -1):
        near = j + 1 < n and columns[j + 1] == columns[j] + 1 and places[j + 1] == places[j] + 1
        ends[j] = ends[j + 1] if near else j + 1
    return ends


@jit
def scatter(K: Any, rows: Any, columns: Any, out: Any, to_rows: Any, to_columns: Any) -> None:
    """out[to_rows[i], to_columns[j]] = K[rows[i], columns[j]]. Neighbours are copied together."""
    n = len(columns)
    ends = _runs(columns, to_columns)
    for i in range(len(rows)):
        row, values, j = K[rows[i]], out[to_rows[i]], 0
        while j < n:
            end = ends[j]
            part, target = row[columns[j] : columns[end - 1] + 1], values[to_columns[j] : to_columns[end - 1] + 1]
            for k in range(end - j):
                target[k] = part[k]
            j = end


@jit
def mirror(K: Any, n: int) -> None:
    """K[i, j] = K[j, i] for i < j < n, a square at a time so that what is read stays near."""
    for i0 in range(0, n, SQUARE):
        for j0 in range(i0, n, SQUARE):
            for i in range(i0, min(n, i0 + SQUARE)):
                row = K[i]
                for j in range(max(j0, i + 1), min(n, j0 + SQUARE)):
                    row[j] = K[j, i]


@jit
def reflect(K: Any, rows: Any, first: int, last: int) -> None:
    """K[i, rows[j]] = K[rows[j], i] for first <= i < last.

    By way of a small square: rows whose distance is a power of two meet in one place of the cache.
    """
    square = np.empty((SQUARE, SQUARE + 1), K.dtype)
    for i0 in range(first, last, SQUARE):
        high = min(SQUARE, last - i0)
        for j0 in range(0, len(rows), SQUARE):
            part = rows[j0 : j0 + SQUARE]
            for j in range(len(part)):
                row = K[part[j], i0 : i0 + high]
                for i in range(high):
                    square[i, j] = row[i]
            together = part[len(part) - 1] - part[0] == len(part) - 1
            for i in range(high):
                row, made = K[i0 + i], square[i]
                if together:
                    target = row[part[0] : part[0] + len(part)]
                    for j in range(len(target)):
                        target[j] = made[j]
                else:
                    for j in range(len(part)):
                        row[part[j]] = made[j]


@jit
def add_rows(K: Any, rows: Any, weights: Any, out: Any) -> None:
    """out += sum over i of weights[i] K[rows[i]]."""
    for i in range(len(rows)):
        row, weight = K[rows[i]], weights[i]
        for t in range(len(out)):
            out[t] += weight * row[t]
