"""Sums of products with rows in twice the precision of float64, and products of rows with bounds of their errors."""

from __future__ import annotations

from typing import Any

import numpy as np

from .cache.jit import jit
from .sums import two_sum

SPLIT = 2.0**27 + 1.0  # Parts a float64 into two halves, whose products are exact.
ABREAST = 8  # Features whose products are summed side by side.


@jit(inner=True, fused=False)
def halves(a: float) -> tuple[float, float]:
    """Return two numbers of 26 bits whose sum is a (G. W. Veltkamp)."""
    big = SPLIT * a
    high = big - (big - a)
    return high, a - high


@jit(inner=True, fused=False)
def rounding_of(product: float, a1: float, a2: float, b1: float, b2: float) -> float:
    """Return what a rounded product lacks, by the halves of its factors (T. J. Dekker, Numer. Math. 18, 1971)."""
    return a2 * b2 - (((product - a1 * b1) - a2 * b1) - a1 * b2)


@jit(fused=False)
def spread_rows(X: Any, ids: Any, v: Any, first: int, last: int, w: Any, low: Any, mass: Any) -> None:
    """Add the sum of v_i x_i, and last that of v_i, to w + low, and the sums of their sizes to ``mass``."""
    d = len(w) - 1
    for i in range(first, last):
        row, a = X[ids[i]], v[i]
        a1, a2 = halves(a)
        for k in range(d):
            x = np.float64(row[k])
            x1, x2 = halves(x)
            product = a * x
            w[k], rounding = two_sum(w[k], product)
            low[k] += rounding + rounding_of(product, a1, a2, x1, x2)
            mass[k] += abs(product)
        w[d], rounding = two_sum(w[d], a)
        low[d] += rounding
        mass[d] += abs(a)


@jit(fused=False)
def spread_csr(data: Any, indices: Any, indptr: Any, v: Any, w: Any, low: Any, mass: Any) -> None:
    """Do the same for the rows of a CSR matrix."""
    d = len(w) - 1
    for i in range(len(v)):
        a = v[i]
        a1, a2 = halves(a)
        for e in range(indptr[i], indptr[i + 1]):
            k, x = indices[e], np.float64(data[e])
            x1, x2 = halves(x)
            product = a * x
            w[k], rounding = two_sum(w[k], product)
            low[k] += rounding + rounding_of(product, a1, a2, x1, x2)
            mass[k] += abs(product)
        w[d], rounding = two_sum(w[d], a)
        low[d] += rounding
        mass[d] += abs(a)


@jit
def gather_rows(X: Any, ids: Any, center: Any, w: Any, off: Any, first: int, last: int, out: Any, bound: Any) -> None:
    """Set out[i] to w·(x_i - center), and bound[i] to off·|x_i - center|."""
    d, lanes, sizes = len(w), np.empty(ABREAST), np.empty(ABREAST)
    for i in range(first, last):
        row = X[ids[i]]
        lanes[:] = 0.0
        sizes[:] = 0.0
        for k in range(0, d - ABREAST + 1, ABREAST):
            for lane in range(ABREAST):
                x = np.float64(row[k + lane]) - center[k + lane]
                lanes[lane] += w[k + lane] * x
                sizes[lane] += off[k + lane] * abs(x)
        for k in range(d - d % ABREAST, d):
            x = np.float64(row[k]) - center[k]
            lanes[0] += w[k] * x
            sizes[0] += off[k] * abs(x)
        total, size = 0.0, 0.0
        for lane in range(ABREAST):
            total += lanes[lane]
            size += sizes[lane]
        out[i], bound[i] = total, size


@jit
def gather_csr(data: Any, indices: Any, indptr: Any, w: Any, off: Any, out: Any, bound: Any) -> None:
    """Do the same for the rows of a CSR matrix, which have no centre."""
    for i in range(len(out)):
        total, size = 0.0, 0.0
        for e in range(indptr[i], indptr[i + 1]):
            x, k = np.float64(data[e]), indices[e]
            total += w[k] * x
            size += off[k] * abs(x)
        out[i], bound[i] = total, size
