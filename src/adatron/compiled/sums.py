"""Sums of rows of a matrix, and of products, in an order that nothing changes.

``two_sum`` and ``four`` are the parts that loops elsewhere share; the compiler puts them into the loops.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .cache.jit import jit

CHAIN = 64  # Products that are summed one after the other before the sum is folded.
SUMS_ABREAST = 8  # Sums side by side.


@jit(inner=True)
def two_sum(a: float, b: float) -> tuple[float, float]:
    """Return a + b and the rounding of this addition (D. E. Knuth's TwoSum)."""
    total = a + b
    taken = total - a
    return total, (a - (total - taken)) + (b - taken)


@jit(inner=True)
def four(w0: float, k0: Any, w1: float, k1: Any, w2: float, k2: Any, w3: float, k3: Any) -> float:
    """Return the sum of four products: with four rows at a time, the sums of rows are read and written less often."""
    return ((w0 * k0 + w1 * k1) + w2 * k2) + w3 * k3


@jit
def add_rows(K: Any, rows: Any, weights: Any, out: Any) -> None:
    """Add the sum over i of weights[i] K[rows[i]] to out."""
    for i in range(len(rows)):
        row, weight = K[rows[i]], weights[i]
        if weight != 0.0:
            for t in range(len(out)):
                out[t] += weight * row[t]


@jit
def fold(part: Any, total: Any, low: Any, n: int) -> None:
    """Add ``part`` to total + low for the first n entries, and set ``part`` to 0.

    ``low`` takes the rounding of each addition. So ``total + low`` has one rounding of its own,
    and errors of the order of the unit roundoff squared, however many parts there were.
    """
    for t in range(n):
        total[t], rounding = two_sum(total[t], part[t])
        low[t] += rounding
        part[t] = 0.0


@jit
def add_products(K: Any, points: Any, rows: Any, where: Any, weights: Any, ends: Any, out: Any) -> None:
    """Add the sum over i of V[i, j] K[points[i], rows[t]] to out[t, j]: four points at a time, which are then folded.

    For output j, ``ends[j]:ends[j + 1]`` are the ``weights`` V[i, j] and ``where`` their i; sums go in this order.
    """
    n, w = len(rows), np.empty(4)
    part, total, low = np.zeros(n), np.empty(n), np.empty(n)
    for j in range(len(ends) - 1):
        total[:] = 0.0
        low[:] = 0.0
        end = ends[j + 1]
        for e in range(ends[j], end, 4):
            for k in range(4):
                w[k] = weights[e + k] if e + k < end else 0.0
            e1, e2, e3 = min(e + 1, end - 1), min(e + 2, end - 1), min(e + 3, end - 1)
            k0, k1, k2, k3 = K[points[where[e]]], K[points[where[e1]]], K[points[where[e2]]], K[points[where[e3]]]
            w0, w1, w2, w3 = w[0], w[1], w[2], w[3]
            for t in range(n):
                r = rows[t]
                part[t] = four(w0, k0[r], w1, k1[r], w2, k2[r], w3, k3[r])
            fold(part, total, low, n)
        for t in range(n):
            out[t, j] += total[t] + low[t]


@jit
def add_dots(K: Any, points: Any, rows: Any, where: Any, weights: Any, ends: Any, out: Any) -> None:
    """Add the sums with K[rows[t], points[i]]: the rows of the matrix are new samples, the points its columns."""
    part, total, low = np.zeros(4), np.empty(4), np.empty(4)
    for t in range(len(rows)):
        row = K[rows[t]]
        for j in range(len(ends) - 1):
            total[:] = 0.0
            low[:] = 0.0
            for e in range(ends[j], ends[j + 1]):
                part[e % 4] = weights[e] * row[points[where[e]]]
                if e % 4 == 3:
                    fold(part, total, low, 4)
            fold(part, total, low, 4)
            fold(total[2:], total[:2], low[:2], 2)
            fold(total[1:2], total[:1], low[:1], 1)
            out[t, j] += total[0] + (((low[0] + low[1]) + low[2]) + low[3])


@jit
def add_square(K: Any, v: Any, w: Any, down: Any, down_low: Any, across: Any, across_low: Any) -> None:
    """Add K' v to down + down_low and, unless ``across`` is empty, K w to across + across_low, CHAIN by CHAIN."""
    n, m = K.shape
    part, line = np.zeros(m), np.zeros(n)
    for i in range(n):
        row, weight = K[i], v[i]
        for j in range(m):
            part[j] += weight * row[j]
        if (i + 1) % CHAIN == 0:
            fold(part, down, down_low, m)
    fold(part, down, down_low, m)
    lanes = np.empty(SUMS_ABREAST)
    for first in range(0, m if len(across) else 0, CHAIN * SUMS_ABREAST):
        last = min(m, first + CHAIN * SUMS_ABREAST)
        for i in range(n):
            row = K[i]
            lanes[:] = 0.0
            for j in range(first, last - SUMS_ABREAST + 1, SUMS_ABREAST):
                for lane in range(SUMS_ABREAST):
                    lanes[lane] += row[j + lane] * w[j + lane]
            for j in range(last - (last - first) % SUMS_ABREAST, last):
                lanes[0] += row[j] * w[j]
            line[i] = ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]))
        fold(line, across, across_low, n)
