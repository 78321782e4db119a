"""Some training rows in the form that the tile loops read, with the stored rows of K over them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ...compiled import lines
from ...compiled.features import GATHER, SPREAD
from ...compiled.panels import TILE, Operand, Sparse
from ...compiled.search import CHUNK
from ...kernels import Kernel
from ...threads.pool import Pool
from ..source import Points, Source
from . import tile_loop as tiles
from .row_store import Lease, RowStore, whole_tiles

FEWEST_TILES = 16  # A task has at least one part in this many of a thread's tiles.
MOST_TILES = 64  # Most tiles of a task: Ctrl-C and a time limit are noticed between two tasks.
LONGEST_TASK = 2e9  # Most multiply-adds of a task.
NARROW = CHUNK  # Rows of a tile where half of a matrix is made: values on the wrong side of the diagonal are wasted.
NO_WEIGHTS, NO_SUMS = tiles.Weights.of(np.empty(0, np.int64), np.empty((0, 0))), np.empty((0, 0))
Then = Callable[[int, int], None]


class Segment(Protocol):
    """The rows of one segment, as a view uses them."""

    def accumulate(self, out: NDArray[np.float64], P: Points, V: NDArray[np.float64]) -> None:
        """Add K[:, P] @ V to out."""
        ...

    def values(self, P: Points) -> NDArray[Any]:
        """Return k(point i, row t), (|P|, n)."""
        ...

    def fill(self, P: Points, store: NDArray[Any], slots: NDArray[np.int64]) -> None:
        """Set store[slots[i], t] to k(point i, row t); entries of a row beyond the n-th are arbitrary."""
        ...


class Room(NamedTuple):
    """Room for a matrix, in memory that is to be given back."""

    memory: NDArray[Any]
    K: NDArray[Any]


class Workspace:
    """The kernel's program, and each thread's tile buffers and room for a block."""

    def __init__(self, kernel: Kernel, dtype: Any) -> None:
        self.dtype = np.dtype(dtype)
        self._local = threading.local()
        terms = kernel.terms()  # no terms if nothing is compiled
        self._operations = [op for op, _ in terms]
        self._programs: dict[type[Operand], tiles.TileProgram] = {}
        self.cost = kernel.cost
        self._numbers = np.array([numbers for _, numbers in terms], np.float64)
        self.depth = (len(terms) + 1) // 2

    def program(self, kind: type[Operand]) -> tiles.TileProgram:
        """Return the kernel's program for rows of a kind."""
        if kind not in self._programs:
            steps = [tiles.instruction(op, kind, self.dtype) for op in self._operations]
            self._programs[kind] = np.array(steps, np.int64), self._numbers, tiles.runner(kind, self.dtype)
        return self._programs[kind]

    @property
    def stack(self) -> NDArray[Any]:
        """Tile buffers of the calling thread."""
        if not hasattr(self._local, "stack"):
            self._local.stack = lines.empty((self.depth * tiles.TILE_SIZE,), self.dtype)
        return self._local.stack

    def lease(self, n: int) -> Room:
        """Return room for n rows of n values; it is leased on this thread until it is given back.

        A thread uses the same memory again and again: new pages cost more than the values. Rows are a little longer: if
        their distance were a power of two, a column of them would meet in one place of the cache.
        """
        apart = lines.LINE // self.dtype.itemsize
        size, free = n * (n + apart), self._free
        fitting = next((number for number, memory in enumerate(free) if memory.size >= size), None)
        if fitting is None:
            free.clear()  # memory that is too small now is replaced
            memory = lines.zeros((size,), self.dtype)  # the entries beyond the values are finite
        else:
            memory = free.pop(fitting)
        return Room(memory, memory[:size].reshape(n, n + apart))

    def give_back(self, room: Room) -> None:
        """Return the memory for others on this thread."""
        self._free.append(room.memory)

    @property
    def _free(self) -> list[NDArray[Any]]:
        """Memory of the calling thread that is not leased."""
        if not hasattr(self._local, "free"):
            self._local.free = []
        return self._local.free


