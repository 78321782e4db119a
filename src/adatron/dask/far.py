"""Training rows on workers, as a fit sees them: the rows, their source and their kernel matrix."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from pickle import dumps
from time import monotonic
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..compiled.cache.uninterrupted import cached_property
from ..gram import Gram, Points, Source, View
from ..gram.backends.segment import Segment, TileSegment
from ..gram.elsewhere import Elsewhere, Moments
from ..gram.source import SourceFacts, center_of, is_centred
from ..gram.square import mirrored_sums
from ..kernels import Kernel
from ..threads.pool import Pool
from . import slab as on_slab
from .cluster import Call, Cluster
from .partition import Ids, Vector
from .sent import Fetched, compact
from .slab import GramSpec, Run


class FarRows(Elsewhere):
    """The training rows on a cluster.

    Rows are numbered as in the training set, samples in the order of the fit. Rows that were fetched are kept: in the
    end these are the support vectors and former candidates.

    facts, used : see ``Source``
    room : bytes of rows that may be in this process
    here : the rows that are in this process
    """

    def __init__(
        self, cluster: Cluster, shape: tuple[int, int], is_sparse: bool, dtype: Any, layout: SlabLayout,
        facts: SourceFacts, used: Any, room: float,
    ) -> None:  # fmt: skip
        self.cluster, self.shape, self.is_sparse, self.dtype, self.layout = cluster, shape, is_sparse, dtype, layout
        self.facts, self.used, self.room = facts, used, room
        self.here = Fetched(layout.samples, self.empty(), int(room / self.row))

    @property
    def row(self) -> float:
        """Bytes of a row."""
        item = np.dtype(self.dtype).itemsize
        return self.facts.features * (item + 4) + 8 if self.is_sparse else float(self.shape[1] * item)

    def __getitem__(self, rows: Any) -> Any:
        return self.samples(self.layout.place[rows])

    def samples(self, ids: Ids) -> Any:
        """Return the rows of some samples; those that are not here are fetched."""
        missing = self.here.missing(ids)
        parts = self.layout.divided(missing)
        found = self.cluster.ask(self.calls_for(parts)) if len(missing) else []
        return self.joined(ids, missing, found, [places for _, _, places in parts])

    def calls_for(self, parts: list[tuple[int, Ids, Ids]]) -> list[Call]:
        """Return the tasks that give rows, see ``SlabLayout.divided``."""
        return [Call(j, on_slab.taken, (compact(rows),)) for j, rows, _ in parts]

    def joined(self, ids: Ids, missing: Ids, parts: Sequence[Any], places: Sequence[Ids]) -> Any:
        """Return the rows of some samples, and keep the missing ones, which have come in parts."""
        come = on_slab.assembled(parts, places) if len(missing) else None
        found = self.here.exchanged(ids, missing, come)
        return self.samples(ids) if found is None else found

    def empty(self) -> Any:
        """Return no rows, of this kind."""
        shape = (0, self.shape[1])
        return sparse.csr_matrix(shape, dtype=self.dtype) if self.is_sparse else np.empty(shape, self.dtype)

    def source(self, rows: Ids, kernel: Kernel, small: bool, balanced: bool = False) -> Source:
        center = np.zeros(0 if self.is_sparse else self.shape[1])
        if self.layout.samples and is_centred(kernel, self.is_sparse, self.used, balanced):
            center = center_of(self._sum(np.zeros((2, self.shape[1]))), self.layout.samples)
        return FarSource(self, rows, kernel, center, used=self.used, facts=self.facts)

    def _sum(self, total: Vector) -> Vector:
        """Return ``total`` plus all samples in their order: each slab adds its own to the sum so far."""
        for run in range(self.layout.runs):
            for j in range(len(self.cluster)):
                start, end = (int(self.layout.counts[j, :k].sum()) for k in (run, run + 1))
                if end > start:
                    (total,) = self.cluster.ask([Call(j, on_slab.summed, (range(start, end), total))])
        return total

    def of_all(self, function: Callable[..., Any], *arguments: Any) -> NDArray[Any]:
        """Return a value of each sample: of those that each slab finds for its samples."""
        found = self.cluster.ask([Call(j, function, arguments) for j in range(len(self.cluster))])
        return layout_joined(self.layout, found)

    def moments(self) -> Moments:
        """Return means and standard deviations of the features over the samples."""
        found = self.cluster.ask([Call(j, on_slab.moments, (self.used,)) for j in range(len(self.cluster))])
        n, mean, spread = 0, np.zeros(1), np.zeros(1)
        for count, means, variances in found:
            if count:
                off, total = means - mean, n + count
                spread = spread + count * variances + off * off * (n * count / total)
                n, mean = total, mean + off * (count / total)
        return Moments(self.used, mean, np.sqrt(spread / max(1, n)))

    def gram(self, source: Source, dtype: Any, sizes: Sequence[int], pool: Pool, slots: int) -> Gram:
        return FarGram(source, dtype, sizes, pool, slots)

    def fetched(self, source: Source) -> Source:
        size = len(source) * self.row
        if size > self.room:
            raise ValueError(
                f"All problems of this fit are so small that each is one block, and blocks are solved in the client's "
                f"process. Their {len(source):,} rows take {size / 2**20:,.0f} MB there; cache_size allows "
                f"{self.room / 2**20:,.0f} MB. Raise cache_size, or fit on one machine."
            )
        return source.take(np.arange(len(source)))

    def view(self, gram: Gram, groups: list[int]) -> View:
        return FarView(gram, groups)


@dataclass(frozen=True)
class SlabLayout:
    """Which samples each slab has: a range of every run, which is a class or the whole training set.

    counts : (slabs, runs) samples of each run
    place : (n,) the sample of each row of the training set; n, which numbers no sample, for rows without weight
    """

    counts: Ids
    place: Ids

    @property
    def runs(self) -> int:
        return self.counts.shape[1]

    @property
    def samples(self) -> int:
        return int(self.counts.sum())

    @cached_property
    def first(self) -> Ids:
        """The first sample of each run of a slab, (slabs, runs)."""
        flat = self.counts.T.ravel()
        return (np.cumsum(flat) - flat).reshape(self.runs, -1).T.copy()

    @cached_property
    def _starts(self) -> tuple[Ids, Ids]:
        """The first samples of all ranges in their order, and the range's number in ``first.T``."""
        flat, counts = self.first.T.ravel(), self.counts.T.ravel()
        some = np.flatnonzero(counts)
        return flat[some], some

    def where(self, samples: Ids) -> tuple[Ids, Ids]:
        """Return the slab of each sample, and its row there."""
        starts, numbers = self._starts
        number = numbers[np.searchsorted(starts, samples, side="right") - 1]
        slabs = len(self.counts)
        j, run = number % slabs, number // slabs
        before = np.cumsum(self.counts, axis=1) - self.counts
        return j, samples - self.first[j, run] + before[j, run]

    def divided(self, samples: Ids) -> list[tuple[int, Ids, Ids]]:
        """Return the slabs that have some of the samples, with their rows there and their places among the samples."""
        j, rows = self.where(samples)
        return [(int(k), rows[own], own) for k in np.unique(j) for own in [np.flatnonzero(j == k)]]


