"""Gram: the kernel matrix for the solvers. Solvers know nothing of kernels, and kernels know nothing of solvers.

Everything rests on one invariant: a kernel value depends on its pair of rows and on nothing else, never on the tile,
the batch, the thread or whether it was stored. A gradient is therefore exactly K32 beta, stored and recomputed rows
are interchangeable, and a fit gives the same bits with any number of threads.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Ids
from ..compiled import lines
from ..compiled.cache.uninterrupted import cached_property
from ..compiled.precision import UNIT
from ..compiled.search import CHUNK
from ..compiled.submatrix import mirror, scatter
from ..threads.pool import Pool
from .backends.device import OnDevice
from .backends.segment import HeldSegment, Segment, TileSegment, Workspace, uncompiled
from .errors import Errors
from .points import Points
from .shared import GivenShared, TiledShared, share
from .source import Source
from .symmetry import refuse_asymmetric

SYMMETRY_SAMPLES = 256  # Samples by which a function is checked for symmetry.
SPREAD_SAMPLES = 64  # Samples whose kernel values tell how far apart all samples are.


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
    held : bool, default=False
        Hold all of K, in float64.
    shared : bool, default=False
        Hold the values within each segment, for problems over several segments that are one block each.
    workspace : Workspace, optional
        That of a Gram of the same kernel and type, whose buffers are used again.
    numbers : int, optional
        Points have numbers below this; by default as many as there are rows.
    device : OnDevice, optional
        These rows on a device, which then makes whole sums.
    """

    def __init__(
        self,
        source: Source,
        dtype: Any,
        sizes: Sequence[int],
        pool: Pool,
        slots: int = 0,
        held: bool = False,
        shared: bool = False,
        workspace: Workspace | None = None,
        numbers: int | None = None,
        device: OnDevice | None = None,
    ) -> None:
        self.numbers = len(source) if numbers is None else numbers
        self.dtype, self.pool, self.device = np.dtype(dtype), pool, device
        self.source = source.by_differences() if source.careful and self.dtype == np.float64 else source
        self.kernel = self.source.kernel
        self.starts = np.cumsum([0, *sizes])
        self.workspace = workspace or Workspace(self.kernel, self.dtype)
        self.held, self._whole, self._making = held, None, threading.RLock()
        self.shared, self.mirrors = shared, self.kernel.compiled  # uncompiled kernels may give other values for (z, x)
        self.slots, self._parts, self._segments, self._errors, self._framed = slots, None, None, None, {}

    @property
    def segments(self) -> Sequence[Segment]:
        """The segments, over their rows or over the whole matrix."""
        whole, spans = self.whole, pairwise(self.starts)
        if whole is not None:
            return [HeldSegment(whole[:, a:b]) for a, b in spans]
        if self._segments is None:
            with self.pool.aside(), self._making:
                if self._segments is None:
                    self._segments = [self.segment(self.source.take(slice(a, b)), self.slots) for a, b in spans]
        return self._segments

    @property
    def whole(self) -> NDArray[np.float64] | None:
        """All of K, made when it is first needed; None if K is not to be held."""
        if self.held and self._whole is None:
            with self.pool.aside(), self._making:  # in this order: the thread that makes K may need its turn
                if self._whole is None:
                    self._whole = self.square(Points(self.source, np.arange(len(self.source))), len(self.source))
        return self._whole

    @property
    def in_memory(self) -> NDArray[Any] | None:
        """All of K if it is framed, perhaps with zeros beyond, or to be held, then made if need be; else None."""
        framed = self._framed.get(0.0)
        return self.whole if framed is None else framed

    @property
    def parts(self) -> TiledShared | GivenShared:
        """The values that its segments share, made when they are first needed."""
        return self.make_parts()

    def make_parts(self) -> TiledShared | GivenShared:
        """Make the values that the segments share, unless they are made, and return them."""
        if self._parts is None:
            with self.pool.aside(), self._making:
                if self._parts is None:
                    self._parts = share(self.source, self.starts, self.workspace, self.pool, lambda: self.whole)
        return self._parts

    @property
    def in_one(self) -> bool:
        """Whether all rows are one segment."""
        return len(self.starts) == 2

    def framed(self, lambda2: float) -> NDArray[Any]:
        """Return K + lambda^2 over all rows, with zeros up to a whole CHUNK, for problems over all rows."""
        if lambda2 not in self._framed:
            with self.pool.aside(), self._making:
                if lambda2 not in self._framed:
                    self._framed[lambda2] = self._frame(lambda2)
        return self._framed[lambda2]

    def _frame(self, lambda2: float) -> NDArray[Any]:
        n = len(self.source)
        width = -(-n // CHUNK) * CHUNK
        if self.held and (self.kernel.called or self._whole is not None):
            out = lines.zeros((width, width), self.dtype)
            out[:n, :n] = self.whole
        else:
            out = self.square(Points(self.source, np.arange(n)), width)
        if lambda2:
            out[:n, :n] += lambda2
        return out

    @cached_property
    def sizes(self) -> NDArray[np.float64]:
        """Sizes of the rows, see ``Source.sizes``; values that are held are not asked of a function again."""
        whole = self.whole if self.kernel.called else None
        return self.source.sizes if whole is None else np.diagonal(whole).copy()

    @cached_property
    def largest(self) -> float:
        """The largest size of a row, see ``Source.largest``."""
        return float(np.abs(self.sizes).max(initial=0.0)) if self.kernel.called else self.source.largest

    @property
    def magnitude(self) -> float:
        """Upper bound of |k(x, z)|."""
        return self.kernel.magnitude(0.0 if self.kernel.stationary else self.largest)

    @property
    def errors(self) -> Errors:
        """Bounds of the errors of its values, made when they are first needed."""
        if self._errors is None:
            with self.pool.aside(), self._making:
                if self._errors is None:
                    self._errors = Errors.of(self.source, self.dtype, self.sizes, self.largest, lambda: self.norms)
        return self._errors

    @cached_property
    def spread(self) -> tuple[float, float]:
        """The mean of k(x, x) and the mean of k(x, z), over some samples."""
        n = len(self.source)
        ids = np.arange(min(n, SPREAD_SAMPLES)) * n // min(n, SPREAD_SAMPLES)
        some = Points(self.source.take(ids), ids)
        K = self.block(some, some)
        return float(np.diagonal(K).mean()), float(K.mean())

    @cached_property
    def asymmetry(self) -> float:
        """The largest |k(x, z) - k(z, x)| of given or function values; over all pairs if K is held, else over some."""
        if not self.kernel.called:
            return self.source.asymmetry
        K = self.whole
        if K is None:
            n = len(self.source)
            some = np.arange(min(n, SYMMETRY_SAMPLES)) * n // min(n, SYMMETRY_SAMPLES)
            K = self.square(Points(self.source.take(some), some), len(some))
        return refuse_asymmetric(K, "The kernel function returned a matrix K that")

    @cached_property
    def rounding(self) -> float:
        """Upper bound of the error of any value in double precision, or infinity."""
        source = self.wide.source
        known = source.columns is None and not source.kernel.called
        own = source.blur if known else source.kernel.error_bound(self.largest, 0.0, UNIT)
        return own + self.asymmetry

    @property
    def norms(self) -> NDArray[Any] | None:
        """Squared norms of the rows as the tiles have them; None if the tiles may not need segments."""
        if self.device is not None:
            return self.device.norms(self.dtype)
        if self.shared or not self.kernel.compiled:
            return None
        return np.concatenate([part.norms for part in self.segments if isinstance(part, TileSegment)])

    @property
    def wide(self) -> Gram:
        """A Gram of these rows in double precision; it has no segments unless it is this one."""
        return self if self.dtype == np.float64 else self._wide

    @cached_property
    def _wide(self) -> Gram:
        return Gram(self.source, np.float64, [], self.pool)

    def segment(self, source: Source, slots: int = 0) -> Segment:
        if not self.kernel.compiled:
            return uncompiled(source, self.pool)
        return TileSegment(source, self.workspace, self.pool, slots, self.numbers)

    def drop(self, one: int, other: int) -> None:
        """Empty the stores of values between two segments that no program needs again; within one: of all its rows."""
        for a, b in {(one, other), (other, one)}:
            segment = self._segments[b] if self._segments else None
            if isinstance(segment, TileSegment):
                if a == b:
                    segment.store.close()
                else:
                    segment.store.drop(self.starts[a], self.starts[a + 1])

    def square(self, P: Points, width: int) -> NDArray[Any]:
        """Return kernel values among points, in the tiles' precision, with rows and columns of 0 up to a width.

        The points are rows of this matrix's own source, whose operands are those of its kernel.
        """
        assert P.source.kernel == self.kernel, (P.source.kernel, self.kernel)  # noqa: S101
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
        """Return points as rows of the tiles: a segment with exactly these points, or a new one."""
        if not self.held and len(self.starts) > 1 and len(P):
            number = int(np.searchsorted(self.starts, P.ids[0], side="right")) - 1
            if np.array_equal(P.ids, np.arange(self.starts[number], self.starts[number + 1])):
                segment = self.segments[number]
                assert isinstance(segment, TileSegment)  # noqa: S101 (for the type checker)
                return segment
        return TileSegment(P.source, self.workspace, self.pool)

    def among(self, rows: Ids, columns: Ids) -> NDArray[Any]:
        """Return a part of K, which is held or framed in memory."""
        whole = self.in_memory
        assert whole is not None  # noqa: S101 (for the type checker)
        out = np.empty((len(rows), len(columns)), whole.dtype)
        with self.pool.aside():
            scatter(whole, rows, columns, out, np.arange(len(rows)), np.arange(len(columns)))
        return out

    def own(self, number: int) -> Points:
        """Return the points of a segment."""
        return self.points(np.arange(self.starts[number], self.starts[number + 1]))

    def points(self, ids: Ids) -> Points:
        """Return some rows as points."""
        return Points(self.source.take(ids), ids)

    def block(self, P: Points, Q: Points) -> NDArray[Any]:
        """Return kernel values of |P| points with |Q| points, in the tiles' precision, for the caller to change."""
        return self.among(P.ids, Q.ids) if self.in_memory is not None else self.segment(Q.source).values(P)
