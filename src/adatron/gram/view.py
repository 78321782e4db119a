"""View: some rows of the kernel matrix, for one program; and rows of it for loops over single samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import Ids
from ..compiled.cache.uninterrupted import cached_property
from ..compiled.precision import UNIT
from ..compiled.sums import CHAIN, add_dots, fold
from ..devices.rows import OnDevice, checked_rows, refuse_different
from ..threads.cost import CALL, threads_worth
from .backends.row_store import RowStore, whole_tiles
from .backends.tile_loop import Weights
from .features import by_features
from .gram import Gram
from .source import Points, Source
from .square import mirrored_sums

ROWS_AHEAD = 64  # Rows made at a time: one row alone would read all of X for a few multiplications.
EXACT_ROWS, EXACT_POINTS = 4096, 512  # Rows and points of the float64 operands made at a time.
ADDITIONS, ADDITIONS_HELD = CHAIN + 16.0, 12.0  # Roundings of a product in an exact sum: with tiles; if K is held.


class View:
    """A subset of the training rows, numbered from 0 in the order of its segments."""

    def __init__(self, gram: Gram, groups: list[int]) -> None:
        self.gram = gram
        self.groups = groups

    @classmethod
    def of(cls, gram: Gram, groups: Sequence[int] | None = None) -> View:
        """Return the rows of some segments (all by default), in their order; a segment may come more than once."""
        return cls(gram, list(range(len(gram.starts) - 1) if groups is None else groups))

    @cached_property
    def offsets(self) -> Ids:
        """The first row of each segment, and the number of rows."""
        return np.cumsum([0, *(self.gram.starts[g + 1] - self.gram.starts[g] for g in self.groups)])

    @cached_property
    def ids(self) -> Ids:
        """The row of the training set behind each row."""
        return np.concatenate([np.arange(self.gram.starts[g], self.gram.starts[g + 1]) for g in self.groups])

    @cached_property
    def samples(self) -> Ids:
        """The sample behind each row, the same in every view."""
        return self.gram.source.ids[self.ids]

    def __len__(self) -> int:
        return int(self.offsets[-1])

    def diagonal(self) -> NDArray[np.float64]:
        """Return k(x, x) of every row, exact."""
        return self.gram.kernel.diagonal(self.gram.sizes[self.ids])

    @property
    def magnitude(self) -> float:
        """Upper bound of |k(x, z)|."""
        return self.gram.magnitude

    def points(self, rows: Ids) -> Points:
        return self.gram.points(self.ids[rows])

    def block(self, P: Points, Q: Points) -> NDArray[Any]:
        """Return kernel values of |P| points with |Q| points, in the tiles' precision, for the caller to change."""
        return self.gram.block(P, Q)

    def rows(self, rows: Ids) -> NDArray[Any]:
        """Return whole rows of the matrix over this view, (|rows|, n)."""
        P = self.points(rows)
        return np.concatenate([self.gram.segments[group].values(P) for group in self.groups], axis=1)

    def fill(self, store: NDArray[Any], slots: Ids, rows: Ids) -> None:
        """Set store[slots] to rows of the matrix, without a copy in between if possible.

        A row of the store has ``whole_tiles(n)`` entries; those beyond n are arbitrary.
        """
        if len(self.groups) == 1:
            self.gram.segments[self.groups[0]].fill(self.points(rows), store, slots)
        else:
            store[slots, : len(self)] = self.rows(rows)

    def accumulate(self, out: NDArray[np.float64], P: Points, V: NDArray[np.float64]) -> None:
        """Add K[:, P] @ V to out, for out of shape (n, p) and V of shape (|P|, p).

        Points and segments that come more than once are visited once.
        """
        P, V = P.merged(V)
        if self.gram.device is not None:
            self.gram.device.accumulate(out, self.ids, P.ids, V, self.gram.dtype)
            return
        seen: dict[int, NDArray[np.float64]] = {}
        for group, (a, b) in zip(self.groups, self.spans(), strict=True):
            if self.groups.count(group) == 1:
                self.gram.segments[group].accumulate(out[a:b], P, V)
                continue
            if group not in seen:
                seen[group] = np.zeros((b - a, V.shape[1]))
                self.gram.segments[group].accumulate(seen[group], P, V)
            out[a:b] += seen[group]

    def exact(self, rows: Ids, points: Ids, v: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return K[rows, points] @ v in double precision, from the data as given, and proven bounds of the errors.

        The bounds are against exact kernel values of the given data: values, their products and their sums are
        rounded. If a given matrix is not quite symmetric, either half may be meant.
        """
        gram, wide = self.gram, self.gram.wide
        if gram.device is not None:
            return self._checked(rows, points, v, gram.device)
        if gram.K is None and wide.kernel.plain:
            source = wide.source
            sums, bounds = by_features(source.take(self.ids[rows]), source.take(self.ids[points]), v, wide.pool)
            return sums, bounds + self._bounds(rows, points, v) if source.rounded else bounds
        return self._exact(rows, points, v), self._bounds(rows, points, v)

    def _exact(self, rows: Ids, points: Ids, v: NDArray[np.float64]) -> NDArray[np.float64]:
        gram, wide, ids = self.gram, self.gram.wide, self.ids[points]
        if (K := gram.K) is not None:
            out, where = np.zeros((len(rows), 1)), np.arange(len(points))
            with gram.pool.aside():
                add_dots(K, ids, self.ids[rows], *Weights.of(where, v[:, None]), out)
            return out[:, 0]
        if wide.mirrors and np.array_equal(rows, points):
            return mirrored_sums(wide, Points(wide.source.take(ids), ids), v)
        return self.exact_sums(rows, points, v)

    def exact_sums(self, rows: Ids, points: Ids, v: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the same sums as ``exact``, row by row, of values."""
        source, ids = self.gram.wide.source, self.ids[points]
        return exact_sums(self.gram.wide, source.take(self.ids[rows]), Points(source.take(ids), ids), v)

    def _checked(
        self, rows: Ids, points: Ids, v: NDArray[np.float64], device: OnDevice
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the sums that a device makes; some of them are compared with the processor's."""
        found, bounds = device.exact(self.ids[rows], self.ids[points], v), self._bounds(rows, points, v)
        if len(rows) and len(points):
            some = checked_rows(len(rows))
            truth = self.exact_sums(rows[some], points, v)
            refuse_different(device.rows.device.label, found[some], truth, bounds[some])
        return found, bounds

    def _bounds(self, rows: Ids, points: Ids, v: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return bounds of the errors of sums of kernel values."""
        sizes, additions = np.abs(v), ADDITIONS if self.gram.mirrors and not self.gram.held else ADDITIONS_HELD
        found = self.gram.wide.errors.between(self.ids[rows], self.ids[points], sizes, additions * UNIT)
        return found + self.gram.asymmetry * float(sizes.sum())

    def error_bounds(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return proven bounds of sum_j weights_j |computed - exact k(x_i, x_j)| for every row i; weights >= 0."""
        return self.gram.errors.sums(self.ids, weights) + self.gram.asymmetry * float(weights.sum())

    def widened(self) -> View:
        """Return the view of these rows with tiles in double precision."""
        return self._alone(self.ids, np.diff(self.offsets).tolist(), np.float64)

    def narrowed(self, rows: Ids) -> View:
        """Return some of the rows as a view of their own."""
        alone = self._alone(self.ids[rows], [len(rows)], self.gram.dtype)
        alone.gram.workspace = self.gram.workspace
        return alone

    def part(self, rows: Ids) -> View:
        """Return some of the rows as the view of a program of its own."""
        return self.narrowed(rows)

    def _alone(self, ids: Ids, sizes: list[int], dtype: Any) -> View:
        device = None if self.gram.device is None else self.gram.device.take(ids)
        source, pool = self.gram.source.take(ids), self.gram.pool
        return View.of(Gram(source, dtype, sizes, pool, device=device))

    def spans(self) -> list[tuple[int, int]]:
        """Return the begin and the end of the rows of each segment."""
        return list(zip(self.offsets[:-1], self.offsets[1:], strict=True))


class CachedRows(NamedTuple):
    """Values, slots and times of use, as the compiled loops take them, see ``RowStore``."""

    values: NDArray[Any]
    slot: Ids
    used: Ids


class RowCache:
    """Rows of the kernel matrix over a view, as many as fit in memory, and at least two.

    A compiled loop stops at a row that is not in the store. It says which row that is, and which rows it will probably
    want next; ``fetch`` then makes these rows together.
    """

    def __init__(self, view: View, memory: float) -> None:
        n, width = len(view), whole_tiles(len(view))
        fit = int(memory // (max(1, width) * view.gram.dtype.itemsize))
        self.view, self.store = view, RowStore(min(n, max(2, fit)), width, view.gram.dtype, n)
        if view.gram.K is not None and len(self.store) == n:
            self.fetch(np.arange(n))

    @property
    def arrays(self) -> CachedRows:
        """Its arrays."""
        return CachedRows(self.store.values, self.store.slot, self.store.used)

    def clock(self) -> int:
        """Return the next time."""
        return self.store.clock()

    def missing(self, ids: Ids) -> Ids:
        """Return the missing rows among ``ids``: the first ROWS_AHEAD, or half of what there is room for."""
        return ids[self.store.slot[ids] < 0][: max(1, min(ROWS_AHEAD, len(self.store) // 2))]

    def fetch(self, ids: Ids) -> None:
        """Make the missing rows ``ids`` in place of the longest unused."""
        with self.store.leased(ids) as lease:
            self.view.fill(self.store.values, lease.slots, ids)

    def row(self, i: int) -> NDArray[np.floating]:
        """Return row i, and make it if need be."""
        if self.store.slot[i] < 0:
            self.fetch(np.array([i]))
        slot = self.store.slot[i]
        self.store.used[slot] = self.clock()
        return self.store.values[slot, : len(self.view)]

    def among(self, rows: Ids, memory: float) -> RowCache:
        """Return the cache for a part of the samples; rows that are here already are copied."""
        part = RowCache(self.view.narrowed(rows), memory)
        here = np.flatnonzero(self.store.slot[rows] >= 0)[: len(part.store)]
        with part.store.leased(here) as lease:
            for new, old in zip(lease.slots, self.store.slot[rows[here]], strict=True):
                part.store.values[new, : len(rows)] = self.store.values[old, rows]
        return part


def exact_sums(wide: Gram, rows: Source, points: Points, v: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return K[rows, points] @ v in double precision; each row's sum depends on no other row."""
    parts = [slice(a, a + EXACT_ROWS) for a in range(0, len(rows), EXACT_ROWS)]
    return np.concatenate([np.zeros(0), *(_sums(wide, rows.take(part), points, v) for part in parts)])


def _sums(wide: Gram, rows: Source, points: Points, v: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sum over some of the points at a time, so that even few rows keep all threads busy."""
    segment = wide.segment(rows)
    sums = np.zeros((-(-len(points) // EXACT_POINTS), len(rows), 1))

    def some(number: int) -> None:
        part = slice(number * EXACT_POINTS, (number + 1) * EXACT_POINTS)
        segment.accumulate(sums[number], points.take(part), v[part, None])

    if wide.kernel.called:  # a function is called on this thread only
        for number in range(len(sums)):
            some(number)
    else:
        work = len(rows) * len(points) * wide.kernel.cost(rows.features)
        wide.pool.run(some, len(sums), threads_worth(work, CALL))
    total, low = np.zeros(len(rows)), np.zeros(len(rows))
    for part in sums[:, :, 0]:
        fold(part.copy(), total, low, len(rows))
    return total + low
