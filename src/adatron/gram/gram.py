"""Gram: the kernel matrix as the solvers see it. No solver knows a kernel; no kernel knows a solver.

The invariant everything rests on: a kernel value depends on its pair of rows and on nothing else, never on the
tile, the batch, the thread or whether it was stored. Hence a gradient is exactly K32 beta, stored and
recomputed rows are interchangeable, and a fit gives the same bits with any number of threads.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..compiled import lines
from ..compiled.cached import cached_property
from ..compiled.search import CHUNK
from ..compiled.submatrix import CHAIN, add_dots, fold, mirror, scatter
from .block import mirrored_sums
from .errors import Errors
from .points import Points
from .pool import Pool
from .segment import Segment, TileSegment, WholeSegment, Workspace, uncompiled
from .shared import GivenShared, Shared, share
from .source import Source
from .symmetry import refuse_asymmetric
from .tiles import Weights

Ids = NDArray[np.int64]
EXACT_ROWS, EXACT_POINTS = 4096, 512  # float64 operands made at a time
LOOKED_AT = 256  # samples among which a function is asked whether it is symmetric
SPREAD = 64  # samples whose kernel values tell how far all are apart
UNIT = 2.0**-53  # relative rounding of a float64
ADDITIONS, FEW = CHAIN + 16.0, 12.0  # roundings of a product in an exact sum: of tiles, of values that are there


class Gram:
    """The kernel matrix over a training set that is split into segments (classes or shards).

    Parameters
    ----------
    source : Source
        The rows, segment after segment, and the kernel.
    dtype : float32 or float64
        Precision of the tiles.
    sizes : sequence of int
        Rows of each segment; their sum is ``len(source)``.
    pool : Pool
    slots : int, default=0
        Rows of K that may be stored.
    whole : bool, default=False
        Hold all of K, in float64.
    shared : bool, default=False
        Hold what is within each segment, for problems over several of them that are one block each.
    workspace : Workspace, optional
        Of a Gram of the same kernel and type, whose buffers are used again.
    """

    def __init__(
        self,
        source: Source,
        dtype: Any,
        sizes: Sequence[int],
        pool: Pool,
        slots: int = 0,
        whole: bool = False,
        shared: bool = False,
        workspace: Workspace | None = None,
    ) -> None:
        self.dtype, self.pool = np.dtype(dtype), pool
        self.source = source.by_differences() if source.careful and self.dtype == np.float64 else source
        self.kernel = self.source.kernel
        self.starts = np.cumsum([0, *sizes])
        self.workspace = workspace or Workspace(self.kernel, self.dtype)
        self.held, self._whole, self._making = whole, None, threading.RLock()
        self.shared, self.mirrors = shared, self.kernel.compiled  # of others k(x, z) and k(z, x) may differ
        self.slots, self._parts, self._segments, self._errors, self._framed = slots, None, None, None, {}

    @property
    def segments(self) -> Sequence[Segment]:
        """The segments, over their rows or over the whole matrix."""
        whole, spans = self.whole, pairwise(self.starts)
        if whole is not None:
            return [WholeSegment(whole[:, a:b]) for a, b in spans]
        if self._segments is None:
            with self.pool.aside(), self._making:
                if self._segments is None:
                    self._segments = [self.segment(self.source.take(slice(a, b)), self.slots) for a, b in spans]
        return self._segments

    @property
    def whole(self) -> NDArray[np.float64] | None:
        """All of K, made when it is first needed, where it is to be held."""
        if self.held and self._whole is None:
            with self.pool.aside(), self._making:  # in this order: who makes it may need the turn
                if self._whole is None:
                    self._whole = self.square(Points(self.source, np.arange(len(self.source))), len(self.source))
        return self._whole

    @property
    def parts(self) -> Shared | GivenShared:
        """What its segments share, made when it is first needed."""
        if self._parts is None:
            with self.pool.aside(), self._making:
                if self._parts is None:
                    self._parts = share(self)
        return self._parts

    @property
    def in_one(self) -> bool:
        """Whether all rows are one segment."""
        return len(self.starts) == 2

    def framed(self, lambda2: float) -> NDArray[Any]:
        """K + lambda^2 over all rows with zeros around it up to a whole CHUNK, for problems over all of them."""
        if lambda2 not in self._framed:
            with self.pool.aside(), self._making:
                if lambda2 not in self._framed:
                    self._framed[lambda2] = self._frame(lambda2)
        return self._framed[lambda2]

    def _frame(self, lambda2: float) -> NDArray[Any]:
        n = len(self.source)
        width = -(-n // CHUNK) * CHUNK
        if self.held:
            out = lines.zeros((width, width), self.dtype)
            out[:n, :n] = self.whole
        else:
            out = self.square(Points(self.source, np.arange(n)), width)
        if lambda2:
            out[:n, :n] += lambda2
        return out

    @cached_property
    def sizes(self) -> NDArray[np.float64]:
        """Sizes of the rows, see ``Source.sizes``; a function need not be asked for what is there."""
        whole = self.whole if self.kernel.called else None
        return self.source.sizes if whole is None else np.diagonal(whole).copy()

    @cached_property
    def largest(self) -> float:
        """The largest size of a row, see ``Source.largest``."""
        return float(np.abs(self.sizes).max(initial=0.0)) if self.kernel.called else self.source.largest

    @property
    def errors(self) -> Errors:
        """Bounds of the errors of its values, made when they are first needed."""
        if self._errors is None:
            with self.pool.aside(), self._making:
                if self._errors is None:
                    self._errors = Errors.of(self)
        return self._errors

    @cached_property
    def spread(self) -> tuple[float, float]:
        """The mean of k(x, x) and that of k(x, z), by some samples."""
        view, n = self.restrict(), len(self.source)
        some = view.points(np.arange(min(n, SPREAD)) * n // min(n, SPREAD))
        K = view.block(some, some)
        return float(np.diagonal(K).mean()), float(K.mean())

    @cached_property
    def asymmetry(self) -> float:
        """The largest |k(x, z) - k(z, x)| of given values, or of a function's: all if they are held, else some."""
        if not self.kernel.called:
            return self.source.asymmetry
        K = self.whole
        if K is None:
            n = len(self.source)
            some = np.arange(min(n, LOOKED_AT)) * n // min(n, LOOKED_AT)
            K = self.square(Points(self.source.take(some), some), len(some))
        return refuse_asymmetric(K, "The kernel function returned a matrix K that")

    @cached_property
    def rounding(self) -> float:
        """Bound of the error of any value in double precision, or infinity."""
        source = self.wide.source
        known = source.columns is None and not source.kernel.called
        own = source.blur if known else source.kernel.error_bound(self.largest, 0.0, UNIT)
        return own + self.asymmetry

    @property
    def norms(self) -> NDArray[Any] | None:
        """Squared norms of the rows as the tiles have them; None where they may do without segments."""
        if self.shared or not self.kernel.compiled:
            return None
        return np.concatenate([part.norms for part in self.segments if isinstance(part, TileSegment)])

    @property
    def wide(self) -> Gram:
        """The same rows with tiles in double precision, of which none are segments if those at hand are float32."""
        return self if self.dtype == np.float64 else self._wide

    @cached_property
    def _wide(self) -> Gram:
        return Gram(self.source, np.float64, [], self.pool)

    def segment(self, source: Source, slots: int = 0) -> Segment:
        if not self.kernel.compiled:
            return uncompiled(source, self.pool)
        return TileSegment(source, self.workspace, self.pool, slots, len(self.source))

    def square(self, P: Points, width: int) -> NDArray[Any]:
        """Kernel values among points, in the precision of the tiles, with rows and columns of 0 up to a width."""
        n = len(P)
        out = lines.empty((width, width), self.dtype)
        if self.mirrors:
            with self.pool.aside():
                self.over(P).fill(P, out, np.arange(n), half=True)
                mirror(out, n)
        else:
            self.segment(P.source).fill(P, out, np.arange(n))
        out[n:], out[:n, n:] = 0.0, 0.0
        return out

    def over(self, P: Points) -> TileSegment:
        """Points as rows of the tiles: the segment that has just these, or one of their own."""
        if not self.held and len(self.starts) > 1 and len(P):
            number = int(np.searchsorted(self.starts, P.ids[0], side="right")) - 1
            if np.array_equal(P.ids, np.arange(self.starts[number], self.starts[number + 1])):
                segment = self.segments[number]
                assert isinstance(segment, TileSegment)  # noqa: S101 (for the type checker)
                return segment
        return TileSegment(P.source, self.workspace, self.pool)

    def among(self, rows: Ids, columns: Ids) -> NDArray[np.float64]:
        """A part of K, which is held whole."""
        whole, out = self.whole, np.empty((len(rows), len(columns)))
        with self.pool.aside():
            scatter(whole, rows, columns, out, np.arange(len(rows)), np.arange(len(columns)))
        return out

    def own(self, number: int) -> Points:
        """The points of a segment."""
        rows = np.arange(self.starts[number], self.starts[number + 1])
        return Points(self.source.take(rows), rows)

    def restrict(self, groups: Sequence[int] | None = None) -> View:
        """The rows of some segments (all by default), in their order; a segment may come more than once."""
        return View(self, list(range(len(self.starts) - 1) if groups is None else groups))