@dataclass(frozen=True)
class FarSource(Source):
    """Samples on a cluster; rows that are taken come here."""

    @property
    def far(self) -> FarRows:
        return self.X

    @cached_property
    def samples(self) -> Ids:
        """The number of each row in the order of the fit."""
        return self.far.layout.place[self.ids]

    def like(self) -> Source:
        """Return a source of this kind without rows."""
        no_rows = self.far.empty(), np.zeros(0, np.int64)
        return Source(*no_rows, self.kernel, self.center, careful=self.careful, used=self.used, facts=self.facts)

    def take(self, rows: Any) -> Source:
        return self.here(self.far.samples(self.samples[rows]))

    def here(self, X: Any) -> Source:
        """Return fetched rows as a source."""
        return replace(self.like(), X=X, ids=np.arange(X.shape[0]))

    def part(self, rows: Ids) -> FarSource:
        """Return some of the rows, which stay where they are."""
        return replace(self, ids=self.ids[rows])

    @property
    def terms(self) -> int:
        return self.like().terms

    @cached_property
    def sizes(self) -> NDArray[np.float64]:
        return self.far.of_all(on_slab.sizes, self.like())[self.samples]

    def weighted_sizes(self, weight: Callable[[Ids], NDArray[np.float64]]) -> NDArray[np.float64]:
        most = max(self.terms, self.far.shape[1] if not self.far.is_sparse else 0)
        with np.errstate(all="ignore"):
            return self.far.of_all(on_slab.weighted_sizes, self.like(), weight(np.arange(most + 2)))[self.samples]


