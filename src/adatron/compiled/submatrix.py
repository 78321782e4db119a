"""Parts of a matrix: numpy's indexing by lists takes several times as long."""

from __future__ import annotations

from typing import Any

import numpy as np

from .cache.jit import jit

SQUARE, CACHED_SIDE = 8, 16  # Sides of squares that registers transpose, and that stay in the first-level cache.


@jit(inner=True)
def _runs(columns: Any, places: Any) -> Any:
    """Return ends[j]: the end of the run of neighbours, in both lists, that begins at j."""
    n = len(columns)
    ends = np.empty(n, np.int64)
    for j in range(n - 1, -1, -1):
        near = j + 1 < n and columns[j + 1] == columns[j] + 1 and places[j + 1] == places[j] + 1
        ends[j] = ends[j + 1] if near else j + 1
    return ends


@jit
def scatter(K: Any, rows: Any, columns: Any, out: Any, to_rows: Any, to_columns: Any) -> None:
    """Set out[to_rows[i], to_columns[j]] to K[rows[i], columns[j]]; neighbours are copied together."""
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
    """Set K[i, j] to K[j, i] for two disjoint ranges, in squares whose loops the compiler keeps in registers."""
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
    """Set K[i, j] to K[j, i] for i < j < n."""
    for i in range(0, n, SQUARE):
        end = min(n, i + SQUARE)
        transpose(K, i, end, end, n)
        for u in range(i, end):
            for v in range(u + 1, end):
                K[u, v] = K[v, u]


@jit
def reflect(K: Any, rows: Any, lines: Any) -> None:
    """Set K[lines[i], rows[j]] to K[rows[j], lines[i]]; a few rows at a time, so that written values stay near."""
    for j0 in range(0, len(rows), CACHED_SIDE):
        part = rows[j0 : j0 + CACHED_SIDE]
        for i0 in range(0, len(lines), 4 * CACHED_SIDE):
            some = lines[i0 : i0 + 4 * CACHED_SIDE]
            for j in part:
                row = K[j]
                for i in some:
                    K[i, j] = row[i]


@jit(finite=True)
def asymmetry(K: Any, first: int, last: int) -> float:
    """Return the largest |K - K'| on the rows first:last, right of the diagonal, in the squares of ``transpose``."""
    n, largest = len(K), 0.0
    for i0 in range(first, last, 4 * SQUARE):  # a few lines of squares at a time, so that read pages stay near
        for j in range(i0, n, SQUARE):
            for i in range(i0, min(last, i0 + 4 * SQUARE), SQUARE):
                here, there = K[i : i + SQUARE, j : j + SQUARE], K[j : j + SQUARE, i : i + SQUARE]
                for u in range(here.shape[0]):
                    for v in range(here.shape[1]):
                        largest = max(largest, abs(here[u, v] - there[v, u]))
    return largest


@jit
def mean_halves(K: Any) -> None:
    """Set the values of K right of the diagonal to those of (K + K') / 2, in the squares of ``transpose``."""
    n = len(K)
    for i in range(0, n, SQUARE):
        for u in range(i, min(n, i + SQUARE)):
            for v in range(u + 1, min(n, i + SQUARE)):
                K[u, v] += 0.5 * (K[v, u] - K[u, v])
        for j in range(i + SQUARE, n, SQUARE):
            here, there = K[i : i + SQUARE, j : j + SQUARE], K[j : j + SQUARE, i : i + SQUARE]
            if j + SQUARE <= n:  # the compiler keeps these in registers
                for u in range(SQUARE):
                    for v in range(SQUARE):
                        here[u, v] += 0.5 * (there[v, u] - here[u, v])
            else:
                for u in range(SQUARE):
                    for v in range(n - j):
                        here[u, v] += 0.5 * (there[v, u] - here[u, v])


@jit
def take(K: Any, points: Any, rows: Any, out: Any, slots: Any) -> None:
    """Set out[slots[i], t] to K[points[i], rows[t]]; four points at a time, the last ones again if there are fewer."""
    last = len(points) - 1
    for i in range(0, len(points), 4):
        i1, i2, i3 = min(i + 1, last), min(i + 2, last), min(i + 3, last)
        k0, k1, k2, k3 = K[points[i]], K[points[i1]], K[points[i2]], K[points[i3]]
        to0, to1, to2, to3 = out[slots[i]], out[slots[i1]], out[slots[i2]], out[slots[i3]]
        for t in range(len(rows)):
            r = rows[t]
            to0[t], to1[t], to2[t], to3[t] = k0[r], k1[r], k2[r], k3[r]
