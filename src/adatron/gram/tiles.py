"""The tile loops: kernel values are made, used and forgotten inside the second-level cache.

A tile is a block of points against up to TILE rows. Its values come from raw products and the maps of the kernel's
program; then they are summed with weights, and written out where they shall be kept.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ..compiled._jit import jit
from ..compiled.micro import POINTS
from ..compiled.panels import POINT_PANELS, PRODUCTS, TILE, Operand
from ..compiled.pointer import address, call
from ..compiled.search import CHUNK
from ..kernels import ADD, KERNELS, MULTIPLY, SCALE

TILE_SIZE = POINT_PANELS * POINTS * TILE  # values of the largest tile


# Plain loops: array expressions would bring in seconds of compilation for shapes that cannot differ.
@jit
def _add(tile: Any, other: Any) -> None:
    for i in range(tile.shape[0]):
        for t in range(tile.shape[1]):
            tile[i, t] += other[i, t]


@jit
def _multiply(tile: Any, other: Any) -> None:
    for i in range(tile.shape[0]):
        for t in range(tile.shape[1]):
            tile[i, t] *= other[i, t]


@jit
def _scale(tile: Any, factor: float) -> None:
    for i in range(tile.shape[0]):
        for t in range(tile.shape[1]):
            tile[i, t] *= tile.dtype.type(factor)


@functools.cache
def instruction(op: int, kind: type[Operand], dtype: Any) -> tuple[int, int, int]:
    """Of a program, for rows of a kind in a precision: how many tiles an operation takes, and where its code is.

    A leaf takes none: it has a product and a map. A sum or product takes two, a multiple one.
    """
    tile, norms = np.empty((0, 0), dtype), np.empty(0, dtype)
    if op == SCALE:
        return 1, address(_scale, tile, 0.0), 0
    if op in (ADD, MULTIPLY):
        return 2, address(_add if op == ADD else _multiply, tile, tile), 0
    _, leaf, leaf_map = KERNELS[op]
    rows = kind.empty(dtype)
    product = address(PRODUCTS[kind, leaf.product], rows, 0, 0, rows, 0, 0, tile)
    return 0, product, address(leaf_map, tile, norms, norms, 0.0, 0.0, 0.0)


@jit
def evaluate(
    program: Any, parameters: Any, points: Any, p0: int, p1: int, rows: Any, r0: int, r1: int, stack: Any
) -> Any:
    """The tile of kernel values of the blocks p0:p1 of points with the blocks r0:r1 of rows, in whole CHUNKs of rows.

    ``program`` is postfix, see ``instruction``; ``parameters`` has three numbers a line; ``stack`` is flat.
    """
    count, width = (p1 - p0) * POINTS, rows.width
    columns = -(-(r1 - r0) * width // CHUNK) * CHUNK
    depth = len(stack) // TILE_SIZE
    tiles = stack[: depth * count * columns].reshape(depth, count, columns)
    top = -1
    for step in range(len(program)):
        taken, code = program[step, 0], program[step, 1]
        a, b, c = parameters[step, 0], parameters[step, 1], parameters[step, 2]
        if taken == 2:
            top -= 1
            call(code, tiles[top], tiles[top + 1])
        elif taken == 1:
            call(code, tiles[top], a)
        else:
            top += 1
            call(code, points, p0, p1, rows, r0, r1, tiles[top])
            point_norms = points.norms[p0 * POINTS : p0 * POINTS + count]
            row_norms = rows.norms[r0 * width : r0 * width + columns]
            call(program[step, 2], tiles[top], point_norms, row_norms, a, b, c)
    return tiles[0]


@jit
def _row(source: int, tile: Any, base: int, store: Any, column: int) -> Any:
    return tile[source - base] if source >= 0 else store[-1 - source, column : column + tile.shape[1]]


@jit
def _weighted_sum(
    order: Any, start: int, stop: int, tile: Any, base: int, store: Any, column: int, V: Any, sums: Any
) -> None:
    """sums[j] += V[i, j] * row i for i in start:stop, one after the other whatever the grouping by four."""
    columns = tile.shape[1]
    i = start
    while i + 4 <= stop:
        r0 = _row(order[i], tile, base, store, column)
        r1 = _row(order[i + 1], tile, base, store, column)
        r2 = _row(order[i + 2], tile, base, store, column)
        r3 = _row(order[i + 3], tile, base, store, column)
        for j in range(V.shape[1]):
            v0, v1, v2, v3 = V[i, j], V[i + 1, j], V[i + 2, j], V[i + 3, j]
            if v0 != 0 or v1 != 0 or v2 != 0 or v3 != 0:
                total = sums[j]
                for t in range(columns):
                    total[t] = (((total[t] + v0 * r0[t]) + v1 * r1[t]) + v2 * r2[t]) + v3 * r3[t]
        i += 4
    while i < stop:
        row = _row(order[i], tile, base, store, column)
        for j in range(V.shape[1]):
            if V[i, j] != 0:
                total, v = sums[j], V[i, j]
                for t in range(columns):
                    total[t] = total[t] + v * row[t]
        i += 1


@jit
def accumulate(
    program: Any,
    parameters: Any,
    points: Any,
    order: Any,
    slots: Any,
    rows: Any,
    first: int,
    last: int,
    V: Any,
    out: Any,
    store: Any,
    stack: Any,
    size: int,
    half: bool,
    shift: int,
) -> None:
    """out[t] += sum over i of V[i] * k(point i, row t) for the rows of the blocks first:last, ``size`` blocks a tile.

    ``order[i]`` says where point i's values come from: number ``order[i]`` of ``points`` (computed here, and
    written to the store's row ``slots[order[i]]`` unless that is negative), or row ``-1 - order[i]`` of the store.
    The sum runs in the order of i in either case, so the bits do not depend on what is stored. ``half`` leaves out the
    points that come before a tile's rows, for a store that is mirrored; the store's column of row t is ``shift`` + t.
    """
    width = rows.width
    blocks = -(-points.n // POINTS)
    sums = np.empty((V.shape[1], TILE))
    for r0 in range(first, last, size):
        r1 = min(last, r0 + size)
        column = r0 * width
        at = column + shift
        for j in range(V.shape[1]):
            for t in range(TILE):
                sums[j, t] = 0.0
        i = order.dtype.type(0)  # a literal would be compiled for itself
        for p0 in range(column // POINTS if half else 0, max(1, blocks), POINT_PANELS):
            p1 = min(blocks, p0 + POINT_PANELS)
            tile = evaluate(program, parameters, points, p0, p1, rows, r0, r1, stack)
            for c in range(p0 * POINTS, min(points.n, p1 * POINTS)):
                if slots[c] >= 0:
                    kept, made = store[slots[c], at : at + tile.shape[1]], tile[c - p0 * POINTS]
                    for t in range(len(kept)):
                        kept[t] = made[t]
            stop = i
            while stop < len(order) and order[stop] < p1 * POINTS:
                stop += 1
            _weighted_sum(order, i, stop, tile, p0 * POINTS, store, at, V, sums)
            i = stop
        for t in range(column, min(rows.n, r1 * width)):
            for j in range(V.shape[1]):
                out[t, j] += sums[j, t - column]