def layout_joined(layout: SlabLayout, parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Return the values of all samples in their order, given those of each slab."""
    out = np.empty(layout.samples, np.result_type(*(part.dtype for part in parts)))
    for part, first, counts in zip(parts, layout.first, layout.counts, strict=True):
        at = 0
        for start, count in zip(first.tolist(), counts.tolist(), strict=True):
            out[start : start + count] = part[at : at + count]
            at += count
    return out


class Span(NamedTuple):
    """Consecutive rows of a segment that one slab has: the first one's number in the matrix, and the rows there."""

    segment: int
    first: int
    run: Run


class FarGram(Gram):
    """The kernel matrix over samples on a cluster; the slabs have its segments."""

    source: FarSource

    @property
    def segments(self) -> Sequence[Segment]:
        no_values: Any = None  # a segment of this process holds no kernel values: the slabs have them
        return [no_values] * (len(self.starts) - 1)

    def over(self, P: Points) -> TileSegment:
        return TileSegment(P.source, self.workspace, self.pool)

    @cached_property
    def spec(self) -> GramSpec:
        """How slabs make the kernel values."""
        return spec_of(self.source, self.dtype, self.slots, self.numbers, self.spans)

    @cached_property
    def spans(self) -> list[list[Span]]:
        """The runs of each slab's rows."""
        layout = self.source.far.layout
        slab, row = layout.where(self.source.samples)
        segment = np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))
        new = (np.diff(slab) != 0) | (np.diff(row) <= 0) | (np.diff(segment) != 0)
        starts = np.concatenate([[0], np.flatnonzero(new) + 1]) if len(row) else np.zeros(0, np.int64)
        found: list[list[Span]] = [[] for _ in range(len(layout.counts))]
        for a, b in zip(starts.tolist(), [*starts[1:].tolist(), len(row)], strict=False):
            own = row[a:b]
            whole = own[-1] - own[0] == b - a - 1
            found[slab[a]].append(Span(int(segment[a]), a, range(own[0], own[-1] + 1) if whole else own))
        return found

    def runs(self, j: int) -> list[Run]:
        """Return the runs of a slab's rows."""
        return [span.run for span in self.spans[j]]

    def norms(self) -> NDArray[Any] | None:
        cluster, own = self.source.far.cluster, [j for j, some in enumerate(self.spans) if some]
        found = cluster.ask([Call(j, on_slab.norms, (self.spec, self.runs(j))) for j in own])
        out = np.empty(len(self.source), self.dtype)
        for j, part in zip(own, found, strict=True):
            at = 0
            for _, first, run in self.spans[j]:
                out[first : first + len(run)] = part[at : at + len(run)]
                at += len(run)
        return out


def spec_of(source: FarSource, dtype: Any, slots: int, numbers: int, more: Any = None) -> GramSpec:
    """Return a spec with a key of its own."""
    like = source.like()
    key = blake2b(dumps((like, np.dtype(dtype).str, slots, numbers, more)), digest_size=12).hexdigest()
    return GramSpec(key, like, dtype, slots, numbers)


class FarView(View):
    """Samples on a cluster, for one program."""

    gram: FarGram

    def exact(self, rows: Ids, points: Ids, v: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        wide, ids, plain = self.gram.wide, self.ids[points], self.gram.kernel.plain
        if wide.mirrors and not plain and np.array_equal(rows, points):
            return mirrored_sums(wide, Points(wide.source.take(ids), ids), v), self._bounds(rows, points, v)
        if not len(rows) or not len(points):
            return np.zeros(len(rows)), np.zeros(len(rows))
        far, source = self.gram.source.far, self.gram.source
        wide_source = wide.source
        assert isinstance(wide_source, FarSource)  # noqa: S101 (for the type checker)
        spec = spec_of(wide_source, np.float64, 0, 0)
        parts = far.layout.divided(source.samples[ids])
        points_of = far.calls_for(parts)
        places, out = [places for _, _, places in parts], np.empty((2, len(rows)))
        wanted = far.layout.divided(source.samples[self.ids[rows]])
        limit = self.gram.pool.limit
        calls = [Call(j, on_slab.exact, (spec, own, places, v, left(limit)), points_of) for j, own, _ in wanted]
        for (_, _, at), values in zip(wanted, far.cluster.ask(calls, limit), strict=True):
            out[:, at] = values
        return out[0], out[1] if plain and not source.rounded else out[1] + self._bounds(rows, points, v)

    def accumulate(self, out: NDArray[np.float64], P: Points, V: NDArray[np.float64]) -> None:
        """Add K[:, P] @ V to out. Only programs of one block ask for it, so their rows come here."""
        here = View.of(Gram(self.gram.source.take(self.ids), self.gram.dtype, self._lengths(), self.gram.pool))
        here.accumulate(out, P, V)

    def _lengths(self) -> list[int]:
        return np.diff(self.offsets).tolist()

    def widened(self) -> View:
        source = self.gram.source.part(self.ids)
        wide = FarGram(source, np.float64, self._lengths(), self.gram.pool)
        return FarView(wide, list(range(len(self.groups))))

    def part(self, rows: Ids) -> View:
        """Return some of the rows as a program of its own; without room here, these rows stay on the cluster."""
        far = self.gram.source.far
        if len(rows) * far.row <= far.room / 2:
            return self.narrowed(rows)
        source = self.gram.source.part(self.ids[rows])
        return FarView(FarGram(source, self.gram.dtype, [len(rows)], self.gram.pool), [0])

    def parts(self) -> Iterator[tuple[int, list[int], list[int]]]:
        """Yield the slabs that have some of the variables, with the segments there and the first variable of each."""
        for j, spans in enumerate(self.gram.spans):
            groups, numbers = [], []
            for group, offset in zip(self.groups, self.offsets, strict=False):
                for number, (segment, first, _) in enumerate(spans):
                    if segment == group:
                        groups.append(number)
                        numbers.append(int(offset) + first - int(self.gram.starts[segment]))
            if groups:
                order = np.argsort(numbers, kind="stable")
                yield j, [groups[i] for i in order], [numbers[i] for i in order]


def left(limit: float) -> float:
    """Return the seconds until a limit."""
    return max(0.0, limit - monotonic())
