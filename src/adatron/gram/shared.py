"""The values that many problems over a few segments share, ready for compiled code that goes through the problems."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from ..arrays import Ids, Vector
from ..compiled.cache.jit import jit
from ..compiled.cache.pointer import NOWHERE, borrowed, contents
from ..compiled.micro import BLOCK_POINTS, rows_width
from ..compiled.panels import POINT_PANELS, TILE, Operand, Sparse
from ..compiled.search import CHUNK
from ..compiled.submatrix import mirror, take, transpose
from ..threads import Pool
from .backends.segment import NARROW, Workspace
from .backends.tile_loop import TileProgram, evaluate
from .source import Source

MOST_TASKS = 64  # Most tasks that make the values within all segments.
TASK_VALUES = 1 << 14  # Fewest values that a task makes.


class TiledShared(NamedTuple):
    """The rows of all segments and the values within each segment; each segment begins with a block of its own.

    first_point, first_row : (s + 1,) the block with which each segment begins
    sizes : (s,) rows of each segment
    within, first_value : the matrices of the segments with themselves, one after the other, and where each begins
    side : rows of a tile where half of a matrix is made
    """

    program: TileProgram
    points: Operand
    rows: Operand
    first_point: Ids
    first_row: Ids
    sizes: Ids
    within: NDArray[Any]
    first_value: Ids
    side: int

    @property
    def kind(self) -> type[Operand]:
        """The kind of its rows."""
        return type(self.rows)

    @classmethod
    def empty(cls, kind: type[Operand], dtype: Any) -> TiledShared:
        """Return an example of the type, for rows of a kind in a precision."""
        rows, ids = kind.empty(dtype), np.empty(0, np.int64)
        program = np.empty((0, 3), np.int64), np.empty((0, 3)), NOWHERE
        return cls(program, rows, rows, ids, ids, ids, np.empty(0, dtype), ids, 0)


class GivenShared(NamedTuple):
    """``TiledShared`` for a given kernel matrix: rows and columns of the segments, and where each segment begins.

    ``K`` has float64 values, row by row. Between two segments the values above the diagonal are read.
    """

    K: NDArray[np.float64]
    rows: Ids
    columns: Ids
    first: Ids
    within: NDArray[np.float64]
    first_value: Ids

    @property
    def kind(self) -> type[GivenShared]:
        return GivenShared

    @classmethod
    def empty(cls) -> GivenShared:
        """Return an example of the type."""
        ids = np.empty(0, np.int64)
        return cls(np.empty((0, 0)), ids, ids, ids, np.empty(0), ids)


def readable(source: Source) -> bool:
    """Return whether given values can be read in place."""
    return source.X.dtype == np.float64 and source.X.flags.c_contiguous and source.X.flags.writeable


def maker(kind: type[Operand | GivenShared], dtype: Any) -> tuple[Any, Any]:
    """Return the function that makes a matrix over some segments, and an example of what they share."""
    if issubclass(kind, GivenShared):
        return gathered, GivenShared.empty()
    return matrix, TiledShared.empty(kind, dtype)


def bytes_shared(source: Source, sizes: list[int], dtype: Any) -> float:
    """Return the bytes of ``share`` for segments of these sizes."""
    size = np.dtype(dtype).itemsize
    within = size * float(sum(n * n for n in sizes))
    if not source.kernel.compiled:
        return within
    packed = sum(-(-n // width) * width for width in (BLOCK_POINTS, rows_width(dtype)) for n in sizes)
    entry = size + 4.0 * issparse(source.X)  # with the column of a CSR entry
    return within + packed * source.features * entry


def share(
    source: Source, starts: Ids, workspace: Workspace, pool: Pool, make_K: Callable[[], Vector | None]
) -> TiledShared | GivenShared:
    """Return what segments that begin at ``starts`` share; ``make_K`` makes all of K if it is to be held."""
    if source.kernel.compiled:
        return _tiled(source, starts[1:] - starts[:-1], workspace, pool)
    return _given(source, starts, make_K(), pool)


def _given(source: Source, first: Ids, K: Vector | None, pool: Pool) -> GivenShared:
    ids = np.arange(len(source))
    values, rows, columns = K, ids, ids
    if values is None:
        assert source.columns is not None  # noqa: S101 (for the type checker)
        values, rows, columns = source.X, source.ids, source.columns
    first_value = np.cumsum([0, *(n * n for n in np.diff(first).tolist())])
    within = np.empty(int(first_value[-1]))

    def copy(s: int) -> None:
        a, b = first[s], first[s + 1]
        out = within[first_value[s] : first_value[s + 1]].reshape(b - a, b - a)
        take(values, rows[a:b], columns[a:b], out, ids)

    pool.run(copy, len(first) - 1)
    return GivenShared(values, rows, columns, first, within, first_value)


def _tiled(source: Source, sizes: Ids, space: Workspace, pool: Pool) -> TiledShared:
    (points, first_point), (rows, first_row) = (
        source.by_segments(width, sizes, space.dtype) for width in (BLOCK_POINTS, rows_width(space.dtype))
    )
    first_value = np.cumsum([0, *(n * n for n in sizes.tolist())])
    within = np.empty(int(first_value[-1]), space.dtype)
    side = TILE if isinstance(rows, Sparse) else NARROW  # each CSR tile spreads its points anew
    operands = space.program(type(rows)), points, rows, first_point, first_row
    shared = TiledShared(*operands, sizes, within, first_value, side)
    each = -(-len(sizes) // min(MOST_TASKS, 1 + len(within) // TASK_VALUES))

    def task(number: int) -> None:
        fill_within(shared, number * each, min(len(sizes), (number + 1) * each), space.stack)

    pool.run(task, -(-len(sizes) // each))
    return shared


@jit
def fill_within(shared: Any, first: int, last: int, stack: Any) -> None:
    """Make the values within some segments."""
    shared = borrowed(shared)
    for s in range(first, last):
        n = shared.sizes[s]
        K = shared.within[shared.first_value[s] : shared.first_value[s + 1]].reshape(n, n)
        _values(shared, s, s, K, 0, 0, stack)
        mirror(K, n)


@jit(inner=True)
def matrix(shared: Any, groups: Any, where: Any, kept: int, K: Any, stack: Any, made: Any) -> None:
    """Fill K with the kernel matrix over some segments; no segment comes twice.

    where : the place of each segment's first row in K
    kept : the segment whose values within are at the beginning of K already, or -1
    made : (3,) content of the stack: the segment whose points have values there, or -1, and their range of row blocks
    """
    for i in range(len(groups)):
        s, at = groups[i], where[i]
        n = shared.sizes[s]
        if at or s != kept:
            _place(shared, s, K, at, n)
        for j in range(i):
            before = where[j]
            if len(groups) > 2 or not _from_tile(shared, groups[j], s, K, at, before, stack, made):
                made[0] = -1  # the content of the stack is overwritten
                _values(shared, groups[j], s, K, at, before, stack)
            transpose(K, before, before + shared.sizes[groups[j]], at, at + n)


@jit(inner=True)
def gathered(shared: Any, groups: Any, where: Any, kept: int, K: Any, stack: Any, made: Any) -> None:
    """Fill K as ``matrix`` does, from given values."""
    for i in range(len(groups)):
        s, at = groups[i], where[i]
        columns = shared.columns[shared.first[s] : shared.first[s + 1]]
        n = len(columns)
        if at or s != kept:
            _place(shared, s, K, at, n)
        for j in range(i):
            rows, before = shared.rows[shared.first[groups[j]] : shared.first[groups[j] + 1]], where[j]
            for u in range(len(rows)):
                row, target = shared.K[rows[u]], K[before + u, at : at + n]
                for v in range(n):
                    target[v] = row[columns[v]]
            transpose(K, at, at + n, before, before + len(rows))


@jit(inner=True)
def _place(shared: Any, s: int, K: Any, at: int, n: int) -> None:
    """Copy the values within a segment of n rows to where it begins."""
    own = shared.within[shared.first_value[s] : shared.first_value[s + 1]].reshape(n, n)
    for u in range(n):
        row, target = own[u], K[at + u, at : at + n]
        for v in range(n):
            target[v] = row[v]


@jit(inner=True)
def _from_tile(shared: Any, u: int, s: int, K: Any, line: int, column: int, stack: Any, made: Any) -> bool:
    """Set K[line + t, column + i] to k(point i of segment u, row t of segment s), if these and more rows fit a tile.

    The next pairs of classes have the same first class and rows that come soon, so the tile has as many rows as fit.
    """
    width, points = shared.rows.width, shared.sizes[u]
    p0, p1, r0, r1 = shared.first_point[u], shared.first_point[u + 1], shared.first_row[s], shared.first_row[s + 1]
    if p1 - p0 > POINT_PANELS or 2 * (r1 - r0) * width > TILE:
        return False
    if made[0] != u or r0 < made[1] or r1 > made[2]:
        made[0], made[1], made[2] = u, r0, min(shared.first_row[-1], r0 + TILE // width)
        evaluate(shared.program, contents(shared.points), p0, p1, contents(shared.rows), r0, made[2], stack)
    columns = -(-(made[2] - made[1]) * width // CHUNK) * CHUNK
    start = (r0 - made[1]) * width
    for t in range(shared.sizes[s]):
        target = K[line + t, column : column + points]
        for i in range(points):
            target[i] = stack[start + i * columns + t]
    return True


@jit(inner=True)
def _values(shared: Any, s: int, u: int, out: Any, line: int, column: int, stack: Any) -> None:
    """Set out[line + i, column + t] to k(point i of segment u, row t of segment s); only for i >= t if s is u."""
    half, all_points, all_rows = s == u, contents(shared.points), contents(shared.rows)
    width, points = shared.rows.width, shared.sizes[u]
    first, last = shared.first_row[s], shared.first_row[s + 1]
    p_first, p_last = shared.first_point[u], shared.first_point[u + 1]
    blocks = (shared.side if half else TILE) // width
    for r0 in range(first, last, blocks):
        r1, at = min(last, r0 + blocks), (r0 - first) * width
        count = min(shared.sizes[s] - at, (r1 - r0) * width)
        for p0 in range(p_first + (at // BLOCK_POINTS if half else 0), p_last, POINT_PANELS):
            p1, before = min(p_last, p0 + POINT_PANELS), (p0 - p_first) * BLOCK_POINTS
            tile = evaluate(shared.program, all_points, p0, p1, all_rows, r0, r1, stack)
            for c in range(before, min(points, before + (p1 - p0) * BLOCK_POINTS)):
                target, made = out[line + c, column + at : column + at + count], tile[c - before]
                for t in range(count):
                    target[t] = made[t]
