"""The given rows, their conversion to operands of the tiles, and rows that travel from one view to another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import fsum
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..arrays import Ids, is_sparse
from ..compiled import lines
from ..compiled.cache.uninterrupted import cached_property
from ..compiled.micro import BLOCK_POINTS, rows_width
from ..compiled.panels import (
    TILE,
    Dense,
    Operand,
    Sparse,
    most_roundings,
    pack,
    pack_segments,
    roundings,
    sparse_norms,
    squared_norms,
    sum_rows,
)
from ..kernels import Kernel
from ..kernels.base import renumbered, used_columns
from ..threads.cost import COPIED, threads_for
from ..threads.pool import Pool

DOUBT = 0.02  # Proven relative error of a float32 kernel value above which the tiles are float64.
DOUBT_OF_PRODUCTS = 2.0**-36  # The same of a float64 value by norms and products above which differences are summed.
ASKED_DOUBT = 1.0  # Bound in place of DOUBT if the user asks for float32; values with larger errors say nothing.
UNEVEN_ROWS, UNEVEN = 1000, 1e3  # Rows looked at; largest squared norm, as a multiple of that of typical entries.
COPIED_ROWS = 512  # Rows that a thread copies at a time.
PACKED = 1 << 17  # Values that a task packs.
MOVED = 1024  # Rows at a time whose values at the centre are found.
CONSTANT, SHOWN = 2.0**-40, 2.0**-10  # Fraction of a mean: spreads that are rounding; what a centre leaves of one row.
DIAGONAL = 32  # Rows whose k(x, x) a function is asked for at a time: unused values cost less than calls.


@dataclass(frozen=True)
class SourceFacts:
    """Facts about all rows of X, for rows that were taken out of it.

    features : see ``Source.features``
    most : the most numbers in a CSR row
    """

    features: float
    most: int


@dataclass(frozen=True)
class Source:
    """Rows of data behind an index.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, d), or a Gram matrix of shape (n, m) if ``columns`` is given
    ids : row of X behind each row of the source
    kernel : the kernel that will be taken of the rows
    center : (d,) subtracted from the rows in double precision; it keeps the rounding of differences small.
        CSR rows have 0 in columns that most rows leave empty, or no centre at all
    columns : column of a given Gram matrix that belongs to each row of the source
    new : the rows of a given Gram matrix are new samples, not those of its columns, so the matrix is not symmetric
    asymmetry : the largest difference between the two values of a pair in a given Gram matrix
    careful : squared distances in double precision are summed from differences, not from norms and products
    used : sorted columns that the rows use, of rows with far more columns than numbers; see ``columns``
    facts : what is true of all rows if X has only some of them
    rounded : coefficients are rounded once more after a proof, as they are divided among equal samples or by a margin
    """

    X: Any
    ids: Ids
    kernel: Kernel
    center: NDArray[np.float64]
    columns: Ids | None = None
    new: bool = False
    asymmetry: float = 0.0
    careful: bool = False
    used: NDArray[Any] | None = None
    facts: SourceFacts | None = None
    rounded: bool = False

    def __post_init__(self) -> None:
        """Fail if rows have another width than the points that they go with: compiled code takes one width for all."""
        dense = self.columns is None and isinstance(self.X, np.ndarray) and len(self.X)
        if dense and self.X.shape[1] != len(self.center):
            raise ValueError(f"The rows have {self.X.shape[1]} features; {len(self.center)} are needed.")

    @classmethod
    def of(cls, X: Any, ids: Ids, kernel: Kernel, columns: Ids | None = None, balanced: bool = False) -> Source:
        """Return the source that suits a kernel: centred if a translation of the rows changes nothing.

        balanced : the values are for coefficients whose sum is 0
        """
        if any(leaf.product == "given" for leaf in kernel.leaves()):
            return cls(X, ids, kernel, np.zeros(0), ids if columns is None else columns)
        used = used_columns(X) if is_sparse(X) else None
        center = np.zeros(0 if is_sparse(X) else X.shape[1])
        if len(ids) and is_centred(kernel, is_sparse(X), used, balanced):
            total = np.zeros((2, X.shape[1]))
            sum_up(X, ids, total)
            center = center_of(total, len(ids))
        return cls(X, ids, kernel, center, used=used)

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def features(self) -> float:
        """The average number of nonzero features, which is the cost of a product."""
        if self.columns is not None:
            return 1.0
        if self.facts is not None:
            return self.facts.features
        return self.X.nnz / max(1, self.X.shape[0]) if is_sparse(self.X) else float(self.X.shape[1])

    @property
    def width(self) -> int:
        """The number of columns that compiled code goes through."""
        return self.X.shape[1] if self.used is None else 2 * len(self.used) + 1

    @property
    def terms(self) -> int:
        """The most roundings of one term in the sum for a product, or a distance, of two rows."""
        d, distances = self.X.shape[1], any(leaf.product in ("l1", "squares") for leaf in self.kernel.leaves())
        if is_sparse(self.X):
            most = int(np.diff(self.X.indptr).max(initial=0)) if self.facts is None else self.facts.most
            return min(2 * most, d) if distances else most + int(np.count_nonzero(self.center))
        return d if distances else most_roundings(d)

    def by_differences(self) -> Source:
        """Return the source for the kernel whose distances are sums of squared differences of the given rows."""
        return replace(self, kernel=self.kernel.by_differences(), center=np.zeros_like(self.center), careful=False)

    def cautious(self, mass: float, allowed: float) -> Source:
        """Return the source, ``careful`` if errors of values in double precision might otherwise be too large.

        Parameters
        ----------
        mass : sum of the sizes of the coefficients, at most
        allowed : allowed error of a sum of values with these coefficients
        """
        if self.columns is not None or not any(leaf.of_difference for leaf in self.kernel.leaves()):
            return self
        bound = self.rounding_error
        far = bound > DOUBT_OF_PRODUCTS * self.kernel.magnitude(self.largest) or mass * bound > allowed
        return replace(self, careful=True) if far and self.kernel.by_differences() != self.kernel else self

    @cached_property
    def rounding_error(self) -> float:
        """Upper bound of the error of any value in double precision."""
        return self.kernel.error_bound(self.largest, float(self.terms), 2.0**-53)

    def given(self) -> Any:
        """Return the rows as the user gave them."""
        return self.X[self.ids]

    def centered(self) -> Any:
        """Return the rows less the centre, see ``less``."""
        return less(self.given(), self.center)

    def level(self) -> NDArray[np.float64]:
        """Return k(x - m, m) of each row x for the centre m."""
        out, center = np.empty(len(self)), self.center[None]
        point = sparse.csr_matrix(center) if is_sparse(self.X) else center
        for start in range(0, len(self), MOVED):
            part = slice(start, start + MOVED)
            out[part] = self.kernel(self.take(part).centered(), point)[:, 0]
        return out

    def middle(self) -> float:
        """Return k(m, m) / 2 of the centre m."""
        return 0.5 * float(self.kernel.diagonal(np.array([self.center @ self.center]))[0])

    def missing(self, beta: NDArray[np.float64], sphere: bool) -> float:
        """Return what sums with coefficients lack: k(x - m, z - m) lacks k(x - m, m).

        The coefficients of a ball have the sum 1, and k(x, x) / 2 is subtracted, so k(m, m) / 2 is missing, too.
        """
        return fsum([*(beta * self.level()), self.middle() if sphere else 0.0])

    def take(self, rows: Any) -> Source:
        return replace(self, ids=self.ids[rows], columns=None if self.columns is None else self.columns[rows])

    @cached_property
    def sizes(self) -> NDArray[np.float64]:
        """Squared norms of the (centred) rows in double precision; k(x, x) where the kernel's values are given."""
        if self.columns is not None:
            return np.asarray(self.X[self.ids, self.columns], np.float64)
        out = np.empty(len(self))
        if not self.kernel.compiled:
            for start in range(0, len(self), DIAGONAL):
                rows = self.take(slice(start, start + DIAGONAL)).given()
                out[start : start + DIAGONAL] = np.diagonal(self.kernel(rows, rows))
        elif is_sparse(self.X):
            out[:] = np.asarray(self.centered().astype(np.float64).power(2).sum(axis=1)).ravel()
        else:
            squared_norms(self.X, self.ids, self.center, np.ones(self.X.shape[1]), out)
        return out

    def weighted_sizes(self, weight: Callable[[Ids], NDArray[np.float64]]) -> NDArray[np.float64]:
        """Return squared norms whose terms have weights, by their roundings in a product (CSR: or more roundings)."""
        out = np.empty(len(self))
        if is_sparse(self.X):
            part = self.centered()
            left = np.repeat(part.indptr[1:], np.diff(part.indptr)) - np.arange(len(part.data))
            sparse_norms(part.data * np.sqrt(weight(left + 1)), part.indptr.astype(np.int64), out)
        else:
            squared_norms(self.X, self.ids, self.center, weight(roundings(self.X.shape[1])), out)
        return out

    @cached_property
    def largest(self) -> float:
        """The largest size, or the largest kernel value if the values are given."""
        if self.columns is None and self.kernel.compiled:
            return float(self.sizes.max(initial=0.0))
        values = self.sizes[None] if self.columns is None else self.X
        parts = (values[i : i + 64] for i in range(0, len(values), 64))  # each part is read twice, from the cache
        return max((float(max(part.max(initial=0.0), -part.min(initial=0.0))) for part in parts), default=0.0)

    def suits_single(self, largest: float, requested: bool = False) -> bool:
        """Return whether float32 kernel values of rows up to this size are proven to be accurate enough.

        requested : the user wants float32 values unless they say nothing
        """
        bound = self.kernel.error_bound(largest, self.terms, 2.0**-24)
        return bound <= (ASKED_DOUBT if requested else DOUBT) * self.kernel.magnitude(largest)

    @property
    def uneven(self) -> bool:
        """Whether a few large entries leave little of the others in float32 products."""
        some = self.take(slice(None, None, -(-len(self) // UNEVEN_ROWS)))
        near = some.centered()
        values = np.asarray(near.data if is_sparse(near) else near[some.given() != 0], np.float64)
        rows = max(1, len(some))
        return values.size > 0 and self.largest > UNEVEN * float(np.median(values**2)) * values.size / rows

    def as_points(self, dtype: Any, pool: Pool) -> Operand:
        return self._operand(BLOCK_POINTS, dtype, pool)

    def as_rows(self, dtype: Any, pool: Pool) -> Operand:
        return self._operand(rows_width(dtype), dtype, pool)

    def _operand(self, width: int, dtype: Any, pool: Pool) -> Operand:
        n = len(self)
        blocks = -(-n // width)
        norms = lines.zeros((max(blocks * width, -(-n // TILE) * TILE),), dtype)
        if is_sparse(self.X):
            part = self.centered()
            data, indices, indptr = (
                part.data.astype(dtype),
                renumbered(part.indices, self.used),
                part.indptr.astype(np.int64),
            )
            sparse_norms(data, indptr, norms)
            return Sparse(data, indices, indptr, norms, width, n)
        panels = lines.zeros((blocks, self.X.shape[1], width), dtype)
        _pack(self, panels, norms, pool)
        return Dense(panels, norms, width, n)

    def by_segments(self, width: int, sizes: Ids, dtype: Any) -> tuple[Operand, Ids]:
        """Return the rows in segments, and the number of the block with which each segment begins.

        The last number is the number of all blocks.
        """
        first = np.cumsum([0, *(-(-n // width) for n in sizes.tolist())])
        n = int(first[-1]) * width
        norms = lines.zeros((n + TILE,), dtype)
        if is_sparse(self.X):
            part, lengths, ends = self.centered(), np.zeros(n, np.int64), np.cumsum(sizes)
            lengths[np.arange(len(self)) + np.repeat(first[:-1] * width - (ends - sizes), sizes)] = np.diff(part.indptr)
            indptr = np.concatenate([[0], np.cumsum(lengths)])
            data, indices = part.data.astype(dtype), renumbered(part.indices, self.used)
            sparse_norms(data, indptr, norms)
            return Sparse(data, indices, indptr, norms, width, n), first
        panels = lines.zeros((int(first[-1]), self.X.shape[1], width), dtype)
        pack_segments(self.X, self.ids, self.center, sizes, first, panels, norms)
        return Dense(panels, norms, width, n), first


@dataclass(frozen=True)
class Points:
    """Rows that travel, with all that another view needs to evaluate the kernel against them.

    ids : numbers of the rows in the training set, the key under which their kernel values are stored
    again : whether each row's kernel values will probably be asked for again, so that storing pays; None for all
    """

    source: Source
    ids: Ids
    again: NDArray[np.bool_] | None = None

    def __len__(self) -> int:
        return len(self.ids)

    def take(self, which: Any) -> Points:
        return Points(self.source.take(which), self.ids[which], None if self.again is None else self.again[which])

    def merged(self, V: NDArray[np.float64]) -> tuple[Points, NDArray[np.float64]]:
        """Return each point once, with the sum of its lines of V (|P|, p); unchanged if no point comes twice."""
        if (np.diff(self.ids) > 0).all():
            return self, V
        ids, first, number = np.unique(self.ids, return_index=True, return_inverse=True)
        if len(ids) == len(self):
            return self, V
        total = np.zeros((len(ids), V.shape[1]))
        np.add.at(total, number, V)
        used = total.any(axis=1)
        merged = self.take(first[used])
        if self.again is None:
            return merged, total[used]
        again = np.zeros(len(ids), bool)
        np.logical_or.at(again, number, self.again)
        return replace(merged, again=again[used]), total[used]


def less(X: Any, center: NDArray[np.float64]) -> Any:
    """Return rows less a centre: dense ones in float64, CSR rows as they are if they have none."""
    columns = np.flatnonzero(center)
    if not is_sparse(X):
        return np.asarray(X, np.float64) - center
    if not len(columns):
        return X
    n, m = X.shape[0], len(columns)
    every = np.tile(center[columns], n), np.tile(columns, n), np.arange(0, n * m + 1, m)
    return sparse.csr_matrix(X.astype(np.float64) - type(X)(every, shape=X.shape))


def is_centred(kernel: Kernel, is_sparse: bool, used: Any, balanced: bool) -> bool:
    """Return whether rows are to be centred; ``used`` and ``balanced``: see ``Source``."""
    return (kernel.stationary and not is_sparse) or (balanced and kernel.bilinear and used is None)


def sum_up(X: Any, ids: Ids, total: NDArray[np.float64]) -> None:
    """Add rows, one after the other, to a total of (2, d): the sum of each column, and its numbers."""
    if not is_sparse(X):
        sum_rows(X, ids, total[0])
        total[1] += len(ids)
        return
    part = X[ids]
    np.add.at(total[0], part.indices, part.data)
    total[1] += np.bincount(part.indices, minlength=len(total[1]))


def center_of(total: NDArray[np.float64], n: int) -> NDArray[np.float64]:
    """Return the means of columns of n rows; 0 where most rows are empty: such rows stay so."""
    return np.where(2.0 * total[1] >= n, total[0] / n, 0.0)


def roughly(source: Source) -> NDArray[np.float64]:
    """Return the centre of rows up to their spread, which shows none of them; no entries if 0 is one."""
    mean = source.center
    if not mean.any():
        return np.zeros(0)
    spread = abs(source.centered()).max(axis=0)
    spread = spread.toarray().ravel() if is_sparse(spread) else spread
    same = spread <= CONSTANT * np.abs(mean)
    power = np.frexp(np.where(same, SHOWN * np.abs(mean), spread))[1]
    center = np.ldexp(np.rint(np.ldexp(mean, -power)), power)
    return center if center.any() else np.zeros(0)


def _pack(source: Source, panels: NDArray[Any], norms: NDArray[Any], pool: Pool) -> None:
    blocks = len(panels)
    size = max(1, PACKED // max(1, panels[:1].size) if pool.idle else blocks)

    def task(number: int) -> None:
        first = number * size
        pack(source.X, source.ids, source.center, panels, norms, first, min(blocks, first + size))

    pool.run(task, -(-blocks // size))


def take_rows(X: Any, rows: NDArray[np.int64], n_jobs: int | None) -> Any:
    """Return X[rows]; all threads copy a large result, as the first touch of a page takes longer than the copy."""
    threads = threads_for(COPIED * len(rows) * X[:1].nbytes, n_jobs) if isinstance(X, np.ndarray) else 1
    if threads == 1:
        return X[rows]
    out = np.empty((len(rows), X.shape[1]), X.dtype)

    def task(number: int) -> None:
        part = slice(number * COPIED_ROWS, (number + 1) * COPIED_ROWS)
        np.take(X, rows[part], axis=0, out=out[part], mode="clip")  # other modes copy twice

    with Pool(threads) as pool:
        pool.run(task, -(-len(rows) // COPIED_ROWS))
    return out
