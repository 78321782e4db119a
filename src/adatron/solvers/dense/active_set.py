"""Active set: solves a small dense block to its end, where pairs and singles crawl.

Problem   any program of ``problems.dual``, given K + lambda^2 over its variables.
Update    the free variables F go to the best point of their face, [K_FF A'; A 0] [d; mu] = -[g_F; 0], or until the
          first of them meets a bound and leaves F. At the best point the worst violator joins F. A free variable
          may depend on the others: K is of low rank, or C is so large that most are free. Then it walks along the
          direction of no curvature until one variable meets a bound. 0 is a bound where it is a kink.
Stop      no violation above tol; or ``budget`` multiply-adds are used up; or it is told to.
Source    K. Scheinberg, An efficient implementation of an active set method for SVMs, JMLR 7 (2006) 2237-2257.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arrays import Vector
from ...compiled.cache.jit import jit
from ...compiled.cache.pointer import NOWHERE, Address, At, address, borrowed, count
from ...compiled.cholesky import drop
from ...compiled.optimality import gains
from ...compiled.precision import UNIT
from ...problems import Dual
from ..linalg.bordered import append_row, bordered

CALL = 1e4  # Multiply-adds in the time that the overhead of a step takes.
BETWEEN_LOOKS = 5e7  # Multiply-adds between two looks at the clock, about 0.05 s where memory is slow.
BEST, ON_THE_WAY, LOST = 0, 1, 2  # see ``_settle`` and ``_enter``


class Walk(NamedTuple):
    """The state of a block. F are the first ``tally[0]`` of ``ids``; L and A are their factor, see ``margin``."""

    K: NDArray[np.float64]
    beta: Vector
    g: Vector
    lower: Vector
    upper: Vector
    epsilon: float
    low: Vector  # bounds of a variable of F on its side of the kink
    high: Vector
    kink: Vector  # addition of epsilon to g on that side
    row: NDArray[np.int64]  # the equality of each variable
    border: NDArray[np.float64]  # (n, p), its column of A
    sums: Vector  # A beta, which must stay
    mu: Vector
    ids: NDArray[np.int64]
    inside: NDArray[np.bool_]
    L: NDArray[np.float64]
    A: NDArray[np.float64]
    first: NDArray[np.int64]  # the variables to be in F at the start
    tally: NDArray[np.int64]  # variables of F, steps, those of ``first`` that have been taken in
    spent: Vector  # multiply-adds
    shift: float
    floor: float
    enter: Address  # of ``_enter``
    settle: Address


@functools.cache
def parts(dtype: Any) -> tuple[Address, Address]:
    """Return the addresses of ``_enter`` and ``_settle``, for matrices in a precision."""
    v, V, ids = np.empty(0), np.empty((0, 0)), np.empty(0, np.int64)
    some = v, v, v, v, 0.0, v, v, v, ids, V, v, v, ids, np.empty(0, np.bool_), V, V, ids, ids, v, 0.0, 0.0
    w = At(Walk(np.empty((0, 0), dtype), *some, NOWHERE, NOWHERE))
    return address(_enter, w, 0, 0.0, 0.0), address(_settle, w)


class ActiveSet:
    """One block on its way: ``beta`` is its point, ``g`` the gradient there."""

    def __init__(self, K: NDArray[np.float64], dual: Dual, beta: Vector, g: Vector, floor: float) -> None:
        n, p = len(beta), len(dual.totals)
        row = np.zeros(n, np.int64) if dual.row is None else np.asarray(dual.row, np.int64)
        border = np.zeros((n, p))
        for tie, column in zip(dual.ties(), border.T, strict=False):
            column[tie] = 1.0
        self.walk = Walk(
            K, beta.copy(), g.copy(), dual.lower.copy(), dual.upper.copy(), float(dual.epsilon),
            dual.lower.copy(), dual.upper.copy(), np.zeros(n), row, border, dual.sums(beta), np.zeros(p),
            np.zeros(n, np.int64), np.zeros(n, np.bool_), np.zeros((n, n)), np.zeros((n, p)),
            np.flatnonzero(dual.free(beta)), np.zeros(3, np.int64), np.zeros(1),
            float(max(K.max(), -K.min())), floor, *parts(K.dtype),
        )  # fmt: skip
        self.beta, self.g, self.targets = self.walk.beta, self.walk.g, float(np.abs(dual.t).max(initial=0.0))

    @property
    def spent(self) -> float:
        return float(self.walk.spent[0])

    @property
    def drowned(self) -> bool:
        """Whether a coefficient is so large that rounding of its products exceeds all targets."""
        return UNIT * float(np.abs(self.beta).max(initial=0.0)) * self.walk.shift > self.targets > 0.0

    @property
    def steps(self) -> int:
        return int(self.walk.tally[1])

    def run(self, tol: float, budget: float, stopped: Callable[[], bool], most: int) -> int:
        """Walk; return the number of steps, which exceeds ``most`` by a few at most.

        The walk ends where the rounding of products of the coefficients exceeds all targets.
        """
        more = True
        while more and not self.drowned and self.spent < budget and self.steps < most and not stopped():
            more = go_on(self.walk, tol, min(budget, self.spent + BETWEEN_LOOKS), most)
        return self.steps


def price(free: int, n: int, rank: int) -> float:
    """Return the multiply-adds of a walk that begins with ``free`` of n variables, if few join and leave.

    Variables beyond the rank of the matrix depend on others, and each of them takes a step.
    """
    if free <= rank:
        return 2.0 * free**3
    return 2.0 * rank**3 + free * (CALL + rank * (n + 4.0 * rank))


@jit
def go_on(w: Any, tol: float, budget: float, most: int) -> bool:
    """Call ``walk``, for Python."""
    return walk(borrowed(w), tol, budget, most)


@jit(inner=True)
def walk(w: Any, tol: float, budget: float, most: int) -> bool:
    """Take in the variables that are free, then one violator after the other.

    Return False at the end, and if rounding or a direction without a bound ends the walk.
    """
    who = np.zeros(2, np.int64)
    while w.tally[2] < len(w.first):
        if w.spent[0] >= budget or w.tally[1] >= most:
            return True
        one = w.first[w.tally[2]]
        place = count(*w.enter, w, one, w.beta[one], budget)
        if place != BEST:
            return place == ON_THE_WAY
        w.tally[2] += 1
    while w.spent[0] < budget and w.tally[1] < most:
        place = count(*w.settle, w)
        if place == LOST:
            return False
        if place == BEST:
            if _worst(w, who) <= tol:
                return False
            for k in range(2):
                place = count(*w.enter, w, who[k], 1.0 - 2.0 * k, budget) if who[k] >= 0 else BEST
                if place != BEST:
                    return place == ON_THE_WAY
    return True


@jit(inner=True)
def _worst(w: Any, who: Any) -> float:
    """Return the worst violation outside F; set ``who`` to the variables that must grow and shrink for it, or -1.

    Both entries are set where an equality has no variable in F, else one of them.
    """
    worst, equalities = 0.0, len(w.mu)
    who[0], who[1] = -1, -1
    for r in range(max(1, equalities)):
        up, down, i, j, held = -np.inf, -np.inf, -1, -1, equalities == 0
        for k in range(len(w.g)):
            if w.row[k] != r:
                continue
            if w.inside[k]:
                held = True
                continue
            growth, shrinkage = gains(w.beta[k], w.g[k], w.lower[k], w.upper[k], w.epsilon, False)
            if growth > up:
                up, i = growth, k
            if shrinkage > down:
                down, j = shrinkage, k
        level = w.mu[r] if held and equalities else 0.0
        up, down = up - level, down + level
        violation = max(up, down) if held else up + down
        if violation > worst:
            worst = violation
            who[0], who[1] = i if up >= down or not held else -1, j if up < down or not held else -1
    w.spent[0] += CALL + 4.0 * len(w.g)
    return worst


@jit(inner=True)
def _enter(w: Any, one: int, side: float, budget: float) -> int:
    """Take a variable into F; if it depends on F, move all that is needed.

    It is on the way at the end of the budget, outside of F, and lost if nothing bounds the move.
    """
    _bound(w, one, side)
    while True:
        m = w.tally[0]
        column = np.empty(m)
        for k in range(m):
            column[k] = w.K[one, w.ids[k]]
        w.ids[m] = one
        w.spent[0] += 4.0 * m * m
        if append_row(w.L, w.A, column, w.K[one, one], w.border[one], w.shift, w.floor):
            w.inside[one] = True
            w.tally[0] += 1
            return BEST
        if not _tied(w, one):
            return LOST  # alone it would leave its equality: no kernel has such values
        d = _together(w, column, w.border[one])
        descent, curvature, ids = 0.0, 0.0, w.ids
        for k in range(m + 1):
            descent -= (w.g[ids[k]] + w.kink[ids[k]]) * d[k]
            for q in range(m + 1):
                curvature += d[k] * d[q] * w.K[ids[k], ids[q]]
        w.spent[0] += 4.0 * m * m
        if descent <= 0.0:
            descent = -descent
            for k in range(m + 1):
                d[k] = -d[k]
        length, at = _room(w, d)
        if curvature > 0.0 and descent < length * curvature:
            _move(w, d, descent / curvature, -1)
            return BEST
        if not np.isfinite(length):  # so far that the caller sees it
            widest = 0.0
            for k in range(m + 1):
                widest = max(widest, abs(d[k]))
            _move(w, d, 1.0 / (w.floor * w.shift * widest), -1)
            return LOST
        _move(w, d, length, at)
        if at == m:
            return BEST
        _leave(w, at)
        if w.spent[0] >= budget:
            return ON_THE_WAY


@jit(inner=True)
def _together(w: Any, column: Any, border: Any) -> Any:
    """Return how F moves as a variable outside, which comes last, grows by 1: the sums stay, and h of F."""
    m, back = len(column), np.empty(len(border))
    d = np.ones(m + 1)
    for k in range(m):
        d[k] = -column[k]
    for q in range(len(border)):
        back[q] = -border[q]
    bordered(w.L, w.A, w.shift, d[:m], back)
    w.spent[0] += 8.0 * m * m
    return d


@jit(inner=True)
def _tied(w: Any, one: int) -> bool:
    """Return whether the equality of a variable, if it has one, also has a variable in F."""
    for k in range(w.tally[0]):
        if w.row[w.ids[k]] == w.row[one]:
            return True
    return len(w.mu) == 0


@jit(inner=True)
def _bound(w: Any, one: int, side: float) -> None:
    """Keep a variable on its side of the kink; at 0 take the side ``side``."""
    if w.epsilon > 0.0:
        plus = w.beta[one] > 0.0 or (w.beta[one] == 0.0 and side > 0.0)
        w.low[one] = 0.0 if plus else w.lower[one]
        w.high[one] = w.upper[one] if plus else 0.0
        w.kink[one] = w.epsilon if plus else -w.epsilon


@jit(inner=True)
def _settle(w: Any) -> int:
    """Move towards the best point of the face; end there, at a bound on the way, or lost in rounding."""
    m = w.tally[0]
    if m == 0:
        return BEST
    d, sums = np.empty(m), np.empty(len(w.sums))
    for k in range(m):
        d[k] = -(w.g[w.ids[k]] + w.kink[w.ids[k]])
    for q in range(len(sums)):
        sums[q] = w.sums[q]
        for t in range(len(w.beta)):
            sums[q] -= w.border[t, q] * w.beta[t]
    mu = bordered(w.L, w.A, w.shift, d, sums)
    for q in range(len(mu)):
        w.mu[q] = mu[q]
    w.spent[0] += 4.0 * m * m
    for k in range(m):
        if not np.isfinite(d[k]):
            return LOST
    length, at = _room(w, d)
    if length >= 1.0:
        _move(w, d, 1.0, -1)
        return BEST
    _move(w, d, length, at)
    _leave(w, at)
    return ON_THE_WAY


@jit(inner=True)
def _room(w: Any, d: Any) -> Any:
    """Return the distance along d until the first variable meets a bound, and its place."""
    length, at = np.inf, 0
    for k in range(len(d)):
        one = w.ids[k]
        if d[k] != 0.0:
            room = ((w.high[one] if d[k] > 0.0 else w.low[one]) - w.beta[one]) / d[k]
            if room < length:
                length, at = max(room, 0.0), k
    return length, at


@jit(inner=True)
def _move(w: Any, d: Any, length: float, at: int) -> None:
    """Move along d; the variable at the place ``at`` has met its bound."""
    g = w.g
    for k in range(len(d)):
        one, before = w.ids[k], w.beta[w.ids[k]]
        new = min(max(before + length * d[k], w.low[one]), w.high[one])
        if k == at:
            new = w.high[one] if d[k] > 0.0 else w.low[one]
        w.beta[one] = new
        values, change = w.K[one], new - before
        for t in range(len(g)):
            g[t] += change * values[t]
    w.tally[1] += 1
    w.spent[0] += CALL + len(d) * len(w.g)


@jit(inner=True)
def _leave(w: Any, place: int) -> None:
    """Let one variable of F go."""
    m = w.tally[0]
    drop(w.L, m, place)
    w.inside[w.ids[place]] = False
    for k in range(place, m - 1):
        w.ids[k] = w.ids[k + 1]
        for q in range(w.A.shape[1]):
            w.A[k, q] = w.A[k + 1, q]
    w.tally[0] -= 1
