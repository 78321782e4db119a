"""Packing of rows into panels, and the raw products of panels of points with panels of rows.

A panel of width w holds w rows feature by feature: ``panels[b, k, i]`` is feature k of row b*w + i, zero beyond the
last row. Each loop adds the terms of a pair in the order of the features (see ``micro``), whatever the tile. Dense
products add their terms in passes, whose sums are added: the proven error falls with the length of a pass.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .cache.jit import jit
from .micro import BLOCK_POINTS, register_block

TILE = 256  # Most rows of a tile: with POINT_PANELS panels of points it stays in the second-level cache.
POINT_PANELS = 240 // BLOCK_POINTS  # Panels of points of a tile: 240 points, a multiple of every width of a panel.
PASS_FEATURES = 128  # Features of a pass of a dense product: a panel stays in the first-level cache.
PASS_COLUMNS = 4096  # Columns of a pass of a sparse product.


# Rows in the form that the tiles read. All kinds have ``norms``: squared norms by the same sums as the products, zero
# beyond the last row up to a whole tile; ``width``, the rows of a block; and ``n``, the rows without the padding.
class Dense(NamedTuple):
    """Panels."""

    panels: NDArray[Any]  # (blocks, d, width)
    norms: NDArray[Any]
    width: int
    n: int

    @classmethod
    def empty(cls, dtype: Any) -> Dense:
        """Return an example of the type."""
        return cls(np.empty((0, 0, 0), dtype), np.empty(0, dtype), 0, 0)


class Sparse(NamedTuple):
    """CSR arrays."""

    data: NDArray[Any]
    indices: NDArray[np.int32]
    indptr: NDArray[np.int64]
    norms: NDArray[Any]
    width: int
    n: int

    @classmethod
    def empty(cls, dtype: Any) -> Sparse:
        """Return an example of the type."""
        nothing = np.empty(0, dtype)
        return cls(nothing, np.empty(0, np.int32), np.empty(0, np.int64), nothing, 0, 0)


Operand = Dense | Sparse


def roundings(d: int) -> NDArray[np.int64]:
    """Return the most roundings of each term of a dense product of d features: in its pass, then in the sum of passes.

    A pass begins with 0. Its terms are rounded once before they are added, or not at all if the addition is fused.
    """
    number, place = np.divmod(np.arange(d), PASS_FEATURES)
    length, passes = np.minimum(PASS_FEATURES, d - number * PASS_FEATURES), -(-d // PASS_FEATURES)
    return np.minimum(length, length - place + 1) + passes - np.maximum(number, 1)


@lru_cache(maxsize=64)
def most_roundings(d: int) -> int:
    """Return the most roundings of any term."""
    return int(roundings(d).max(initial=0))


@jit(inner=True)
def _fill_panel(X: Any, ids: Any, center: Any, panel: Any) -> None:
    """Set panel[k, i] to feature k of row i without the centre; four rows at a time, to write neighbours together."""
    last = len(ids) - 1
    for i in range(0, len(ids), 4):  # the last rows again if there are fewer
        i1, i2, i3 = min(i + 1, last), min(i + 2, last), min(i + 3, last)
        a, b, c, e = X[ids[i]], X[ids[i1]], X[ids[i2]], X[ids[i3]]
        for k in range(len(panel)):
            line, mean = panel[k], center[k]
            line[i], line[i1], line[i2], line[i3] = a[k] - mean, b[k] - mean, c[k] - mean, e[k] - mean


@jit
def pack(X: Any, ids: Any, center: Any, panels: Any, norms: Any, first: int, last: int) -> None:
    """Fill blocks ``first:last``; subtract ``center`` in double precision before rounding."""
    width = panels.shape[2]
    d = panels.shape[1]
    part = np.empty(width, panels.dtype)
    for b in range(first, last):
        count = min(width, len(ids) - b * width)
        _fill_panel(X, ids[b * width : b * width + count], center, panels[b])
        for start in range(0, d, PASS_FEATURES):
            for i in range(width):
                part[i] = 0
            for k in range(start, min(d, start + PASS_FEATURES)):
                for i in range(width):
                    part[i] += panels[b, k, i] * panels[b, k, i]
            for i in range(width):
                norms[b * width + i] += part[i]


@jit
def pack_segments(X: Any, ids: Any, center: Any, sizes: Any, first: Any, panels: Any, norms: Any) -> None:
    """Pack rows in segments, each of which begins with a block of its own; ``first`` has these blocks' numbers."""
    width, at = panels.shape[2], 0
    for s in range(len(sizes)):
        a, b, own = first[s], first[s + 1], ids[at : at + sizes[s]]
        pack(X, own, center, panels[a:b], norms[a * width : b * width], 0, b - a)
        at += sizes[s]


