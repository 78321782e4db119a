"""Solvers of small dense quadratic programs: what ``block`` and ``decomposition`` do with their blocks."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...compiled.cholesky import rank_of
from ...compiled.search import CHUNK
from ...compiled.submatrix import add_rows, scatter
from ...problems import Dual
from ...problems.dual import Ids, Vector
from ..status import BENT
from .active_set import ActiveSet, price
from .pairs import pairs
from .singles import singles

__all__ = ["INNER", "ActiveSet", "Inner", "Layout", "pairs", "singles", "unpadded"]

INNER = 0.8  # of the tolerance where a block is all of a program: nothing outside can undo what is left, but rounding
STEPS = 10  # updates of pairs or singles, as a multiple of a block's size, after which it waits for its active set
UPDATE = 4.0  # multiply-adds of an active set, on one thread, in the time of such an update, for each variable
COARSE = 10 * 2.0**-20  # times the largest gradient: float32 does not resolve a smaller tolerance
BLOCK = 3e5  # the same for what a block takes beside its updates
PATIENCE = 16.0  # a walk may cost so many times what the updates before it did, which undo much of an unfinished one
LARGE = 1e20  # gradients beyond it are scaled down
RANK = 64  # pivots that are looked for: with more, the rank of a matrix is as good as full
FLOOR = {4: 2e-6, 8: 1e-12}  # pivots below this are rounding, by bytes of a kernel value


@dataclass(frozen=True)
class Layout:
    """Places for the variables of a block: equality by equality, each in whole CHUNKs, which the searches need.

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
        """Of n variables, those of each equality given."""
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
        """Values of the variables at their places, 0 elsewhere."""
        out = np.zeros(len(self.order))
        out[self.where] = values
        return out

    def product(self, K: NDArray[Any], values: Vector) -> Vector:
        """K v for a matrix at the places and a v of the variables."""
        out = np.zeros(len(K))
        add_rows(K, self.place, values, out)
        return out[self.where]


@functools.lru_cache(maxsize=64)  # many problems of a few classes, and all but the last block, are of few sizes
def _alone(n: int) -> Layout:
    """Nobody writes to it: marked so its arrays would be of another type for numba."""
    return Layout.of_ties([np.arange(n)], n)


class Improved(NamedTuple):
    """What ``Inner`` found after so many steps: a better beta. K has lambda^2 and the signs of the program in it.

    ``intact``: whether the matrix that was given is as it was.
    """

    beta: Vector
    steps: int
    K: NDArray[Any]
    layout: Layout
    sign: Vector | None
    intact: bool

    def push(self, change: Vector) -> Vector:
        """(K + lambda^2 11') change: what a change of the block's variables adds to their gradient."""
        if self.sign is None:
            return self.layout.product(self.K, change)
        return self.sign * self.layout.product(self.K, self.sign * change)


class Inner:
    """Solves dense blocks: by pairs or singles and, once those have cost as much, by the active set.

    ``credit`` is what updates in blocks that they did not finish have cost more than active sets, in multiply-adds.
    ``stopped`` is asked between the parts of a walk; ``before``: updates that the first block has had elsewhere.
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
        """A better ``beta`` of a block, the best to ``tol`` as a rule, in at most ``steps`` steps.

        K is the kernel matrix of the places, and may be overwritten; further columns of it are not read. dual, beta and
        g belong to the block alone.
        """
        given, bent = K, flag[BENT]
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
        if peak > LARGE:  # the searches' bars would not stand out
            scale = 2.0 ** -np.frexp(peak)[1]
            K, g, tol, plain = K * K.dtype.type(scale), scale * g, scale * tol, plain.scaled(scale)
        limit = min(max(len(beta), STEPS * len(beta) - self.before), steps)
        found, used = _updated(K, layout, plain, beta, g, tol, limit, flag)
        if whole.dtype != given.dtype:
            flag[BENT] = bent  # by the measure of float64 the rounding of float32 values is negative curvature
        if used == limit < steps:
            self.credit += BLOCK + UPDATE * (self.before + used) * len(beta)
            free, floor = int(np.count_nonzero(plain.free(found))), FLOOR[given.itemsize]
            if price(free, len(beta), self._rank(K, layout, floor)) <= self.credit:
                walk = ActiveSet(unpadded(K, layout), plain, found, g + layout.product(K, found - beta), floor)
                used += walk.run(tol, PATIENCE * self.credit, self.stopped, steps - used)
                self.credit = max(0.0, self.credit - walk.spent)
                found = walk.beta
        self.before = 0
        intact = whole is not given or (sign is None and not dual.lambda2)
        return Improved(found if sign is None else sign * found, used, whole, layout, sign, intact)

    def _rank(self, K: NDArray[Any], layout: Layout, floor: float) -> int:
        """Of a block's matrix; once one has more pivots than are looked for, no other is asked."""
        n = len(layout.place)
        if self.full:
            return n
        rank = rank_of(unpadded(K, layout), min(RANK, n), floor)
        self.full = rank >= RANK
        return n if self.full else rank


def unpadded(K: NDArray[Any], layout: Layout) -> NDArray[np.float64]:
    """The matrix of the variables without the padding, in double precision."""
    out, every = np.empty((len(layout.place), len(layout.place))), np.arange(len(layout.place))
    scatter(K, layout.place, layout.place, out, every, every)
    return out


def _updated(
    K: NDArray[Any], layout: Layout, dual: Dual, beta: Vector, g: Vector, tol: float, steps: int, flag: NDArray[Any]
) -> tuple[Vector, int]:
    """``beta`` after at most so many updates, and their number. The padding cannot move: its bounds are 0."""
    new, lower, upper, slope = (layout.spread(v) for v in (beta, dual.lower, dual.upper, g))
    slope = slope.astype(K.dtype)
    if dual.totals:
        used = pairs(K, new, slope, lower, upper, layout.starts, dual.epsilon, tol, steps, flag)
    else:
        used = singles(K, new, slope, lower, upper, dual.epsilon, tol, steps, flag)
    return new[layout.where], used
