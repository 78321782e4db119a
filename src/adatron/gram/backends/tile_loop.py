"""The tile loops: kernel values are made, used and forgotten inside the second-level cache.

A tile is a block of points against up to TILE rows. Its values come from raw products and the maps of the kernel's
program; then they are summed with weights, and written out where they shall be kept.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...compiled.cache.jit import jit
from ...compiled.cache.pointer import Address, address, call
from ...compiled.micro import BLOCK_POINTS
from ...compiled.panels import POINT_PANELS, PRODUCTS, TILE, Operand
from ...compiled.search import CHUNK
from ...compiled.sums import CHAIN, fold
from ...compiled.weighted import add_weighted
from ...kernels import ADD, KERNELS, MULTIPLY, SCALE

MAPPED_ALONE = 8  # Rows of a tile up to which only their values are mapped, not those of a whole CHUNK.
TILE_SIZE = POINT_PANELS * BLOCK_POINTS * TILE  # values of the largest tile
#: The postfix program of a kernel: its lines, see ``instruction``, three numbers for each, and the address of ``run``.
TileProgram = tuple[NDArray[np.int64], NDArray[np.float64], Address]


# Plain loops: array expressions would bring in seconds of compilation for shapes that cannot differ.
@jit(inner=True)
def _add(tile: Any, other: Any) -> None:
    for i in range(tile.shape[0]):
        for t in range(tile.shape[1]):
            tile[i, t] += other[i, t]


@jit(inner=True)
def _multiply(tile: Any, other: Any) -> None:
    for i in range(tile.shape[0]):
        for t in range(tile.shape[1]):
            tile[i, t] *= other[i, t]


@jit(inner=True)
def _scale(tile: Any, factor: float) -> None:
    for i in range(tile.shape[0]):
        for t in range(tile.shape[1]):
            tile[i, t] *= tile.dtype.type(factor)


@functools.cache
def instruction(op: int, kind: type[Operand], dtype: Any) -> tuple[int, ...]:
    """Return how many tiles an operation takes, and where its code is, for rows of a kind in a precision.

    A leaf takes none: it has a product and a map. A sum or product takes two, a multiple one.
    """
    tile, norms = np.empty((0, 0), dtype), np.empty(0, dtype)
    if op == SCALE:
        return 1, *address(_scale, tile, 0.0), 0, 0
    if op in (ADD, MULTIPLY):
        return 2, *address(_add if op == ADD else _multiply, tile, tile), 0, 0
    if op < 0:
        raise ValueError(
            "A kernel is compiled only if KERNELS of kernels/table.py has a line for it. Without one, pass a function "
            "of two arrays of rows as the kernel."
        )
    _, leaf, leaf_map = KERNELS[op]
    rows = kind.empty(dtype)
    product = address(PRODUCTS[kind, leaf.product], rows, 0, 0, rows, 0, 0, tile)
    return 0, *product, *address(leaf_map, tile, norms, norms, 0.0, 0.0, 0.0)


@functools.cache
def runner(kind: type[Operand], dtype: Any) -> Address:
    """Return the address of ``run`` for rows of a kind in a precision."""
    lines, rows = np.empty((0, 0), np.int64), kind.empty(dtype)
    return address(run, lines, np.empty((0, 0)), rows, 0, 0, rows, 0, 0, np.empty(0, dtype))


@jit(inner=True)
def evaluate(program: TileProgram, points: Any, p0: int, p1: int, rows: Any, r0: int, r1: int, stack: Any) -> Any:
    """Return the tile of kernel values of the blocks p0:p1 of points with the blocks r0:r1 of rows, in whole CHUNKs.

    ``stack`` is flat.
    """
    lines, numbers, code = program
    call(*code, lines, numbers, points, p0, p1, rows, r0, r1, stack)
    count, columns = (p1 - p0) * BLOCK_POINTS, -(-(r1 - r0) * rows.width // CHUNK) * CHUNK
    return stack[: count * columns].reshape(count, columns)


@jit(inner=True)
def run(lines: Any, numbers: Any, points: Any, p0: int, p1: int, rows: Any, r0: int, r1: int, stack: Any) -> None:
    """Make a tile at the beginning of the stack."""
    count, width = (p1 - p0) * BLOCK_POINTS, rows.width
    columns = -(-(r1 - r0) * width // CHUNK) * CHUNK
    depth = len(stack) // TILE_SIZE
    tiles = stack[: depth * count * columns].reshape(depth, count, columns)
    top = -1
    for step in range(len(lines)):
        taken, code, kind = lines[step, 0], lines[step, 1], lines[step, 2]
        a, b, c = numbers[step, 0], numbers[step, 1], numbers[step, 2]
        if taken == 2:
            top -= 1
            call(code, kind, tiles[top], tiles[top + 1])
        elif taken == 1:
            call(code, kind, tiles[top], a)
        else:
            top += 1
            call(code, kind, points, p0, p1, rows, r0, r1, tiles[top])
            point_norms = points.norms[p0 * BLOCK_POINTS : p0 * BLOCK_POINTS + count]
            row_norms = rows.norms[r0 * width : r0 * width + columns]
            if rows.n - r0 * width > MAPPED_ALONE:
                call(lines[step, 3], lines[step, 4], tiles[top], point_norms, row_norms, a, b, c)
            else:
                few = row_norms[: rows.n - r0 * width]
                _map_across(lines[step, 3], lines[step, 4], tiles[top], point_norms, few, a, b, c)


@jit(inner=True)
def _map_across(code: int, kind: int, tile: Any, points: Any, rows: Any, a: float, b: float, c: float) -> None:
    """Map the values of the first rows alone, as points: a kernel value does not depend on the order of the pair."""
    count = tile.shape[0]
    values = np.zeros((len(rows), -(-count // CHUNK) * CHUNK), tile.dtype)
    norms = np.zeros(values.shape[1], tile.dtype)
    for i in range(count):
        norms[i] = points[i]
        for t in range(len(rows)):
            values[t, i] = tile[i, t]
    call(code, kind, values, rows, norms, a, b, c)
    for i in range(count):
        for t in range(len(rows)):
            tile[i, t] = values[t, i]


class Weights(NamedTuple):
    """The weights V (m, p) that are not 0, one output after the other, as ``accumulate`` takes them."""

    where: NDArray[np.int64]  # the point that each is the weight of; -1 - its row of the store if that has its values
    values: NDArray[np.float64]
    ends: NDArray[np.int64]  # those of output j are ends[j]:ends[j + 1]

    @classmethod
    def of(cls, order: NDArray[np.int64], V: NDArray[np.float64]) -> Weights:
        """Return the weights of the lines of V, whose rows are ``order``."""
        outputs, places = np.nonzero(V.T)
        ends = np.searchsorted(outputs, np.arange(V.shape[1] + 1))
        return cls(order[places], V[places, outputs], ends)


class Storing(NamedTuple):
    """The store of kernel values that a loop reads, and writes to.

    values : a row of values for each point that is stored
    slots : the row of ``values`` that each point's values are written to; negative if they are not kept
    half : leaves out the points that come before a tile's rows, for values that are mirrored
    shift : the column of ``values`` that belongs to row 0
    """

    values: Any
    slots: NDArray[np.int64]
    half: bool = False
    shift: int = 0


@jit
def accumulate(
    program: TileProgram, points: Any, rows: Any, first: int, last: int, size: int, weights: Any, out: Any,
    storing: Any, stack: Any,
) -> None:  # fmt: skip
    """Add Σ_i V[i, j] * k(point i, row t) to out[t, j] for the rows of the blocks first:last, ``size`` blocks a tile.

    The values of point i are those of number ``where`` of ``points``, made here, or, if that is negative, row
    ``-1 - where`` of the store. The sum runs in the order of i in either case, CHAIN of them before they are folded, so
    the bits do not depend on what is stored.

    weights, storing : the fields of ``Weights`` and ``Storing``, as tuples, which take less time to pass
    """
    (where, values, ends), (store, slots, half, shift), width = weights, storing, rows.width
    blocks, n_outputs = -(-points.n // BLOCK_POINTS), len(ends) - 1
    done = np.empty(n_outputs, np.int64)
    part, total, low = np.zeros((n_outputs, TILE)), np.empty((n_outputs, TILE)), np.empty((n_outputs, TILE))
    for r0 in range(first, last, size):
        r1 = min(last, r0 + size)
        column = r0 * width
        at = column + shift
        for j in range(n_outputs):
            done[j] = ends[j]
            for t in range(TILE):
                total[j, t] = low[j, t] = 0.0
        for p0 in range(column // BLOCK_POINTS if half else 0, max(1, blocks), POINT_PANELS):
            p1 = min(blocks, p0 + POINT_PANELS)
            tile = evaluate(program, points, p0, p1, rows, r0, r1, stack)
            for c in range(p0 * BLOCK_POINTS, min(points.n, p1 * BLOCK_POINTS)):
                if slots[c] >= 0:
                    kept, made = store[slots[c], at : at + tile.shape[1]], tile[c - p0 * BLOCK_POINTS]
                    for t in range(len(kept)):
                        kept[t] = made[t]
            for j in range(n_outputs):
                i = stop = done[j]
                while stop < ends[j + 1] and where[stop] < p1 * BLOCK_POINTS:
                    stop += 1
                done[j] = stop
                while i < stop:  # in chains that do not depend on what is stored
                    link = min(stop, i + CHAIN - (i - ends[j]) % CHAIN)
                    add_weighted(tile, p0 * BLOCK_POINTS, store, at, where, values, i, link, part[j])
                    i = link
                    if (i - ends[j]) % CHAIN == 0:
                        fold(part[j], total[j], low[j], tile.shape[1])
        for j in range(n_outputs):
            fold(part[j], total[j], low[j], TILE)
            for t in range(column, min(rows.n, r1 * width)):
                out[t, j] += total[j, t - column] + low[j, t - column]