@jit
def sum_rows(X: Any, ids: Any, out: Any) -> None:
    """Add the sum of some rows to out, in double precision."""
    for i in ids:
        row = X[i]
        for k in range(len(out)):
            out[k] += row[k]


@jit
def squared_norms(X: Any, ids: Any, center: Any, weights: Any, out: Any) -> None:
    """Set out[i] to the sum of weights (X[ids[i]] - center)^2 in double precision."""
    for i in range(len(ids)):
        total = 0.0
        for k in range(X.shape[1]):
            total += weights[k] * (X[ids[i], k] - center[k]) ** 2
        out[i] = total


@jit
def sparse_norms(data: Any, indptr: Any, norms: Any) -> None:
    """Set norms[i] to |x_i|^2 of CSR rows, summed as ``sparse_products`` does."""
    for i in range(len(indptr) - 1):
        total = norms.dtype.type(0)
        for e in range(indptr[i], indptr[i + 1]):
            total += data[e] * data[e]
        norms[i] = total


@jit
def dense_products(points: Any, p0: int, p1: int, rows: Any, r0: int, r1: int, tile: Any) -> None:
    """Multiply the blocks p0:p1 of points by the blocks r0:r1 of rows into the first columns of a tile."""
    d, width = rows.panels.shape[1], rows.width
    a, b, out, stride = points.panels.reshape(-1), rows.panels.reshape(-1), tile.reshape(-1), tile.shape[1]
    for i in range(len(out) if d == 0 else 0):
        out[i] = 0
    # A panel of rows stays in the first-level cache while points go by; in double precision a panel of points stays.
    some = POINT_PANELS if tile.itemsize == 4 else 1
    for k in range(0, d, PASS_FEATURES):
        count = min(PASS_FEATURES, d - k)
        for q in range(p0, p1, some):
            for r in range(r0, r1):
                for p in range(q, min(p1, q + some)):
                    at = (p - p0) * BLOCK_POINTS * stride + (r - r0) * width
                    register_block(
                        a, (p * d + k) * BLOCK_POINTS, b, (r * d + k) * width, count, out, at, stride, k == 0
                    )


