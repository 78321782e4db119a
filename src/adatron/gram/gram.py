"""Gram: the kernel matrix for the solvers.

Solvers ask a kernel for its cost and for general properties; kernels know nothing of solvers.

Everything rests on one invariant: a kernel value depends on its pair of rows and on nothing else, never on the tile,
the batch, the thread or whether it was stored. A gradient is therefore exactly K32 beta, stored and recomputed rows
are interchangeable, and a fit gives the same bits with any number of threads.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..arrays import Ids
from ..compiled import lines
from ..compiled.cache.uninterrupted import cached_property
from ..compiled.precision import UNIT
from ..compiled.search import CHUNK
from ..compiled.submatrix import mirror, scatter
from ..devices.rows import OnDevice
from ..threads.pool import Pool
from .backends.segment import Segment, TileSegment, Workspace
from .backends.untiled import HeldSegment, uncompiled
from .errors import Errors, refuse_asymmetric
from .shared import GivenShared, TiledShared, share
from .source import Points, Source

T = TypeVar("T")
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
        Its problems are one block each, over several segments: they share the values within each segment.
    device : OnDevice, optional
        These rows on a device, which then makes whole sums.

    Attributes
    ----------
    numbers : points have numbers below this; as many as there are rows, unless another number is set
    workspace : program and buffers; those of a Gram of the same kernel and type may be set in their place
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
        device: OnDevice | None = None,
    ) -> None:
        self.dtype, self.pool, self.device = np.dtype(dtype), pool, device
        self.source = source.by_differences() if source.careful and self.dtype == np.float64 else source
        self.kernel, self.numbers = self.source.kernel, len(source)
        self.starts = np.cumsum([0, *sizes])
        self.workspace = Workspace(self.kernel, self.dtype)
        self.slots, self.held, self.shared = slots, held, shared
        self.mirrors = self.kernel.compiled  # uncompiled kernels may give other values for (z, x)
        self._made: dict[Any, Any] = {}
        self._making = threading.RLock()

    def _once(self, key: Any, make: Callable[[], T]) -> T:
        """Return what is made when it is first asked for; threads that ask meanwhile wait for it."""
        if key not in self._made:
            with self.pool.aside(), self._making:  # in this order: the thread that makes it may need its turn
                if key not in self._made:
                    self._made[key] = make()
        return self._made[key]

    @property
    def K(self) -> NDArray[np.float64] | None:
        """All of K, made when it is first needed; None if K is not to be held."""
        return self._once("K", lambda: self._of_all(len(self.source))) if self.held else None

    def _of_all(self, width: int) -> NDArray[Any]:
        return self.square(Points(self.source, np.arange(len(self.source))), width)

    @property
    def segments(self) -> Sequence[Segment]:
        """The segments, over their rows or over the whole matrix."""
        K, spans = self.K, pairwise(self.starts)
        if K is not None:
            return [HeldSegment(K[:, a:b]) for a, b in spans]
        parts = (self.source.take(slice(a, b)) for a, b in spans)
        return self._once("segments", lambda: [self.segment(part, self.slots) for part in parts])

    @property
    def in_memory(self) -> NDArray[Any] | None:
        """All of K if it is framed, perhaps with zeros beyond, or to be held, then made if need be; else None."""
        framed = self._made.get(0.0)
        return self.K if framed is None else framed

    def shared_values(self) -> TiledShared | GivenShared:
        """Return the values that the segments share."""
        return self._once("shared", lambda: share(self.source, self.starts, self.workspace, self.pool, lambda: self.K))

    @property
    def in_one(self) -> bool:
        """Whether all rows are one segment."""
        return len(self.starts) == 2

    def framed(self, lambda2: float) -> NDArray[Any]:
        """Return K + lambda^2 over all rows, with zeros up to a whole CHUNK, for problems over all rows."""
        return self._once(lambda2, lambda: self._frame(lambda2))

    def _frame(self, lambda2: float) -> NDArray[Any]:
        n = len(self.source)
        width = -(-n // CHUNK) * CHUNK
        if self.held and (self.kernel.called or "K" in self._made):
            out = lines.zeros((width, width), self.dtype)
            out[:n, :n] = self.K
        else:
            out = self._of_all(width)
        if lambda2:
            out[:n, :n] += lambda2
        return out

    @cached_property
    def sizes(self) -> NDArray[np.float64]:
        """Sizes of the rows, see ``Source.sizes``; values that are held are not asked of a function again."""
        K = self.K if self.kernel.called else None
        return self.source.sizes if K is None else np.diagonal(K).copy()

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
        return self._once("errors", lambda: Errors.of(self.source, self.dtype, self.sizes, self.largest, self.norms))

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
        K = self.K
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
        own = source.rounding_error if known else source.kernel.error_bound(self.largest, 0.0, UNIT)
        return own + self.asymmetry

    def norms(self) -> NDArray[Any] | None:
        """Return squared norms of the rows as the tiles have them; None if the tiles may not need segments."""
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
            segment = self._made["segments"][b] if "segments" in self._made else None
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
        K = self.in_memory
        assert K is not None  # noqa: S101 (for the type checker)
        out = np.empty((len(rows), len(columns)), K.dtype)
        with self.pool.aside():
            scatter(K, rows, columns, out, np.arange(len(rows)), np.arange(len(columns)))
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
