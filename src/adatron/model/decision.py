"""Decision values of a fitted model, row by row: a row's value does not depend on the rows beside it.

Memory is bounded, except for the result, a number for each row, and what ``prepared`` keeps: blocks of rows are made
ready, evaluated and turned into the result one after the other, and X is never copied as a whole.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import canonical_csr, is_sparse
from ..gram import PairSums, Source
from ..threads import Pool, allowed_threads, threads_worth
from ..threads.cost import NEW_POOL
from .expansion import Expansion
from .readout import Counted
from .signs import SINGLE_REACH, Decided, Signs, Values

BLOCK_BYTES = 32 * 2**20  # Bytes for the rows of a block in float64, their decision values and the results.
FEWEST_ROWS, MOST_ROWS = 256, 4096  # Rows of a block, whatever its bytes: each block has a cost of its own.
PAIR_ROWS = 64  # Rows of a task: their kernel values and votes stay in the caches while all pairs go by.


def decision_values(
    X: Any,
    expansion: Expansion,
    intercepts: Values,
    precision: str,
    n_jobs: int | None,
    finish: Callable[[Values], NDArray[Any]],
    decided: Decided | None = None,
    limit: float = np.inf,
    diagonal: float = 0.0,
    own: Values | None = None,
) -> NDArray[Any]:
    """Return what ``finish`` makes of sum_i coefficients[i] k(vectors_i, x) + intercepts, for every row x of X.

    A multiple of k(x, x) may be added to each value.

    Parameters
    ----------
    X : ndarray or CSR matrix (n, d); kernel values (n, n training samples), those of the expansion, if they are given
    expansion : of p outputs
    intercepts : (p,)
    precision : that of the kernel values, 'double' or 'single': the latter for the rows where it says anything
    finish : takes the values of a block of rows, (rows, p), and returns an array with as many rows
    decided : for a result that values with an error may decide, see ``signs``: instead of double, single precision for
        rows whose result is then proven to be the same
    limit : see ``Clock``
    diagonal : the multiple of k(x, x)
    own : (n,) k(x, x), if kernel values are given
    """
    n, points, intercepts = X.shape[0], expansion.points, intercepts + expansion.level

    def added(which: Any, source: Source) -> Values:
        """Return what is added to the sums of some rows, (rows, p)."""
        values = np.tile(intercepts, (len(source), 1))
        if diagonal:
            values += diagonal * (source.kernel.diagonal(source.sizes) if own is None else own[which])[:, None]
        return values

    work = n * max(1, len(expansion)) * max(1.0, points.features)
    heavy = threads_worth(work, NEW_POOL) > 1 and not points.kernel.called
    rows = partial(_rows, X, points)
    if n <= FEWEST_ROWS and not heavy and precision == "double" and expansion.takes(X):
        values = added(slice(None), rows(slice(None))) if diagonal else np.repeat(intercepts[None], n, axis=0)
        expansion.sums(np.float64, None).add_few(values, X)
        return finish(values)
    result, left = _Result(n, finish), None
    with Pool(allowed_threads(n_jobs) if heavy else 1, limit) as pool:
        if heavy and decided is not None and precision == "double" and (split := expansion.split(pool)) is not None:
            signs = Signs(split, intercepts, decided, pool)
            left = _without_proven(signs, rows, result, _rows_of_a_block(X, split.width))
        single = _single_up_to(expansion, precision)
        for which in _blocks(left, n, _rows_of_a_block(X, len(intercepts))):
            source = rows(which)
            values = added(which, source)
            near = np.full(len(source), single > 0) if np.isinf(single) else source.sizes <= single
            for dtype, some in ((np.float32, near), (np.float64, ~near)):
                if some.any():
                    part = values[some]
                    expansion.sums(dtype, pool).add(part, source.take(some), pool)
                    values[some] = part
            result.put(which, values)
    return result.out


def pair_values(
    X: Any,
    pairs: PairSums,
    intercepts: Values,
    precision: str,
    n_jobs: int | None,
    finish: Callable[[Values], NDArray[Any]] | None,
    counted: Counted | None = None,
) -> NDArray[Any]:
    """Return the same as ``decision_values`` for many pairs of classes, without a table of their coefficients.

    counted : if votes are all that is asked for, what is made of them instead
    """
    n, points = X.shape[0], pairs.points
    parts: list[Any] = [None] * max(1, -(-n // PAIR_ROWS))
    limit = _single_up_to(pairs, precision)
    with Pool(1 if points.kernel.called else allowed_threads(n_jobs)) as pool:

        def task(number: int) -> None:
            source = _rows(X, points, slice(number * PAIR_ROWS, (number + 1) * PAIR_ROWS))
            near = np.full(len(source), limit > 0) if np.isinf(limit) else source.sizes <= limit
            found: list[NDArray[Any]] = []
            order = [np.flatnonzero(near), np.flatnonzero(~near)]
            for dtype, some in zip((np.float32, np.float64), order, strict=True):
                if not len(some) and len(source):
                    continue
                if counted is not None:
                    zero_wins, make = counted
                    found.append(make(*pairs.tally(source.take(some), intercepts, zero_wins, dtype, pool)))
                elif finish is not None:
                    found.append(finish(pairs.values(source.take(some), intercepts, dtype, pool)))
            result = np.concatenate(found)
            result[np.concatenate(order)] = result.copy()
            parts[number] = result

        pool.run(task, len(parts))
    return np.concatenate(parts)


def pair_margins(
    X: Any, pairs: PairSums, intercepts: Values, classes: NDArray[np.int64], n_jobs: int | None, limit: float = np.inf
) -> Values:
    """Return by how much the pairs prefer the class of each row to each other class, (n, k - 1).

    classes : (n,) class of each row
    limit : see ``Clock``
    """
    points, out = pairs.points, np.empty((X.shape[0], pairs.classes - 1))
    with Pool(1 if points.kernel.called else allowed_threads(n_jobs), limit) as pool:

        def task(number: int) -> None:
            pool.check_time()
            some = slice(number * PAIR_ROWS, (number + 1) * PAIR_ROWS)
            out[some] = pairs.margins(_rows(X, points, some), classes[some], intercepts, pool)

        pool.run(task, -(-len(out) // PAIR_ROWS))
    return out


class _Result:
    """The result of the values of n rows, block by block."""

    def __init__(self, n: int, finish: Callable[[Values], NDArray[Any]]) -> None:
        self.n, self.finish = n, finish
        self.out: Any = None

    def put(self, which: Any, values: Values) -> None:
        part = self.finish(values)
        if self.out is None:
            self.out = np.empty((self.n, *part.shape[1:]), part.dtype)
        self.out[which] = part


def _rows(X: Any, points: Source, which: Any) -> Source:
    """Return some rows of X in the form of the support vectors."""
    block = canonical_csr(X[which]) if is_sparse(points.X) else np.ascontiguousarray(X[which])
    ids = np.arange(block.shape[0])
    return replace(points, X=block, ids=ids, columns=None if points.columns is None else 0 * ids, new=True)


def _without_proven(signs: Signs, rows: Callable[[Any], Source], result: _Result, step: int) -> NDArray[np.int64]:
    """Put the results that float32 proves, first those of fewer rows; return the rows that are left."""
    left, start, stop = [], 0, min(result.n, max(FEWEST_ROWS, step // 4))
    while start < result.n:
        ids = np.arange(start, stop)
        if signs.likely:
            values, proven = signs.of(rows(slice(start, stop)))
            result.put(ids[proven], values[proven])
            ids = ids[~proven]
        left.append(ids)
        start, stop = stop, min(result.n, stop + step)
    return np.concatenate(left)


def _blocks(left: NDArray[np.int64] | None, n: int, step: int) -> list[Any]:
    """Return the rows that are left, in parts; None stands for all rows: slices, which copy nothing, one at least."""
    if left is None:
        return [slice(start, start + step) for start in range(0, max(1, n), step)]
    return [left[start : start + step] for start in range(0, len(left), step)]


def _rows_of_a_block(X: Any, outputs: int) -> int:
    features = X.nnz / max(1, X.shape[0]) if is_sparse(X) else X.shape[1]
    return int(np.clip(BLOCK_BYTES / (8 * (features + 4 * outputs)), FEWEST_ROWS, MOST_ROWS))


def _single_up_to(expansion: Expansion | PairSums, precision: str) -> float:
    """Return the squared norm up to which a row gets float32 kernel values; inf or -inf if no row's norm matters."""
    points = expansion.points
    if precision == "double" or not points.kernel.compiled:
        return -np.inf
    limit = SINGLE_REACH * points.largest
    return limit if points.suits_single(limit, requested=True) else -np.inf