@jit(inner=True)
def _distances(points: Any, p0: int, p1: int, rows: Any, r0: int, r1: int, tile: Any, squared: bool) -> None:
    """Set tile to sums over the features of |x - z|, or of its square, for blocks of points and of rows."""
    d, width = rows.panels.shape[1], rows.width
    total = np.empty(width, tile.dtype)
    for r in range(r0, r1):
        for p in range(p0 * BLOCK_POINTS, p1 * BLOCK_POINTS):
            for i in range(width):
                total[i] = 0
            for k in range(d):
                x = points.panels[p // BLOCK_POINTS, k, p % BLOCK_POINTS]
                if squared:
                    for i in range(width):
                        total[i] += (x - rows.panels[r, k, i]) * (x - rows.panels[r, k, i])
                else:
                    for i in range(width):
                        total[i] += abs(x - rows.panels[r, k, i])
            for i in range(width):
                tile[p - p0 * BLOCK_POINTS, (r - r0) * width + i] = total[i]


@jit
def l1_distances(points: Any, p0: int, p1: int, rows: Any, r0: int, r1: int, tile: Any) -> None:
    """Set tile to the L1 distances of the blocks p0:p1 of points from the blocks r0:r1 of rows."""
    _distances(points, p0, p1, rows, r0, r1, tile, False)


@jit
def squared_distances(points: Any, p0: int, p1: int, rows: Any, r0: int, r1: int, tile: Any) -> None:
    """Set tile to the squared Euclidean distances of the blocks p0:p1 of points from the blocks r0:r1 of rows."""
    _distances(points, p0, p1, rows, r0, r1, tile, True)


@jit
def sparse_products(points: Any, p0: int, p1: int, rows: Any, r0: int, r1: int, tile: Any) -> None:
    """Multiply CSR rows: the points are spread over a dense panel, PASS_COLUMNS columns at a time."""
    n, m, width = rows.n, points.n, rows.width
    first, count = p0 * BLOCK_POINTS, (p1 - p0) * BLOCK_POINTS
    start, stop = min(r0 * width, n), min(r1 * width, n)
    d = 0
    for i in range(first, min(m, first + count)):
        if points.indptr[i + 1] > points.indptr[i]:
            d = max(d, points.indices[points.indptr[i + 1] - 1] + 1)
    panel = np.zeros((min(d, PASS_COLUMNS), count), tile.dtype)
    from_point = points.indptr[first : min(m, first + count)].copy()
    from_row = rows.indptr[start:stop].copy()
    sums = np.zeros((stop - start, count), tile.dtype)
    for base in range(0, d, PASS_COLUMNS):
        _spread(points, first, from_point, base, panel)
        for t in range(stop - start):
            e, end = from_row[t], rows.indptr[start + t + 1]
            while e < end and rows.indices[e] < base + len(panel):
                value, spread, total = rows.data[e], panel[rows.indices[e] - base], sums[t]
                for i in range(count):
                    total[i] += value * spread[i]
                e += 1
            from_row[t] = e
        panel.fill(0)
    for i in range(count):
        for t in range(stop - start):
            tile[i, t] = sums[t, i]
        for t in range(stop - start, tile.shape[1]):
            tile[i, t] = 0


@jit(inner=True)
def _spread(points: Any, first: int, from_point: Any, base: int, panel: Any) -> None:
    for i in range(len(from_point)):
        e, end = from_point[i], points.indptr[first + i + 1]
        while e < end and points.indices[e] < base + len(panel):
            panel[points.indices[e] - base, i] = points.data[e]
            e += 1
        from_point[i] = e


@jit(inner=True)
def _sparse_distances(points: Any, p0: int, p1: int, rows: Any, r0: int, r1: int, tile: Any, squared: bool) -> None:
    """Compute ``_distances`` of CSR rows, by merging their sorted columns."""
    n, m, width = rows.n, points.n, rows.width
    for i in range(p0 * BLOCK_POINTS, min(m, p1 * BLOCK_POINTS)):
        for t in range(r0 * width, min(n, r1 * width)):
            a, a_end, b, b_end = points.indptr[i], points.indptr[i + 1], rows.indptr[t], rows.indptr[t + 1]
            total = tile.dtype.type(0)
            while a < a_end or b < b_end:
                ca = points.indices[a] if a < a_end else np.int32(2147483647)
                cb = rows.indices[b] if b < b_end else np.int32(2147483647)
                off = points.data[a] if ca <= cb else rows.data[b]
                if ca == cb:
                    off -= rows.data[b]
                total += off * off if squared else abs(off)
                a += ca <= cb
                b += cb <= ca
            tile[i - p0 * BLOCK_POINTS, t - r0 * width] = total


@jit
def sparse_l1(points: Any, p0: int, p1: int, rows: Any, r0: int, r1: int, tile: Any) -> None:
    """Compute L1 distances of CSR rows."""
    _sparse_distances(points, p0, p1, rows, r0, r1, tile, False)


@jit
def sparse_squares(points: Any, p0: int, p1: int, rows: Any, r0: int, r1: int, tile: Any) -> None:
    """Compute squared Euclidean distances of CSR rows."""
    _sparse_distances(points, p0, p1, rows, r0, r1, tile, True)


#: Functions that fill a tile before a kernel's map, by the kind of the operands and by name.
PRODUCTS: dict[tuple[type[Any], str], Any] = {
    (Dense, "dot"): dense_products,
    (Dense, "l1"): l1_distances,
    (Dense, "squares"): squared_distances,
    (Sparse, "dot"): sparse_products,
    (Sparse, "l1"): sparse_l1,
    (Sparse, "squares"): sparse_squares,
}