class TileSegment:
    """Kernel values from the compiled tile loops."""

    def __init__(self, source: Source, workspace: Workspace, pool: Pool, slots: int = 0, n_ids: int = 0) -> None:
        self._workspace, self._pool = workspace, pool
        self._source = source
        self._rows = source.as_rows(workspace.dtype, pool)
        self._blocks = -(-len(source) // self._width)
        self.store = RowStore(slots, whole_tiles(len(source)), workspace.dtype, n_ids if slots else 0)

    @property
    def _width(self) -> int:
        return self._rows.width

    @property
    def norms(self) -> NDArray[Any]:
        """Squared norms of the rows."""
        return self._rows.norms[: len(self._source)]

    def accumulate(self, out: NDArray[np.float64], P: Points, V: NDArray[np.float64]) -> None:
        if self._source.kernel.plain:
            self._by_features(out, P, V)
            return
        with self.store.leased(P.ids, P.again) as lease:
            self._accumulate(out, P, V, lease)

    def _by_features(self, out: NDArray[np.float64], P: Points, V: NDArray[np.float64]) -> None:
        """Accumulate for k(x, z) = x·z without any kernel values."""
        points, rows = P.source.as_points(self._workspace.dtype, self._pool), self._rows
        for j, v in enumerate(np.ascontiguousarray(V.T)):
            (w, low), column = np.zeros((2, self._source.width)), np.zeros(len(self._source))
            SPREAD[type(points)](points, v, w, low)
            w += low
            self._run(lambda first, last, w=w, column=column: GATHER[type(rows)](rows, w, first, last, column), 1)
            out[:, j] += column

    def _accumulate(self, out: NDArray[np.float64], P: Points, V: NDArray[np.float64], lease: Lease) -> None:
        missing = np.flatnonzero(lease.found < 0)
        order = -1 - lease.found
        order[missing] = np.arange(len(missing))
        points = P.source.take(missing).as_points(self._workspace.dtype, self._pool)
        self._sweep(points, tiles.Weights.of(order, V), out, tiles.Storing(self.store.values, lease.slots))

    def add(self, out: NDArray[np.float64], points: Operand, weights: tiles.Weights) -> None:
        """Add to out the weighted sums of the rows of K of prepared points; nothing is stored."""
        self._sweep(points, weights, out, tiles.Storing(self.store.values, np.full(points.n, -1)))

    def keep(self, P: Points) -> None:
        """Store the rows of these points as far as there is room."""
        with self.store.leased(P.ids) as lease:
            there = lease.slots >= 0
            if there.any():
                self.fill(P.take(np.flatnonzero(lease.found < 0)[there]), self.store.values, lease.slots[there])

    def values(self, P: Points) -> NDArray[Any]:
        n = len(self._source)
        out = lines.empty((len(P), whole_tiles(n)), self._workspace.dtype)
        self.fill(P, out, np.arange(len(P)))
        return out if out.shape[1] == n else np.ascontiguousarray(out[:, :n])

    def fill(
        self,
        P: Points,
        store: NDArray[Any],
        slots: NDArray[np.int64],
        half: bool = False,
        shift: int = 0,
        then: Then | None = None,
    ) -> None:
        """Fill as every segment does; ``half`` leaves out the points that come before a tile's rows.

        shift : the column of the store that the first row goes to
        then : called with a range of rows whose values are ready, by the thread that made them
        """
        points = P.source.as_points(self._workspace.dtype, self._pool)
        self._sweep(points, NO_WEIGHTS, NO_SUMS, tiles.Storing(store, slots, half, shift), then)

    def _sweep(
        self,
        points: Operand,
        weights: tiles.Weights,
        out: Any,
        storing: tiles.Storing,
        then: Then | None = None,
    ) -> None:
        space, rows = self._workspace, self._rows
        kinds = [(type(some), some.norms.dtype) for some in (points, rows)]
        if kinds[0] != kinds[1]:  # the code for the rows is called by its address, and nothing else would notice
            given, wanted = (f"{kind.__name__} of {dtype}" for kind, dtype in kinds)
            raise TypeError(f"Points are {given}, rows are {wanted}: they must be of one kind and one precision.")
        program, of_weights, of_store = space.program(type(rows)), tuple(weights), tuple(storing)
        narrow = storing.half and not isinstance(rows, Sparse)  # each CSR tile spreads its points anew
        size = (NARROW if narrow else TILE) // self._width

        def task(first: int, last: int) -> None:
            tiles.accumulate(program, points, rows, first, last, size, of_weights, out, of_store, space.stack)
            if then is not None:
                then(first * self._width, min(len(self._source), last * self._width))

        self._run(task, points.n)

    def _run(self, task: Any, points: int) -> None:
        """Split the blocks of rows into whole tiles; every task writes to its own rows."""
        tile = TILE // self._width
        n_tiles = -(-self._blocks // tile)
        helpers = self._pool.idle
        each = TILE * max(1, points) * max(1.0, self._workspace.cost(self._source.features))
        ends = falling(n_tiles, 1 + helpers, max(1, min(MOST_TILES, int(LONGEST_TASK / each))))

        def one(number: int) -> None:
            self._pool.check_time()
            task(ends[number] * tile, min(self._blocks, ends[number + 1] * tile))

        self._pool.run(one, len(ends) - 1)


def falling(n: int, workers: int, most: int) -> list[int]:
    """Return the ends of tasks over n tiles, each a share of the rest: the last are small, and workers end together.

    One worker needs no small tasks; ``most`` is the largest.
    """
    if workers == 1:
        return [*range(0, n, most), n]
    ends, least = [0], max(1, n // (FEWEST_TILES * workers))
    while ends[-1] < n:
        share = max(least, (n - ends[-1]) // (2 * workers))
        ends.append(min(n, ends[-1] + min(most, share)))
    return ends