class View:
    """A subset of the training rows, numbered from 0 in the order of its segments."""

    def __init__(self, gram: Gram, groups: list[int]) -> None:
        self.gram = gram
        self.groups = groups

    @cached_property
    def offsets(self) -> Ids:
        """Where the rows of each segment begin, and their number."""
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
        """k(x, x) of every row, exact."""
        return self.gram.kernel.diagonal(self.gram.sizes[self.ids])

    @property
    def magnitude(self) -> float:
        """Bound of |k(x, z)|."""
        kernel = self.gram.kernel
        return kernel.magnitude(0.0 if kernel.stationary else self.gram.largest)

    def points(self, rows: Ids) -> Points:
        ids = self.ids[rows]
        return Points(self.gram.source.take(ids), ids)

    def block(self, P: Points, Q: Points) -> NDArray[Any]:
        """Kernel values of |P| points with |Q| points, in the precision of the tiles, for the caller to change."""
        if self.gram.whole is not None:
            return self.gram.among(P.ids, Q.ids)
        return self.gram.segment(Q.source).values(P)

    def rows(self, rows: Ids) -> NDArray[Any]:
        """Whole rows of the matrix over this view, (|rows|, n)."""
        P = self.points(rows)
        return np.concatenate([self.gram.segments[group].values(P) for group in self.groups], axis=1)

    def fill(self, store: NDArray[Any], slots: Ids, rows: Ids) -> None:
        """store[slots] = rows of the matrix, without a copy in between where that can be done.

        A row of the store has ``whole_tiles(n)`` entries; those beyond n are arbitrary.
        """
        if len(self.groups) == 1:
            self.gram.segments[self.groups[0]].fill(self.points(rows), store, slots)
        else:
            store[slots, : len(self)] = self.rows(rows)

    def accumulate(self, out: NDArray[np.float64], P: Points, V: NDArray[np.float64]) -> None:
        """out += K[:, P] @ V for out of shape (n, p) and V of shape (|P|, p).

        Points and segments that come more than once are visited once.
        """
        P, V = P.merged(V)
        seen: dict[int, NDArray[np.float64]] = {}
        for group, (a, b) in zip(self.groups, self.spans(), strict=True):
            if self.groups.count(group) == 1:
                self.gram.segments[group].accumulate(out[a:b], P, V)
                continue
            if group not in seen:
                seen[group] = np.zeros((b - a, V.shape[1]))
                self.gram.segments[group].accumulate(seen[group], P, V)
            out[a:b] += seen[group]

    def exact(self, rows: Ids, points: Ids, v: NDArray[np.float64]) -> NDArray[np.float64]:
        """K[rows, points] @ v in double precision, from the data as given."""
        gram = self.gram
        if gram.whole is not None:
            out, where = np.zeros((len(rows), 1)), np.arange(len(points))
            with gram.pool.aside():
                add_dots(gram.whole, self.ids[points], self.ids[rows], *Weights.of(where, v[:, None]), out)
            return out[:, 0]
        wide = gram.wide
        if wide.mirrors and not wide.kernel.plain and np.array_equal(rows, points):
            ids = self.ids[points]
            return mirrored_sums(wide, Points(wide.source.take(ids), ids), v)
        parts = [rows[a : a + EXACT_ROWS] for a in range(0, len(rows), EXACT_ROWS)]
        return np.concatenate([np.zeros(0), *(self._exact(wide, part, points, v) for part in parts)])

    def _exact(self, wide: Gram, rows: Ids, points: Ids, v: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sums over some of the points at a time, so that few rows keep all threads busy, too."""
        segment = wide.segment(wide.source.take(self.ids[rows]))
        sums = np.zeros((-(-len(points) // EXACT_POINTS), len(rows), 1))

        def some(number: int) -> None:
            part = slice(number * EXACT_POINTS, (number + 1) * EXACT_POINTS)
            ids = self.ids[points[part]]
            segment.accumulate(sums[number], Points(wide.source.take(ids), ids), v[part, None])

        if wide.kernel.called:  # on this thread alone
            for number in range(len(sums)):
                some(number)
        else:
            wide.pool.run(some, len(sums))
        total, low = np.zeros(len(rows)), np.zeros(len(rows))
        for part in sums[:, :, 0]:
            fold(part.copy(), total, low, len(rows))
        return total + low

    def exact_errors(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Proven bounds of the errors of ``exact`` for every row i, the kernel values being those of the data as given.

        The values are rounded, the products and sums of them are, and of a given matrix that is not quite symmetric
        either half may be meant.

        Parameters
        ----------
        weights : (n,) the sizes of v, 0 for rows that are no points
        """
        wide = self.gram.wide
        additions = ADDITIONS if self.gram.mirrors and not self.gram.held else FEW
        return wide.errors.sums(self.ids, weights, additions * UNIT) + self.gram.asymmetry * float(weights.sum())

    def error_bounds(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Proven bounds of sums over j of weights_j |computed - exact k(x_i, x_j)| for every row i; weights >= 0."""
        return self.gram.errors.sums(self.ids, weights) + self.gram.asymmetry * float(weights.sum())

    def widened(self) -> View:
        """The same rows with tiles in double precision."""
        return self._alone(self.ids, np.diff(self.offsets).tolist(), np.float64)

    def narrowed(self, rows: Ids) -> View:
        """Some of the rows, as a view of their own."""
        return self._alone(self.ids[rows], [len(rows)], self.gram.dtype, self.gram.workspace)

    def _alone(self, ids: Ids, sizes: list[int], dtype: Any, workspace: Workspace | None = None) -> View:
        return Gram(self.gram.source.take(ids), dtype, sizes, self.gram.pool, workspace=workspace).restrict()

    def spans(self) -> list[tuple[int, int]]:
        """Where the rows of each of its segments begin and end."""
        return list(zip(self.offsets[:-1], self.offsets[1:], strict=True))
