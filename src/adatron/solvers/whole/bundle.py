"""The compiled loop over the programs of a bundle, see ``many``."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...certificates import relative
from ...certificates.certify import CARE, weigh
from ...certificates.gap import minimise
from ...certificates.multipliers import average
from ...compiled.cache.jit import jit
from ...compiled.cache.pointer import Address, address, call, count, lent
from ...compiled.panels import Operand
from ...compiled.precision import UNIT
from ...compiled.submatrix import add_rows
from ...gram.shared import GivenShared, maker
from ...problems.dual import NO_ROW, NO_SIGN, Ids, Vector
from ...problems.unit import power_of_two
from ..dense import COARSE, INNER, STEPS, pairs, singles
from ..start import balance
from ..status import BENT, STOP
from ..tolerance import TYPICAL, blur, closer

_blur, _closer, _relative, power = jit(blur), jit(closer), jit(relative), jit(power_of_two)


class Laid(NamedTuple):
    """The places of the variables of programs in their matrices.

    groups, where, first_group : segments, the place of each in a matrix, and where those of each program begin; no
        segments if all programs have one matrix
    places : of each variable in its program's matrix
    starts, stops : (n, e) where the variables of each equality begin and end in the matrix
    widths : rows of each matrix
    """

    groups: Ids
    where: Ids
    first_group: Ids
    places: Ids
    starts: Ids
    stops: Ids
    widths: Ids


class Programs(NamedTuple):
    """Programs one after the other.

    first : where the variables of each program begin
    t, lower, upper, row, sign : as in ``Dual``; the last two may be empty
    totals : (n, p) sums of each program
    beta, g, steps, biases, half_widths, measures : results
    limits : most updates of each program; whoever has had as many has met that limit
    units, margins : the number by which those of each program were divided, and the half of a margin, in the program's
        own numbers, above which a smaller unit is looked for; infinite if none is
    flags : see ``status``
    """

    laid: Laid
    first: Ids
    t: Vector
    lower: Vector
    upper: Vector
    row: Ids
    sign: Vector
    totals: NDArray[np.float64]
    beta: Vector
    g: Vector
    steps: Ids
    limits: Ids
    biases: Vector
    half_widths: Vector
    units: Vector
    margins: Vector
    measures: NDArray[np.float64]
    flags: NDArray[np.int64]


class Goals(NamedTuple):
    """The goals of all programs, and bounds of a kernel value and of its error."""

    lambda2: float
    epsilon: float
    tol: float
    gap_tol: float
    most: int
    magnitude: float
    rounding: float


class One(NamedTuple):
    """One program: its numbers, what it becomes, and room for those at their places in the matrix."""

    K: Any
    own: Any  # places
    starts: Any
    t: Any
    lower: Any
    upper: Any
    row: Any
    sign: Any
    totals: Any
    beta: Any
    g: Any
    found: Any  # measures
    flag: Any
    mu: Any
    errors: Any
    new: Any
    low: Any
    high: Any
    slope: Any
    line: Any


class Code(NamedTuple):
    """Addresses of the code that makes a matrix, takes steps, finds multipliers and a bias, and measures a proof."""

    matrix: Address
    update: Address
    least: Address
    proof: Address
    bias: Address


@functools.cache
def addresses(kind: type[Operand | GivenShared], dtype: Any, equality: bool) -> Code:
    """Return the addresses of the parts, which are compiled once, not again into the loop below."""
    K, g, stack = np.empty((0, 0), dtype), np.empty(0, dtype), np.empty(0, dtype)
    v, whole, flag = np.empty(0), np.empty(0, np.int64), np.empty(0, np.int64)
    bounds = v, v, 0.0
    if equality:
        update = address(pairs, K, v, g, v, v, whole, 0.0, 0.0, 0, flag)
    else:
        update = address(singles, K, v, g, v, v, 0.0, 0.0, 0, flag)
    least = address(minimise, v, v, *bounds, NO_ROW, NO_SIGN, v)
    bias = address(average, v, v, *bounds, NO_ROW, NO_SIGN, v)
    proof = address(weigh, v, v, v, v, *bounds, NO_ROW, NO_SIGN, v, v, v)
    matrix, shared = maker(kind, dtype)
    return Code(address(matrix, shared, whole, whole, 0, K, stack, whole), update, least, proof, bias)


@jit
def solve(code: Any, shared: Any, programs: Any, goals: Any, K: Any, stack: Any) -> None:
    """Solve each program, nearer as long as its gap is too large, and prove the solution; float32 values prove nothing.

    A margin below 1 becomes the unit, and the solution is looked for again from there.
    """
    shared, programs, K, stack = lent(shared), lent(programs), lent(K), lent(stack)
    laid, kept, made, wide = programs.laid, -1, np.full(3, -1), len(K)
    rooms, slopes, mu = np.empty((5, wide)), np.empty(wide, K.dtype), np.empty(programs.totals.shape[1])
    for p in range(len(programs.steps)):
        a, b, flag, width = programs.first[p], programs.first[p + 1], programs.flags[p], laid.widths[p]
        if flag[STOP] != 0:
            continue
        own, sign, row, starts = laid.places[a:b], programs.sign[a:b], programs.row[a:b], laid.starts[p]
        if len(laid.groups):
            some = slice(laid.first_group[p], laid.first_group[p + 1])
            groups, where = laid.groups[some], laid.where[some]
            call(*code.matrix, shared, groups, where, kept, K, stack, made)
            kept = -1 if goals.lambda2 or len(sign) or where[0] else groups[0]
            frame(K[:width], own, starts, laid.stops[p], goals.lambda2, sign)
        for i in range(width):
            slopes[i] = rooms[1, i] = rooms[2, i] = rooms[3, i] = 0.0
        one = One(
            K[:width], own, starts, programs.t[a:b], programs.lower[a:b], programs.upper[a:b], row, sign,
            programs.totals[p], programs.beta[a:b], programs.g[a:b], programs.measures[p], flag, mu,
            rooms[0, : b - a], rooms[1, :width], rooms[2, :width], rooms[3, :width], slopes[:width], rooms[4, :width],
        )  # fmt: skip
        place(one)
        for r in range(len(mu)):
            part = slice(starts[r], laid.stops[p, r])
            balance(one.new[part], one.low[part], one.high[part], one.totals[r])
        _refine(code, one, programs, goals, p)


@jit
def _refine(code: Any, one: Any, programs: Any, goals: Any, p: int) -> None:
    """Solve one program, in smaller units as long as its margin is below 1; find its bias, and prove the solution."""
    bounds, largest, signed = (one.lower, one.upper, goals.epsilon), goals.magnitude + goals.lambda2, len(one.sign) > 0
    programs.limits[p], aim = min(STEPS * len(one.own), goals.most), goals.tol
    _gradient(one)
    while aim:
        programs.steps[p] += _ascend(code, one, goals, INNER * aim, programs.limits[p] - programs.steps[p])
        used = _gradient(one)
        call(*code.bias, one.beta, one.g, *bounds, one.row, one.sign, one.mu)
        of_beta = len(one.mu) == 0 or signed
        programs.biases[p] = goals.lambda2 * total(one.beta) if of_beta else total(one.mu) / len(one.mu)
        margin = margin_of(one.mu, signed)
        programs.half_widths[p] = -margin
        more = programs.steps[p] < programs.limits[p] and one.flag[STOP] == 0 and one.flag[BENT] == 0
        if more and programs.margins[p] < margin < 1.0:
            enlarge(one, programs, p, power(margin))
            programs.limits[p], aim = min(programs.steps[p] + STEPS * len(one.own), goals.most), goals.tol
            continue
        if one.K.itemsize < 8 and goals.gap_tol == np.inf:
            return
        call(*code.least, one.beta, one.g, *bounds, one.row, one.sign, one.mu)
        bound(one.beta, CARE * (goals.rounding + UNIT * (used + 8.0) * largest), one.errors)
        call(*code.proof, one.beta, one.g, one.errors, one.t, *bounds, one.row, one.sign, one.totals, one.mu, one.found)
        aim = nearer(one.found, aim, goals.gap_tol, one.beta, one.g, largest, one.K.itemsize) if more else 0.0


@jit
def margin_of(mu: Any, signed: bool) -> float:
    """Return half of the margin of a classifier with nu, from its multipliers; else 0."""
    if len(mu) == 2:
        return 0.5 * (mu[1] - mu[0])
    return -mu[0] if signed else 0.0


@jit
def _ascend(code: Any, one: Any, goals: Any, tol: float, most: int) -> int:
    """Take steps; return their number."""
    for i in range(len(one.own)):
        one.slope[one.own[i]] = one.sign[i] * one.g[i] if len(one.sign) else one.g[i]
    K, new, slope, low, high, epsilon = one.K, one.new, one.slope, one.low, one.high, goals.epsilon
    if len(one.totals):
        return count(*code.update, K, new, slope, low, high, one.starts, epsilon, tol, most, one.flag)
    return count(*code.update, K, new, slope, low, high, epsilon, tol, most, one.flag)


@jit
def enlarge(one: Any, programs: Any, p: int, unit: float) -> None:
    """Divide the numbers of a program, which has no targets, by a power of two."""
    programs.units[p] *= unit
    programs.margins[p] /= unit
    for values in (one.lower, one.upper, one.totals, one.beta, one.g, one.new, one.low, one.high):
        for i in range(len(values)):
            values[i] /= unit


@jit
def place(one: Any) -> None:
    """Put the bounds, and a point between them, at their places; with the sign -1 a variable is its opposite."""
    for i in range(len(one.own)):
        at, value, low, high = one.own[i], one.beta[i], one.lower[i], one.upper[i]
        if len(one.sign) and one.sign[i] < 0.0:
            value, low, high = -value, -high, -low
        one.new[at], one.low[at], one.high[at] = min(max(value, low), high), low, high


@jit
def total(values: Any) -> float:
    """Return the sum of some numbers."""
    out = 0.0
    for value in values:
        out += value
    return out


@jit
def _gradient(one: Any) -> int:
    """Take over the point, and set g to K beta - t; return how many coefficients are not zero."""
    used, packed, n = 0, one.errors, len(one.own)
    one.line[:] = 0.0
    for i in range(n):
        packed[i] = one.new[one.own[i]]
        one.beta[i] = one.sign[i] * packed[i] if len(one.sign) else packed[i]
        used += packed[i] != 0.0
    add_rows(one.K, one.own, packed, one.line)
    for i in range(n):
        product = one.line[one.own[i]]
        one.g[i] = (one.sign[i] * product if len(one.sign) else product) - one.t[i]
    return used


@jit
def bound(beta: Any, rate: float, errors: Any) -> None:
    """errors <- rate |beta|_1."""
    size = 0.0
    for i in range(len(beta)):
        size += abs(beta[i])
    for i in range(len(beta)):
        errors[i] = rate * size


@jit
def nearer(found: Any, tol: float, gap_tol: float, beta: Any, g: Any, largest: float, itemsize: int) -> float:
    """Return the tolerance to go on with from what ``weigh`` has found; 0 if that will do, or pairs come no nearer."""
    gap, violation = _relative(found[4], found[0], found[6], found[1]), found[5] - found[3]
    if gap <= gap_tol or violation > tol:
        return 0.0
    near, square, steepest = _closer(tol, gap, gap_tol), 0.0, 0.0
    for i in range(len(beta)):
        square, steepest = square + beta[i] * beta[i], max(steepest, abs(g[i]))
    least = max(TYPICAL * found[3], _blur(square, largest, itemsize))
    if itemsize == 4:
        least = max(least, COARSE * steepest)
    return near if near >= least else 0.0


@jit
def frame(K: Any, own: Any, starts: Any, stops: Any, lambda2: float, sign: Any) -> None:
    """Add lambda^2, turn signs, and make the rows and columns of no variable 0, as far as they are looked at."""
    for i in range(len(own)):
        line = K[own[i]]
        if lambda2 != 0.0 or len(sign):
            for j in range(len(own)):
                value = line[own[j]] + lambda2
                line[own[j]] = sign[i] * sign[j] * value if len(sign) else value
        for r in range(len(stops)):
            line[stops[r] : starts[r + 1]] = 0.0
    for r in range(len(stops)):
        for i in range(stops[r], starts[r + 1]):
            K[i, i] = 0.0
