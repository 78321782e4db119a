"""Places for the variables of a dense block, and its solution: by pairs or singles, then by the active set."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arrays import Ids, Vector
from ...compiled.cholesky import rank_of
from ...compiled.search import CHUNK, ROUNDING_UNIT
from ...compiled.submatrix import scatter
from ...compiled.sums import add_rows
from ...problems import Dual
from ..linalg.bordered import PIVOT_FLOOR
from ..results import NEGATIVE_CURVATURE
from .active_set import ActiveSet, price
from .pairs import pairs
from .singles import singles

INNER = 0.8  # Fraction of the tolerance for a block that is a whole program: only rounding can undo its solution.
BLOCK_STEPS = 10  # Updates, as a multiple of a block's size, after which the block waits for its active set.
UPDATE = 4.0  # Multiply-adds of an active set, on one thread, in the time of one such update, for each variable.
COARSE = 10 * 2.0**-20  # Fraction of the largest gradient; float32 does not resolve a smaller tolerance.
BLOCK_COST = 3e5  # Multiply-adds of an active set in the time that a block takes besides its updates.
WALK_PATIENCE = 16.0  # A walk may cost this multiple of the updates before it; they undo much of an unfinished walk.
SCALED_DOWN = 1e20  # Gradients beyond this are scaled down.
RANK = 64  # Pivots that are looked for: with more, the rank of a matrix is as good as full.


@dataclass(frozen=True)
class Layout:
    """Places for the variables of a block, equality by equality; each fills whole CHUNKs, as the searches need.

    order : the variable at each place; the padding repeats some
    place : the place of each variable
    where : the same to index with, a slice if they stand one after the other
    starts : first place of each equality, and the number of places
    """

    order: Ids
    place: Ids
    where: Any
    starts: Ids

    @classmethod
    def of(cls, dual: Dual) -> Layout:
        return _alone(len(dual)) if dual.row is None else cls.of_ties(dual.ties(), len(dual))

    @classmethod
    def of_ties(cls, ties: list[Ids], n: int) -> Layout:
        """Lay out n variables; ``ties`` has the variables of each equality."""
        starts = np.cumsum([0, *(-(-len(tie) // CHUNK) * CHUNK for tie in ties)])
        order, place = np.minimum(np.arange(starts[-1]), n - 1), np.zeros(n, np.int64)
        for start, tie in zip(starts, ties, strict=False):
            place[tie] = start + np.arange(len(tie))
        order[place] = np.arange(n)
        plain = bool((place == np.arange(n)).all())
        return cls(order, place, slice(0, n) if plain else place, starts)

    @property
    def end(self) -> int:
        """The place after that of the last variable; only padding follows."""
        return int(self.place.max(initial=-1)) + 1

    def spread(self, values: Vector) -> Vector:
        """Return the values of the variables at their places, 0 elsewhere."""
        out = np.zeros(len(self.order))
        out[self.where] = values
        return out

    def product(self, K: NDArray[Any], values: Vector) -> Vector:
        """Return K v for a matrix at the places and a v of the variables."""
        out = np.zeros(len(K))
        add_rows(K, self.place, values, out)
        return out[self.where]


@functools.lru_cache(maxsize=64)  # many problems of a few classes, and all but the last block, are of few sizes
def _alone(n: int) -> Layout:
    """Lay out one equality. Do not write to the arrays; a mark that forbids it would make another type for numba."""
    return Layout.of_ties([np.arange(n)], n)


def unpadded(K: NDArray[Any], layout: Layout) -> NDArray[np.float64]:
    """Return the matrix of the variables without the padding, in double precision."""
    out, every = np.empty((len(layout.place), len(layout.place))), np.arange(len(layout.place))
    scatter(K, layout.place, layout.place, out, every, every)
    return out


class Improved(NamedTuple):
    """The result of ``Inner``: a better beta and the steps taken. K includes lambda^2 and the program's signs.

    ``intact``: whether the given matrix is unchanged.
    """

    beta: Vector
    steps: int
    K: NDArray[Any]
    layout: Layout
    sign: Vector | None
    intact: bool

    def product(self, change: Vector) -> Vector:
        """Return (K + lambda^2 11') change, which a change of the block's variables adds to their gradient."""
        if self.sign is None:
            return self.layout.product(self.K, change)
        return self.sign * self.layout.product(self.K, self.sign * change)


class Inner:
    """Solves dense blocks: by pairs or singles and, once those have cost as much, by the active set.

    ``credit`` counts what the updates in unfinished blocks have cost more than active sets, in multiply-adds.
    ``stopped`` is asked between the parts of a walk. ``before`` counts updates that the first block has had elsewhere.
    """

    def __init__(self, stopped: Callable[[], bool], before: int = 0) -> None:
        self.credit, self.stopped, self.before, self.full = 0.0, stopped, before, False

    def solve(
        self,
        K: NDArray[Any],
        layout: Layout,
        dual: Dual,
        beta: Vector,
        g: Vector,
        tol: float,
        steps: int,
        flag: NDArray[Any],
    ) -> Improved:
        """Return a better ``beta`` of a block after at most ``steps`` steps; as a rule it is the best to ``tol``.

        K is the kernel matrix of the places and may be overwritten. Its further columns are not read. dual, beta and g
        belong to the block alone.
        """
        given, bent = K, flag[NEGATIVE_CURVATURE]
        if K.dtype == np.float32 and (dual.lambda2 or COARSE * np.abs(g).max() > tol):  # a sum would be rounded
            K = K.astype(np.float64)
        if dual.lambda2:
            K += K.dtype.type(dual.lambda2)
        plain, sign = dual.unsigned(), dual.sign
        if sign is not None:
            signs = layout.spread(sign).astype(K.dtype)
            K[:, : len(signs)] *= signs[:, None] * signs
            beta, g = sign * beta, sign * g
        whole, peak = K, float(np.abs(g).max(initial=0.0))
        if peak > SCALED_DOWN:  # the bars of the searches would not exceed such gradients
            scale = 2.0 ** -np.frexp(peak)[1]
            K, g, tol, plain = K * K.dtype.type(scale), scale * g, scale * tol, plain.scaled(scale)
        limit = min(max(len(beta), BLOCK_STEPS * len(beta) - self.before), steps)
        found, used = _updated(K, layout, plain, beta, g, tol, limit, flag)
        if whole.dtype != given.dtype:
            flag[NEGATIVE_CURVATURE] = bent  # in float64 the rounding of float32 values looks like negative curvature
        if used == limit < steps:
            self.credit += BLOCK_COST + UPDATE * (self.before + used) * len(beta)
            free, floor = int(np.count_nonzero(plain.free(found))), PIVOT_FLOOR[given.itemsize]
            if price(free, len(beta), self._rank(K, layout, floor)) <= self.credit:
                walk = ActiveSet(unpadded(K, layout), plain, found, g + layout.product(K, found - beta), floor)
                used += walk.run(tol, WALK_PATIENCE * self.credit, self.stopped, steps - used)
                self.credit = max(0.0, self.credit - walk.spent)
                found = walk.beta
        self.before = 0
        found = _without_crumbs(found, plain)
        intact = whole is not given or not overwrites(dual)
        return Improved(found if sign is None else sign * found, used, whole, layout, sign, intact)

    def _rank(self, K: NDArray[Any], layout: Layout, floor: float) -> int:
        """Return the rank of a block's matrix; after one with more pivots than RANK, no other matrix is examined."""
        n = len(layout.place)
        if self.full:
            return n
        rank = rank_of(unpadded(K, layout), min(RANK, n), floor)
        self.full = rank >= RANK
        return n if self.full else rank


def _without_crumbs(beta: Vector, dual: Dual) -> Vector:
    """Return variables; one that differs from a bound or from 0 by the rounding of the largest one is set to it.

    Steps with larger variables leave such crumbs; a single free variable would decide the bias.
    """
    crumb = ROUNDING_UNIT * float(np.abs(beta).max(initial=0.0))
    off = np.minimum(np.minimum(beta - dual.lower, dual.upper - beta), np.abs(beta))
    some = (off > 0.0) & (off <= crumb) & (dual.upper - dual.lower > 4.0 * crumb)
    if not some.any():
        return beta
    nearer = np.where(beta - dual.lower <= crumb, dual.lower, np.where(dual.upper - beta <= crumb, dual.upper, 0.0))
    return np.where(some, nearer, beta)


def overwrites(dual: Dual) -> bool:
    """Return whether ``Inner.solve`` may change a matrix of a block of this program."""
    return dual.sign is not None or bool(dual.lambda2)


def _updated(
    K: NDArray[Any], layout: Layout, dual: Dual, beta: Vector, g: Vector, tol: float, steps: int, flag: NDArray[Any]
) -> tuple[Vector, int]:
    """Return ``beta`` after at most ``steps`` updates, and their number. The padding cannot move: its bounds are 0."""
    new, lower, upper, slope = (layout.spread(v) for v in (beta, dual.lower, dual.upper, g))
    slope = slope.astype(K.dtype)
    if dual.totals:
        used = pairs(K, new, slope, lower, upper, layout.starts, dual.epsilon, tol, steps, flag)
    else:
        used = singles(K, new, slope, lower, upper, dual.epsilon, tol, steps, flag)
    return new[layout.where], used
