"""Chains of programs in a batch that differ in their bounds, or sums: the fits of a search.

Problem   as in ``solve``, with float64 tiles. A program may start from one before it that has the same matrix.
Update    a program starts at the solution before it, with the same variables at their bounds. The part of K beta that
          is of bounded variables scales with the bounds, so the gradient there costs nothing. Then ``rounds``.
Stop      as in ``solve``. The gradients of a run are made anew together, each row of K read once for all programs.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arrays import Ids, Vector
from ...compiled.cache.jit import jit
from ...compiled.cache.pointer import NOWHERE, Address, address, borrowed, call, count
from ...compiled.optimality import gains, largest_gains
from ...compiled.search import shortest
from ...compiled.sums import four
from ..dense.active_set import Walk, parts, walk
from ..dense.inner import UPDATE, WALK_PATIENCE
from ..dense.pairs import snapped
from ..linalg.bordered import PIVOT_FLOOR
from ..results import STOP

PLACES = shortest(np.float64)  # The places of an equality are a multiple of this many.
SHARE_APART, LARGEST_APART = 0.7, 1536  # Largest fraction and number of the variables that get a matrix of their own.
PASS_SHARE = 0.125  # Updates, as a fraction of the variables, after which other variables may be in play.
FINEST = PIVOT_FLOOR[8]  # Pivots below this are rounding: chains have float64 values.
BOX_ROUNDING = 2.0**-40  # Fraction of a box that is the rounding of a walk: a single free variable decides the bias.


class InPlay(NamedTuple):
    """The variables in play as a program of their own, which uses the first places of each array."""

    who: Any
    row: Any
    starts: Any
    beta: Any
    g: Any
    low: Any
    high: Any
    values: Any

    @classmethod
    def of(cls, width: int, equalities: int) -> InPlay:
        """Return room for programs whose matrices have at most ``width`` rows."""
        (who, row), (beta, g, low, high) = np.empty((2, width), np.int64), np.empty((4, width))
        starts, values = np.zeros(equalities + 1, np.int64), np.empty(min(width, LARGEST_APART) ** 2)
        return cls(who, row, starts, beta, g, low, high, values)


@functools.cache
def walking() -> Address:
    """Return the address of the walk of an active set, which takes those of its parts, too."""
    K, v, ids = np.empty((0, 0)), np.empty(0), np.empty(0, np.int64)
    return address(walked, K, v, v, v, v, ids, v, v, 0.0, 0.0, 0.0, 0.0, 0, NOWHERE, NOWHERE)


@jit(inner=True)
def walked(
    K: Any, beta: Any, g: Any, lower: Any, upper: Any, row: Any, totals: Any, spent: Any, epsilon: float, shift: float,
    tol: float, budget: float, most: int, enter: Address, settle: Address,
) -> int:  # fmt: skip
    """Go on by an active set, see ``dense.active_set``; return the number of steps. ``spent`` (1,): multiply-adds."""
    n, p, m = len(beta), len(totals), 0
    border, first = np.zeros((n, p)), np.empty(n, np.int64)
    for i in range(n):
        if lower[i] < upper[i] and p:
            border[i, row[i]] = 1.0
        if lower[i] < beta[i] < upper[i] and (epsilon == 0.0 or beta[i] != 0.0):
            first[m] = i
            m += 1
    tally, floor = np.zeros(3, np.int64), FINEST
    spent[0] = 0.0
    state = Walk(
        K, beta, g, lower, upper, epsilon, lower.copy(), upper.copy(), np.zeros(n), row, border, totals, np.zeros(p),
        np.zeros(n, np.int64), np.zeros(n, np.bool_), np.zeros((n, n)), np.zeros((n, p)), first[:m], tally, spent,
        shift, floor, enter, settle,
    )  # fmt: skip
    walk(borrowed(state), tol, budget, most)
    return tally[1]


@jit(inner=True)
def rounds(code: Any, chain: Any, one: Any, product: Any, goals: Any, tol: float, most: int) -> int:
    """Solve a program from its point and K beta there; return the number of steps."""
    done, n, old, part, credit = 0, len(one.new), one.slope, chain.part, np.zeros(2)
    slope, equal = np.empty(n), len(one.totals) > 0
    targets = np.zeros(n)  # the targets at their places
    for i in range(len(one.own)):
        targets[one.own[i]] = one.sign[i] * one.t[i] if len(one.sign) else one.t[i]
    while done < most and one.flag[STOP] == 0:
        for i in range(n):
            slope[i] = product[i] - targets[i]
        size, worst = _in_play(one, slope, part, goals.epsilon)
        if worst <= tol:
            break
        if size > min(SHARE_APART * n, LARGEST_APART):
            some = min(most - done, max(PLACES, int(PASS_SHARE * n)))
            steps = updated(
                code, one.K, one.new, slope, one.low, one.high, one.starts, one.flag, goals.epsilon, tol, some, equal
            )
            for i in range(n):
                product[i] = slope[i] + targets[i]
        else:
            steps = count(*code.apart, code, chain, one, slope, size, goals, tol, most - done, credit)
            for i in range(n):
                old[i] = one.new[i]
            for k in range(size):
                i = part.who[k]
                if i >= 0:
                    low, high = one.low[i], one.high[i]
                    one.new[i] = snapped(part.beta[k], low, high, BOX_ROUNDING * (high - low))
            call(*code.add, one.K, one.new, old, product)
        done += steps
        if not steps:
            break
    return done


@jit(inner=True)
def updated(
    code: Any, K: Any, beta: Any, g: Any, low: Any, high: Any, starts: Any, flag: Any, epsilon: float, tol: float,
    most: int, equal: bool,
) -> int:  # fmt: skip
    """Take steps over all places of a matrix, by ``pairs`` or ``singles``; return their number."""
    if equal:
        return count(*code.update, K, beta, g, low, high, starts, epsilon, tol, most, flag)
    return count(*code.update, K, beta, g, low, high, epsilon, tol, most, flag)


@jit(inner=True)
def _in_play(one: Any, g: Any, part: Any, epsilon: float) -> Any:
    """List the variables that are free or in a pair that violates the conditions; return their places, and the worst.

    Those of each equality stand together and are followed by -1 up to a multiple of PLACES.
    """
    size, worst, equal = 0, 0.0, len(one.totals) > 0
    new, low, high, who, row = one.new, one.low, one.high, part.who, part.row
    most, least, none, one_row = np.empty(1), np.empty(1), np.empty(0), np.empty(0, np.int64)
    for r in range(len(one.starts) - 1):
        a, b = one.starts[r], one.starts[r + 1]
        largest_gains(new[a:b], g[a:b], none, low[a:b], high[a:b], epsilon, one_row, none, most, least)
        worst = max(worst, most[0] + least[0]) if equal else max(worst, most[0], least[0])
        up, down = (-least[0], -most[0]) if equal else (0.0, 0.0)
        part.starts[r] = size
        for i in range(a, b):
            growth, shrinkage = gains(new[i], g[i], low[i], high[i], epsilon, False)
            if growth > up or shrinkage > down or (growth > -np.inf and shrinkage > -np.inf and new[i] != 0.0):
                who[size], row[size] = i, r
                size += 1
        while size % PLACES and size < len(who):
            who[size], row[size] = -1, r
            size += 1
        part.starts[r + 1] = size
    return size, worst


@jit(inner=True)
def apart(code: Any, chain: Any, one: Any, g: Any, size: int, goals: Any, tol: float, most: int, credit: Any) -> int:
    """Solve for the variables in play with a matrix of their own; return the number of steps.

    credit : (2,) multiply-adds of the program's updates so far; those of a walk
    """
    part, who = chain.part, chain.part.who
    values = part.values[: size * size].reshape(size, size)
    beta, slope, low, high = part.beta[:size], part.g[:size], part.low[:size], part.high[:size]
    for a in range(size):
        i = who[a]
        if i < 0:
            beta[a] = slope[a] = low[a] = high[a] = 0.0
            values[a, :] = 0.0
            continue
        line = one.K[i]
        beta[a], slope[a], low[a], high[a] = one.new[i], g[i], one.low[i], one.high[i]
        for b in range(size):
            j = who[b]
            values[a, b] = line[j] if j >= 0 else 0.0
    done, some, used = 0, 2 * PLACES, credit[1:]
    while done < most and one.flag[STOP] == 0:
        some = min(some, most - done)
        steps = updated(
            code, values, beta, slope, low, high, part.starts, one.flag, goals.epsilon, tol, some, len(one.totals) > 0
        )
        done, credit[0] = done + steps, credit[0] + UPDATE * steps * size
        if steps < some:
            break
        free = 0
        for a in range(size):
            free += low[a] < beta[a] < high[a] and (goals.epsilon == 0.0 or beta[a] != 0.0)
        if 2.0 * float(free) ** 3 <= credit[0]:
            sums = _sums_of(beta, part.row, len(one.totals))
            numbers = goals.epsilon, goals.magnitude + goals.lambda2, tol, WALK_PATIENCE * credit[0], most - done
            done += count(
                *chain.walk, values, beta, slope, low, high, part.row[:size], sums, used, *numbers, *chain.steps
            )
            if used[0] < WALK_PATIENCE * credit[0]:
                break
            credit[0] += used[0]
        some *= 2
    return done


@jit(inner=True)
def _sums_of(beta: Any, row: Any, n: int) -> Any:
    out = np.zeros(n)
    if n:
        for i in range(len(beta)):
            out[row[i]] += beta[i]
    return out


@jit(inner=True)
def add_changes(K: Any, new: Any, old: Any, out: Any) -> None:
    """Add K (new - old) to ``out``, and set ``old`` to ``new``; four rows at a time."""
    rows, weights, count_ = np.empty(4, np.int64), np.zeros(4), 0
    for i in range(len(new)):
        if new[i] != old[i]:
            rows[count_], weights[count_] = i, new[i] - old[i]
            old[i] = new[i]
            count_ += 1
        if count_ == 4 or (i == len(new) - 1 and count_):
            for k in range(count_, 4):
                rows[k], weights[k] = rows[0], 0.0
            k0, k1, k2, k3 = K[rows[0]], K[rows[1]], K[rows[2]], K[rows[3]]
            w0, w1, w2, w3 = weights[0], weights[1], weights[2], weights[3]
            for t in range(len(out)):
                out[t] += four(w0, k0[t], w1, k1[t], w2, k2[t], w3, k3[t])
            count_ = 0


TILE_COLUMNS, TILE_ROWS = 512, 4  # Columns and rows of K that are read at a time: they fit the first-level cache.
ALIKE_BOUNDS = 1e-12  # Relative difference up to which bounds have grown alike.


class Chain(NamedTuple):
    """The data that only chained programs need, at their places in the matrix.

    walk, steps : the code of the active set, and of its parts
    before : (n,) the program that each starts from, or -1
    held : (n, width) the part of K beta that is of variables at a bound, for the programs of a run
    bounded : (width,) the point whose ``held`` is known
    part : room for the variables in play
    """

    walk: Address
    steps: tuple[Address, Address]
    before: Ids
    held: NDArray[np.float64]
    bounded: Vector
    part: InPlay

    @classmethod
    def of(cls, before: Ids, width: int, equalities: int) -> Chain:
        """Return the chain of programs whose matrices have at most ``width`` rows."""
        held, part = np.empty((len(before), width)), InPlay.of(width, equalities)
        return cls(walking(), parts(np.dtype(np.float64)), before, held, np.empty(width), part)

    @classmethod
    def empty(cls) -> Chain:
        """Return an example of the type."""
        return cls.of(np.empty(0, np.int64), 0, 0)


@jit(inner=True)
def follow(one: Any, programs: Any, chain: Any, products: Any, p: int, first: int) -> None:
    """Go to the start: that of the caller, or the solution of another program with the same variables at bounds.

    ``line`` becomes a point, and the program's row of ``products`` K times it. The run begins with program ``first``.
    """
    product, held, last = products[p - first, : len(one.new)], chain.held[p - first], chain.before[p]
    grown, same, alike = 1.0, 1.0, False
    one.line[:] = 0.0
    if last >= first:
        same = programs.units[last] / programs.units[p]
        grown, alike = _followed(one, programs, last, same, chain.bounded)
    if alike:
        old, part = products[last - first], chain.held[last - first]
        for i in range(len(product)):
            held[i] = grown * part[i]
            product[i] = held[i] + same * (old[i] - part[i])
    else:
        one.line[:] = 0.0
        chain.bounded[:] = 0.0
        product[:] = 0.0
        held[:] = 0.0


@jit(inner=True)
def _followed(one: Any, programs: Any, last: int, same: float, bounded: Any) -> Any:
    """Set the point to the solution of another program; return how bounds have grown, and whether all are alike."""
    bounded[:] = 0.0
    a, grown, known = programs.first[last], same, False
    for i in range(len(one.own)):
        value, low, high = programs.beta[a + i], programs.lower[a + i], programs.upper[a + i]
        if _at_bound(value, low, high) and one.lower[i] < one.upper[i]:
            new = one.upper[i] if value == high else one.lower[i]
            if not known:
                grown, known = new / value, True
            if abs(new - grown * value) > ALIKE_BOUNDS * abs(new):
                return grown, False
    for i in range(len(one.own)):
        at, value, low, high = one.own[i], programs.beta[a + i], programs.lower[a + i], programs.upper[a + i]
        held, gone = _at_bound(value, low, high), one.lower[i] == one.upper[i]
        new = (grown if held else same) * value
        if held and not gone:
            new = one.upper[i] if value == high else one.lower[i]
        if len(one.sign) and one.sign[i] < 0.0:
            new = -new
        bounded[at] = new if held else 0.0
        one.new[at], one.line[at] = min(max(new, one.low[at]), one.high[at]), new
    return grown, True


@jit(inner=True)
def _at_bound(value: float, low: float, high: float) -> bool:
    return value != 0.0 and (value in (low, high))


@jit(inner=True)
def keep(code: Any, one: Any, chain: Any, held: Any) -> None:
    """Take over the point, and the part of K beta that is of variables at a bound."""
    for i in range(len(one.own)):
        value = one.new[one.own[i]]
        one.beta[i] = one.sign[i] * value if len(one.sign) else value
    for i in range(len(one.new)):
        one.line[i] = one.new[i] if _at_bound(one.new[i], one.low[i], one.high[i]) else 0.0
    call(*code.add, one.K, one.line, chain.bounded, held)


@jit(inner=True)
def multiply(K: Any, programs: Any, own: Any, sign: Any, first: int, stop: int, out: Any) -> None:
    """Set out[p - first] to K beta of each program of a run, in one pass over K; few columns and rows at a time."""
    out[: stop - first] = 0.0
    n, width = len(own), len(K)
    for left in range(0, width, TILE_COLUMNS):
        right = min(width, left + TILE_COLUMNS)
        for i in range(0, n, TILE_ROWS):
            i1, i2, i3 = min(i + 1, n - 1), min(i + 2, n - 1), min(i + 3, n - 1)
            k0, k1 = K[own[i], left:right], K[own[i1], left:right]
            k2, k3 = K[own[i2], left:right], K[own[i3], left:right]
            for p in range(first, stop):
                beta = programs.beta[programs.first[p] : programs.first[p + 1]]
                w0, w1, w2, w3 = beta[i], beta[i1], beta[i2], beta[i3]
                if w0 == 0.0 and w1 == 0.0 and w2 == 0.0 and w3 == 0.0:
                    continue
                if len(sign):
                    w0, w1, w2, w3 = sign[i] * w0, sign[i1] * w1, sign[i2] * w2, sign[i3] * w3
                w1, w2 = w1 if i + 1 < n else 0.0, w2 if i + 2 < n else 0.0
                w3 = w3 if i + 3 < n else 0.0
                line = out[p - first, left:right]
                for t in range(right - left):
                    line[t] += four(w0, k0[t], w1, k1[t], w2, k2[t], w3, k3[t])
