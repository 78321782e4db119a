"""The compiled loop over the programs of a batch, see ``solve``: propose, prove, tighten, as in ``solvers.loop``.

The programs come in runs that share one matrix. A program alone is a run of its own; ``pairs`` or ``singles`` take its
steps, and its matrix may be float32. In a chain, a program may start from one before it, see ``chain``.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...certificates import relative
from ...certificates.bias import average
from ...certificates.certify import DOUBT, DUAL, GAP, RESOLUTION, VIOLATION, weigh
from ...certificates.gap import CARE, minimise
from ...compiled.cache.jit import jit
from ...compiled.cache.pointer import NOWHERE, Address, At, address, borrowed, call, count, hidden, number_of
from ...compiled.panels import Operand
from ...compiled.precision import UNIT
from ...compiled.sums import add_rows
from ...gram.shared import GivenShared, maker
from ...problems.dual import NO_ROW, NO_SIGN
from ...problems.unit import power_of_two
from ..dense import BLOCK_STEPS, COARSE, INNER, pairs, singles
from ..loop import in_reach, rounding_error, tolerance_for_gap
from ..results import NEGATIVE_CURVATURE, STOP
from ..start import balance
from .chain import Chain, add_changes, apart, follow, keep, multiply, rounds, updated
from .layout import Programs

_within = jit(inner=True)
_rounding_error, _tolerance_for_gap, _in_reach = _within(rounding_error), _within(tolerance_for_gap), _within(in_reach)
_relative, _power = _within(relative), _within(power_of_two)
FRESH_TRIES = 3  # Times that a program of a chain is solved again from a gradient that was made anew.


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
    """One of ``Programs``: its matrix, its numbers and results, and room for numbers at their places in the matrix."""

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


class Scratch(NamedTuple):
    """Room for one program at a time, and K beta of each program of a run."""

    rows: Any
    slope: Any
    mu: Any
    products: Any

    @classmethod
    def of(cls, K: NDArray[Any], equalities: int, run: int) -> Scratch:
        """Return room for programs whose matrices are parts of K, at most ``run`` in a run."""
        return cls(np.empty((5, len(K))), np.empty(len(K), K.dtype), np.empty(equalities), np.empty((run, len(K))))


class Addresses(NamedTuple):
    """Addresses of the code that makes a matrix, takes steps, finds multipliers and a bias, and measures a proof.

    shared : the number of the type of what ``matrix`` takes, see ``hidden``
    loop, refine, ascend : the code below
    """

    matrix: Address
    shared: int
    update: Address
    least: Address
    proof: Address
    bias: Address
    loop: Address
    refine: Address
    ascend: Address
    apart: Address
    follow: Address
    multiply: Address
    add: Address


def addresses(kind: type[Operand | GivenShared], dtype: Any, equality: bool, chained: bool) -> Addresses:
    """Return all addresses, for what the segments share, a precision, and programs with an equality, or in chains."""
    return Addresses(*parts(kind, dtype, equality), *_loop(dtype, chained))


@functools.cache
def parts(kind: type[Operand | GivenShared], dtype: Any, equality: bool) -> tuple[Any, ...]:
    """Return the first arguments of ``loop``: code that is compiled once, not again into the loop."""
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
    made = address(matrix, At(shared, hidden=True), whole, whole, 0, K, stack, whole)
    return made, number_of(shared), update, least, proof, bias


@functools.cache
def _loop(dtype: Any, chained: bool) -> tuple[Address, ...]:
    """Return the addresses of the loop and its parts, the last four for chains."""
    K, v, ids, thin = np.empty((0, 0), dtype), np.empty(0), np.empty(0, np.int64), np.empty((0, 0))
    programs, code = At(Programs.empty()), At(Addresses(NOWHERE, 0, *[NOWHERE] * 11))
    room, goals = Scratch.of(K, 0, 0), At(Goals(0.0, 0.0, 0.0, 0.0, 0, 0.0, 0.0))
    one = At(One(K, ids, ids, v, v, v, ids, v, v, v, v, v, ids, v, v, v, v, v, room.slope, v))
    chain = At(Chain.empty()) if chained else None
    ascend = address(_ascend, code, one, chain, v, goals, 0.0, 0)
    refine = address(_refine, code, one, programs, chain, v, goals, 0)
    loop = address(_solve, code, At(), programs, goals, K, np.empty(0, dtype), At(room), chain)
    if not chained:
        return loop, refine, ascend, *[NOWHERE] * 4
    return (
        loop, refine, ascend, address(apart, code, chain, one, v, 0, goals, 0.0, 0, v),
        address(follow, one, programs, chain, thin, 0, 0), address(multiply, K, programs, ids, v, 0, 0, thin),
        address(add_changes, K, v, v, v),
    )  # fmt: skip


@jit
def solve(code: Any, shared: Any, programs: Any, goals: Any, K: Any, stack: Any, room: Any, chain: Any) -> None:
    """Solve each program, and prove the solutions of a run together; ``chain`` is None for programs that are alone."""
    place = hidden(borrowed(shared), code.shared)
    rest = borrowed(programs), borrowed(goals), K, stack, borrowed(room), borrowed(chain)
    call(*code.loop, borrowed(code), place, *rest)


@jit(inner=True)
def _solve(code: Any, shared: Any, programs: Any, goals: Any, K: Any, stack: Any, room: Any, chain: Any) -> None:
    laid, n, products, kept, made, p = programs.laid, len(programs.steps), room.products, -1, np.full(3, -1), 0
    while p < n:
        stop, width = p + 1 if chain is None else _run_end(programs, p), laid.widths[p]
        ids = slice(programs.first[p], programs.first[p + 1])
        own, sign = laid.places[ids], programs.sign[ids]
        if len(laid.groups) and (stop > p + 1 or programs.flags[p, STOP] == 0):
            some = slice(laid.first_group[p], laid.first_group[p + 1])
            groups, where = laid.groups[some], laid.where[some]
            call(*code.matrix, shared, groups, where, kept, K, stack, made)
            kept = -1 if goals.lambda2 or len(sign) or where[0] else groups[0]
            frame(K[:width], own, laid.starts[p], laid.stops[p], goals.lambda2, sign)
        for k in range(p, stop):
            if programs.flags[k, STOP] == 0:
                one, product = borrowed(_placed(programs, k, K, room)), products[k - p, :width]
                programs.limits[k] = min(BLOCK_STEPS * len(own), goals.most)
                if chain is not None:
                    call(*code.follow, one, programs, chain, products, k, p)
                for r in range(len(one.mu)):
                    some = slice(one.starts[r], one.starts[r + 1])
                    balance(one.new[some], one.low[some], one.high[some], one.totals[r])
                if chain is None:
                    _anew(code, one, chain, product)
                else:
                    call(*code.add, one.K, one.new, one.line, product)
                limit = programs.limits[k]
                programs.steps[k] = count(*code.ascend, code, one, chain, product, goals, goals.tol, limit)
                if chain is None:
                    _anew(code, one, chain, product)
                    call(*code.refine, code, one, programs, chain, product, goals, k)
                else:
                    keep(code, one, chain, chain.held[k - p, :width])
        if chain is not None:
            call(*code.multiply, K[:width], programs, own, sign, p, stop, products)
            for k in range(p, stop):
                if programs.limits[k]:
                    one = borrowed(_placed(programs, k, K, room))
                    call(*code.refine, code, one, programs, chain, products[k - p, :width], goals, k)
        p = stop


@jit(inner=True)
def _run_end(programs: Any, p: int) -> int:
    """Return the first program after p that has another matrix."""
    laid, first, n = programs.laid, programs.first, len(programs.steps)
    if not len(laid.groups):
        return n
    some, ids = slice(laid.first_group[p], laid.first_group[p + 1]), slice(first[p], first[p + 1])
    for k in range(p + 1, n):
        same = slice(laid.first_group[k], laid.first_group[k + 1])
        if not (
            laid.widths[k] == laid.widths[p]
            and _equal(laid.groups[same], laid.groups[some])
            and _equal(laid.where[same], laid.where[some])
            and _equal(programs.sign[first[k] : first[k + 1]], programs.sign[ids])
        ):
            return k
    return n


@jit(inner=True)
def _equal(a: Any, b: Any) -> bool:
    if len(a) != len(b):
        return False
    for i in range(len(a)):  # noqa: SIM110 (no generators in compiled code)
        if a[i] != b[i]:
            return False
    return True


@jit(inner=True)
def _placed(programs: Any, p: int, K: Any, room: Any) -> Any:
    """Return a program; its point and its bounds are at their places. With the sign -1 a variable is its opposite."""
    laid, a, b = programs.laid, programs.first[p], programs.first[p + 1]
    width, rows = laid.widths[p], room.rows
    one = One(
        K[:width], laid.places[a:b], laid.starts[p], programs.t[a:b], programs.lower[a:b], programs.upper[a:b],
        programs.row[a:b], programs.sign[a:b], programs.totals[p], programs.beta[a:b], programs.g[a:b],
        programs.measures[p], programs.flags[p], room.mu, rows[0, : b - a], rows[1, :width], rows[2, :width],
        rows[3, :width], room.slope[:width], rows[4, :width],
    )  # fmt: skip
    for i in range(width):
        one.slope[i] = one.new[i] = one.low[i] = one.high[i] = 0.0
    for i in range(len(one.own)):
        at, value, low, high = one.own[i], one.beta[i], one.lower[i], one.upper[i]
        if len(one.sign) and one.sign[i] < 0.0:
            value, low, high = -value, -high, -low
        one.new[at], one.low[at], one.high[at] = min(max(value, low), high), low, high
    return one


@jit(inner=True)
def _refine(code: Any, one: Any, programs: Any, chain: Any, product: Any, goals: Any, p: int) -> None:
    """Find the bias and prove the solution at K beta; go on from there as long as the proof falls short.

    A margin below 1 becomes the unit, and the solution is looked for again. Float32 values prove nothing.
    """
    bounds, largest, signed = (one.lower, one.upper, goals.epsilon), goals.magnitude + goals.lambda2, len(one.sign) > 0
    aim, tries = goals.tol, 0 if chain is None else FRESH_TRIES
    while True:
        used = 0
        for i in range(len(one.own)):
            value = product[one.own[i]]
            one.g[i] = (one.sign[i] * value if signed else value) - one.t[i]
            used += one.beta[i] != 0.0
        call(*code.bias, one.beta, one.g, *bounds, one.row, one.sign, one.mu)
        of_beta = len(one.mu) == 0 or signed
        programs.biases[p] = goals.lambda2 * total(one.beta) if of_beta else total(one.mu) / len(one.mu)
        margin = margin_of(one.mu, signed)
        programs.half_widths[p] = -margin
        more = programs.steps[p] < programs.limits[p] and one.flag[STOP] == 0 and one.flag[NEGATIVE_CURVATURE] == 0
        if more and programs.margins[p] < margin < 1.0:
            enlarge(one, product, programs, p, _power(margin))
            programs.limits[p], aim = min(programs.steps[p] + BLOCK_STEPS * len(one.own), goals.most), goals.tol
        elif one.K.itemsize < 8 and goals.gap_tol == np.inf:
            return
        else:
            call(*code.least, one.beta, one.g, *bounds, one.row, one.sign, one.mu)
            bound(one.beta, CARE * (goals.rounding + UNIT * (used + 8.0) * largest), one.errors)
            point = one.beta, one.g, one.errors, one.t
            call(*code.proof, *point, *bounds, one.row, one.sign, one.totals, one.mu, one.found)
            if more and tries and one.found[VIOLATION] - one.found[RESOLUTION] > aim:
                tries -= 1
            else:
                aim = next_tolerance(one, aim, goals.gap_tol, largest) if more else 0.0
                if not aim:
                    return
        rest = programs.limits[p] - programs.steps[p]
        steps = count(*code.ascend, code, one, chain, product, goals, aim, rest)
        programs.steps[p] += steps
        tries = tries if steps else 0
        _anew(code, one, chain, product)


@jit(inner=True)
def _ascend(code: Any, one: Any, chain: Any, product: Any, goals: Any, aim: float, most: int) -> int:
    """Take steps from a point whose K beta is known; return their number."""
    if chain is not None:
        return rounds(code, chain, one, product, goals, INNER * aim, most)
    for i in range(len(one.own)):
        at, target = one.own[i], one.sign[i] * one.t[i] if len(one.sign) else one.t[i]
        one.slope[at] = product[at] - target
    bounds, numbers = (one.low, one.high, one.starts), (goals.epsilon, INNER * aim, most)
    return updated(code, one.K, one.new, one.slope, *bounds, one.flag, *numbers, len(one.totals) > 0)


@jit(inner=True)
def _anew(code: Any, one: Any, chain: Any, product: Any) -> None:
    """Take over the point, and make K beta anew."""
    for i in range(len(one.own)):
        value = one.new[one.own[i]]
        one.errors[i], one.beta[i] = value, one.sign[i] * value if len(one.sign) else value
    product[:] = 0.0
    if chain is None:
        add_rows(one.K, one.own, one.errors, product)
    else:
        one.line[:] = 0.0
        call(*code.add, one.K, one.new, one.line, product)


@jit(inner=True)
def margin_of(mu: Any, signed: bool) -> float:
    """Return half of the margin of a classifier with nu, from its multipliers; else 0."""
    if len(mu) == 2:
        return 0.5 * (mu[1] - mu[0])
    return -mu[0] if signed else 0.0


@jit(inner=True)
def enlarge(one: Any, product: Any, programs: Any, p: int, unit: float) -> None:
    """Divide the numbers of a program, which has no targets, by a power of two."""
    programs.units[p] *= unit
    programs.margins[p] /= unit
    for values in (one.lower, one.upper, one.totals, one.beta, one.g, one.new, one.low, one.high, product):
        for i in range(len(values)):
            values[i] /= unit


@jit(inner=True)
def total(values: Any) -> float:
    """Return the sum of some numbers."""
    out = 0.0
    for value in values:
        out += value
    return out


@jit(inner=True)
def bound(beta: Any, rate: float, errors: Any) -> None:
    """Set all errors to rate |beta|_1."""
    size = 0.0
    for i in range(len(beta)):
        size += abs(beta[i])
    for i in range(len(beta)):
        errors[i] = rate * size


@jit(inner=True)
def next_tolerance(one: Any, tol: float, gap_tol: float, largest: float) -> float:
    """Return the tolerance to go on with from what ``weigh`` has found; 0 if that will do, or pairs come no nearer."""
    found, itemsize = one.found, one.K.itemsize
    gap, violation = _relative(found[GAP], found[DUAL], found[DOUBT]), found[VIOLATION] - found[RESOLUTION]
    if gap <= gap_tol or violation > tol:
        return 0.0
    near, square, steepest = _tolerance_for_gap(tol, gap, gap_tol), 0.0, 0.0
    for i in range(len(one.beta)):
        square, steepest = square + one.beta[i] * one.beta[i], max(steepest, abs(one.g[i]))
    least = max(_in_reach(gap) * found[RESOLUTION], _rounding_error(square, largest, itemsize))
    if itemsize == 4:
        least = max(least, COARSE * steepest)
    return near if near >= least else 0.0


@jit(inner=True)
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
