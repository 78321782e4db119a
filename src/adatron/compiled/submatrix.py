"""Parts of a matrix, and sums of its rows: numpy's indexing by lists takes several times as long."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._jit import jit

SQUARE, NEAR = 8, 16  # sides of what is turned in registers, and of what stays in the first-level cache


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
def transpose(K: Any, i0: int, i1: int, j0: int, j1: int) -> None:
    """K[i, j] = K[j, i] for the i and j of two ranges apart, in squares whose loops the compiler keeps in registers."""
    for i in range(i0, i1, SQUARE):
        for j in range(j0, j1, SQUARE):
            if i + SQUARE <= i1 and j + SQUARE <= j1:
                source, target = K[j : j + SQUARE, i : i + SQUARE], K[i : i + SQUARE, j : j + SQUARE]
                for u in range(SQUARE):
                    for v in range(SQUARE):
                        target[u, v] = source[v, u]
            else:
                for u in range(i, min(i1, i + SQUARE)):
                    for v in range(j, min(j1, j + SQUARE)):
                        K[u, v] = K[v, u]


@jit
def mirror(K: Any, n: int) -> None:
    """K[i, j] = K[j, i] for i < j < n."""
    for i in range(0, n, SQUARE):
        end = min(n, i + SQUARE)
        transpose(K, i, end, end, n)
        for u in range(i, end):
            for v in range(u + 1, end):
                K[u, v] = K[v, u]


@jit
def reflect(K: Any, rows: Any, lines: Any) -> None:
    """K[lines[i], rows[j]] = K[rows[j], lines[i]]; a few rows at a time, so that what is written stays near."""
    for j0 in range(0, len(rows), NEAR):
        part = rows[j0 : j0 + NEAR]
        for i0 in range(0, len(lines), 4 * NEAR):
            some = lines[i0 : i0 + 4 * NEAR]
            for j in part:
                row = K[j]
                for i in some:
                    K[i, j] = row[i]


@jit
def add_rows(K: Any, rows: Any, weights: Any, out: Any) -> None:
    """out += sum over i of weights[i] K[rows[i]]."""
    for i in range(len(rows)):
        row, weight = K[rows[i]], weights[i]
        if weight != 0.0:
            for t in range(len(out)):
                out[t] += weight * row[t]
