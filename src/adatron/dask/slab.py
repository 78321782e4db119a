"""A slab: training samples that are consecutive in the order of a fit, on the worker that holds them.

A slab is an ordinary value of Dask, which Dask moves or makes anew. Its results depend on nothing but its rows and the
arguments of its tasks. The gradient of its samples is kept beside the rows from one task to the next, see ``state``. A
copy of the slab elsewhere begins without a gradient, which the coordinator sends anew.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import inf
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.sparsefuncs import mean_variance_axis

from ..arrays import Ids, Vector, canonical_csr, parts_of, writable
from ..compiled.merge import alike, merge
from ..fitting.samples import differ
from ..gram import Gram, Points, Source
from ..gram.features import by_features
from ..gram.source import sum_up
from ..gram.view import exact_sums
from ..kernels.base import narrow
from ..threads import Pool
from .partition import Piece
from .sent import stacked

Run = range | Ids  # some samples of a slab, in their order


@dataclass(frozen=True)
class Members:
    """The samples of a slab, as ``fitting.samples.Samples`` has them; ``codes``: class or target of each."""

    rows: Ids
    codes: NDArray[Any]
    weight: Vector
    members: Ids
    group: Ids
    own: Vector


class CurrentPool:
    """The pool of the present task, for operands that outlive it."""

    pool: Pool

    def __getattr__(self, name: str) -> Any:
        return getattr(self.pool, name)


class Slab:
    """Distinct samples in their order.

    X : their rows
    held : their numbers in the training set, and their weights
    states : the states of programs, by key; a copy has none
    """

    def __init__(self, X: Any, held: Members) -> None:
        self.X, self.held = X, held
        self._begin()

    def _begin(self) -> None:
        self.lock, self.now = threading.RLock(), CurrentPool()
        self.states: dict[str, Any] = {}
        self._grams: dict[str, Gram] = {}

    def __getstate__(self) -> tuple[Any, Members]:
        return self.X, self.held

    def __setstate__(self, state: tuple[Any, Members]) -> None:
        self.X, self.held = state
        self.X = canonical_csr(self.X) if sparse.issparse(self.X) else writable(self.X)
        self._begin()

    def __sizeof__(self) -> int:
        return 2 * sum(array.nbytes for array in parts_of(self.X)) + 64 * len(self.held.members)

    def __len__(self) -> int:
        return self.X.shape[0]

    @contextmanager
    def work(self, left: float = inf) -> Iterator[None]:
        """Work on this slab alone, with all threads of the worker; ``left``: seconds until kernel values stop."""
        with self.lock, Pool(threads_of_worker(), monotonic() + left) as pool, np.errstate(all="ignore"):
            self.now.pool = pool
            yield

    def source(self, like: Source) -> Source:
        """Return the rows as operands of the same kind as those of the whole training set."""
        return replace(like, X=self.X, ids=np.arange(len(self)))

    def forget(self, key: str, spec: str) -> None:
        """Give back the memory of a state, and of its kernel matrix if no other state needs that."""
        self.states.pop(key, None)
        if not any(state.program.spec.key == spec for state in self.states.values()):
            self._grams.pop(spec, None)

    def gram(self, spec: GramSpec, runs: Sequence[Run]) -> Gram:
        """Return the kernel matrix over some runs of samples, each a segment, and keep it."""
        if spec.key not in self._grams:
            rows, sizes = np.concatenate([np.asarray(run, np.int64) for run in runs]), [len(run) for run in runs]
            now: Any = self.now
            source = self.source(spec.source).take(rows)
            self._grams[spec.key] = Gram(source, spec.dtype, sizes, now, spec.slots)
            self._grams[spec.key].numbers = spec.numbers
        return self._grams[spec.key]


@dataclass(frozen=True)
class GramSpec:
    """How kernel values are made of rows: the kernel and its operands, without the rows.

    key : lenses with the same key are equal
    source : a source without rows, after which the source of the rows is made
    dtype, slots, numbers : see ``Gram``
    """

    key: str
    source: Source
    dtype: Any
    slots: int
    numbers: int


def threads_of_worker() -> int:
    """Return the threads of the worker that runs this task; 1 outside of a worker."""
    from distributed import get_worker

    try:
        return max(1, int(get_worker().state.nthreads))
    except ValueError:
        return 1


def joined(pieces: Sequence[Piece], together: bool, codes: int) -> Slab:
    """Return the samples of some pieces in the order of a fit, equal ones merged.

    together : whether the order is by targets; else it is by ``codes`` classes
    """
    X = Stack([piece.X for piece in pieces])
    of, keys, rows = (np.concatenate([getattr(p, name) for p in pieces]) for name in ("codes", "keys", "rows"))
    given = pieces[0].weight is not None
    weight = np.concatenate([p.weight for p in pieces]) if given else np.ones(len(rows))  # pyright: ignore
    order = np.lexsort((rows, keys, of))
    numbers = np.unique(of, return_inverse=True)[1] if together else of
    first = differ(X, order, alike(order, keys, numbers))
    count = int(numbers.max(initial=-1)) + 1 if together else codes
    own_rows, _, total, group, own = merge(order, first, numbers, count, weight)
    X = X[own_rows]
    X = canonical_csr(X) if sparse.issparse(X) else writable(X)
    return Slab(X, Members(rows[own_rows], of[own_rows], total, rows[order], group, own))


class Stack:
    """Rows below one another. Dense rows are copied only when they are asked for, so that a slab is made in place."""

    def __init__(self, parts: list[Any]) -> None:
        self._parts = [stacked(parts)] if sparse.issparse(parts[0]) else parts
        self._ends = np.cumsum([part.shape[0] for part in self._parts])

    def __getitem__(self, rows: Ids) -> Any:
        if len(self._parts) == 1:
            return self._parts[0][rows]
        number = np.searchsorted(self._ends, rows, side="right")
        out = np.empty((len(rows), self._parts[0].shape[1]), self._parts[0].dtype)
        for k, (part, end) in enumerate(zip(self._parts, self._ends.tolist(), strict=True)):
            own = np.flatnonzero(number == k)
            out[own] = part[rows[own] - (end - part.shape[0])]
        return out


def as_csr(slab: Slab) -> Slab:
    """Return the slab with dense rows as CSR rows."""
    return Slab(canonical_csr(sparse.csr_array(slab.X)), slab.held)


def assembled(parts: Sequence[Any], places: Sequence[Ids]) -> Any:
    """Return the rows of all parts, each at its place."""
    order = np.concatenate(places)
    X = stacked(list(parts))
    if (np.diff(order) == 1).all():
        return X
    back = np.empty(len(order), np.int64)
    back[order] = np.arange(len(order))
    return X[back]


def members(slab: Slab) -> Members:
    """Return which samples a slab has."""
    return slab.held


def taken(slab: Slab, rows: Ids) -> Any:
    """Return some rows."""
    return slab.X[rows]


def summed(slab: Slab, run: range, before: Vector) -> Vector:
    """Return a total of ``sum_up`` plus some rows."""
    out = before.copy()
    sum_up(slab.X, np.asarray(run, np.int64), out)
    return out


def moments(slab: Slab, used: Any) -> tuple[int, Vector, Vector]:
    """Return the number of rows, and mean and variance of each feature, or of each used column of CSR rows."""
    X = slab.X
    if sparse.issparse(X):
        of_sparse: Any = mean_variance_axis
        return len(slab), *of_sparse(sparse.csr_matrix(narrow(X, used)).astype(np.float64), axis=0)
    return len(slab), X.mean(axis=0, dtype=np.float64), X.var(axis=0, dtype=np.float64)


def sizes(slab: Slab, like: Source) -> Vector:
    """Return the squared norms of the rows as operands, see ``Source.sizes``."""
    return slab.source(like).sizes


def weighted_sizes(slab: Slab, like: Source, weights: Vector) -> Vector:
    """Return ``Source.weighted_sizes``, given the weights of 0, 1, 2, ... roundings."""
    with np.errstate(all="ignore"):
        return slab.source(like).weighted_sizes(lambda roundings: weights[roundings])


def norms(slab: Slab, spec: GramSpec, runs: Sequence[Run]) -> Any:
    """Return the squared norms of some rows, as the tiles use them."""
    with slab.work():
        return slab.gram(spec, runs).norms()


def exact(slab: Slab, spec: GramSpec, rows: Ids, places: Sequence[Ids], v: Vector, left: float, *parts: Any) -> Any:
    """Return K[rows, points] @ v in double precision, and bounds of its errors if the kernel is linear, else zeros.

    The points come in parts, from the slabs that hold them.
    """
    with slab.work(left):
        now: Any = slab.now
        wide = Gram(slab.source(spec.source), np.float64, [], now)
        own, points = wide.source.take(rows), points_of(wide.source, assembled(parts, places))
        if wide.kernel.plain:
            return np.stack(by_features(own, points.source, v, now))
        sums = exact_sums(wide, own, points, v)
        return np.stack([sums, np.zeros_like(sums)])


def points_of(like: Source, X: Any, ids: Ids | None = None) -> Points:
    """Return rows as points, with their numbers."""
    X = canonical_csr(X) if sparse.issparse(X) else writable(np.ascontiguousarray(X))
    rows = np.arange(X.shape[0])
    return Points(replace(like, X=X, ids=rows), rows if ids is None else ids)
