"""Parts of a matrix, and sums of its rows: numpy's indexing by lists takes several times as long."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._jit import jit

SQUARE = 32


@jit
def submatrix(K: Any, rows: Any, columns: Any, out: Any) -> None:
    """out[i, j] = K[rows[i], columns[j]]; what out has beyond stays as it is. Neighbours are copied together."""
    n = len(columns)
    ends = np.empty(n, np.int64)  # of the run of neighbours that begins here
    for j in range(n - 1, -1, -1):
        ends[j] = ends[j + 1] if j + 1 < n and columns[j + 1] == columns[j] + 1 else j + 1
    for i in range(len(rows)):
        row, values, j = K[rows[i]], out[i], 0
        while j < n:
            first, shift = j, columns[j] - j
            for k in range(first, ends[first]):
                values[k] = row[k + shift]
            j = ends[first]


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
def scatter(K: Any, rows: Any, columns: Any, out: Any, to_rows: Any, to_columns: Any) -> None:
    """out[to_rows[i], to_columns[j]] = K[rows[i], columns[j]]."""
    for i in range(len(rows)):
        row, values = K[rows[i]], out[to_rows[i]]
        for j in range(len(columns)):
            values[to_columns[j]] = row[columns[j]]


@jit
def add_rows(K: Any, rows: Any, weights: Any, out: Any) -> None:
    """out += sum over i of weights[i] K[rows[i]]."""
    for i in range(len(rows)):
        row, weight = K[rows[i]], weights[i]
        for t in range(len(out)):
            out[t] += weight * row[t]
