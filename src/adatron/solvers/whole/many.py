"""Many programs of one block each in one go: bundles of them are solved by compiled code alone.

Problem   programs over a few segments each, of up to ``WHOLE`` variables, with one equality or none and finite bounds,
          without lambda^2 if the tiles are float32: one for each pair of classes. There are thousands of hundred
          classes; what Python does for one takes longer than its solution.
Update    as ``whole.one``: ``pairs`` or ``singles`` over all variables.
Stop      as ``whole.one``, with float64 tiles. If a gap is asked for, the tolerance falls as long as the gap is too
          large. ``whole.one`` or the block solver go on with the programs that do not get there, and with all that
          float32 tiles have found: these two have an active set and a proof for float32.
"""

from __future__ import annotations

import functools
from dataclasses import replace
from itertools import pairwise
from time import monotonic
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...certificates import conclude, relative
from ...certificates.certify import CARE, MEASURES, conclude_all, weigh
from ...certificates.gap import minimise
from ...certificates.multipliers import average
from ...compiled.cache.jit import jit
from ...compiled.cache.pointer import Address, address, call, count, lent
from ...compiled.panels import Operand
from ...compiled.precision import UNIT
from ...compiled.search import CHUNK
from ...compiled.submatrix import add_rows
from ...gram.shared import GivenShared, maker
from ...problems import Dual
from ...problems.dual import NO_ROW, NO_SIGN, Ids, Vector
from ..base import Options, Way
from ..dense import COARSE, INNER, STEPS, pairs, singles
from ..found import STATUSES, UNSOLVED, Found
from ..start import feasible
from ..status import BENT, STOP, Status
from ..tasks import State, Tasks
from ..tolerance import TYPICAL, blur, closer

_blur, _closer, _relative = jit(blur), jit(closer), jit(relative)
SMALLEST_BUNDLE, LARGEST_BUNDLE = 3e7, 3e8  # multiply-adds of a bundle, at least (a millisecond) and most
MOST_BUNDLES = 64  # parts of all work that bundles are, in between
BESIDE_MATRIX = 1e5  # multiply-adds that a program takes beside its matrix
NOTHING = np.empty(0, np.int64)


class _Programs(NamedTuple):
    """Programs one after the other: their segments, parts, results and flags, and where each begins in them."""

    groups: Ids
    first_group: Ids
    first: Ids
    t: Vector
    lower: Vector
    upper: Vector
    beta: Vector
    g: Vector
    steps: Ids
    biases: Vector
    measures: NDArray[np.float64]
    flags: NDArray[np.int64]


def bundles(tasks: Tasks, ways: NDArray[np.int8]) -> list[range]:
    """Return the numbers of the open tasks in their order; those that are solved together are one range."""
    gram, bundled = tasks.gram, ways == Way.BUNDLE
    if not bundled.any():
        return [range(number, number + 1) for number in np.flatnonzero(ways != Way.CLOSED).tolist()]
    kinds = _kinds(tasks, ways)
    cost = 1.0 if gram.in_one else gram.kernel.cost(gram.source.features)
    works = np.cumsum([0.0, *(tasks.sizes.astype(np.float64) ** 2 * cost + BESIDE_MATRIX)])
    most = max(SMALLEST_BUNDLE, min(LARGEST_BUNDLE, works[-1] / MOST_BUNDLES))
    cuts = np.concatenate([[0], 1 + np.flatnonzero(np.diff(kinds)), [len(tasks)]])
    out: list[range] = []
    for start, last in pairwise(cuts.tolist()):
        first = start
        while first < last and ways[first] != Way.CLOSED:
            end = int(np.searchsorted(works, works[first] + most, side="right")) - 1 if bundled[first] else 0
            out.append(range(first, min(last, max(end, first + 1))))
            first = out[-1].stop
    if gram.in_one:  # made by all threads, before each of them has a bundle
        gram.framed(tasks.dual(int(np.argmax(bundled))).lambda2)
    else:
        gram.parts  # noqa: B018
    return out


def _kinds(tasks: Tasks, ways: NDArray[np.int8]) -> Ids:
    """Return numbers of kinds: programs that are alike have equal ones, those for no bundle negative ones."""
    kinds = -1 - ways.astype(np.int64)
    if tasks.joined is not None:
        kinds[ways == Way.BUNDLE] = 0
        return kinds
    known: dict[Any, int] = {}
    for number in np.flatnonzero(ways == Way.BUNDLE).tolist():
        dual = tasks.dual(number)
        kinds[number] = known.setdefault((dual.totals, dual.lambda2, dual.epsilon), len(known))
    return kinds


def together(
    tasks: Tasks, some: range, options: Options, flags: NDArray[np.int64], found: Found
) -> dict[int, State | None]:
    """Put the certified solutions of a bundle into ``found``; where to go on with the others.

    Float32 tiles certify nothing.
    """
    gram, begun = tasks.gram, monotonic()
    if flags[:, STOP].any() or begun >= options.deadline:
        return {number: tasks.start(number) for number in some}
    dual, programs = _programs(tasks, some, flags)
    width = -(-int(tasks.sizes[some.start : some.stop].max()) // CHUNK) * CHUNK
    values = gram.magnitude, gram.rounding
    goals = options.tol, options.widest_gap, options.max_iter
    numbers = np.array(dual.totals), dual.lambda2, dual.epsilon, *goals
    if gram.in_one:
        shared, programs = GivenShared.empty(), programs._replace(groups=NOTHING)
    else:
        shared = gram.parts
    code, stack = addresses(shared.kind, gram.dtype, bool(dual.totals)), gram.workspace.stack
    room = None if gram.in_one else gram.workspace.lease(width)
    K = gram.framed(dual.lambda2) if room is None else room.K
    try:
        with gram.pool.aside():
            _solve(code, shared, programs, *numbers, *values, np.arange(len(K)), K, stack)
    finally:
        if room is not None:
            gram.workspace.give_back(room)
    return _sorted_out(tasks, some, options, programs, (monotonic() - begun) / len(some), found)


def _programs(tasks: Tasks, some: range, flags: NDArray[np.int64]) -> tuple[Dual, _Programs]:
    """Return the programs of a bundle as one, and in arrays."""
    if tasks.joined is None:
        duals = [tasks.dual(number) for number in some]
        parts = (np.concatenate([getattr(dual, name) for dual in duals]) for name in ("t", "lower", "upper"))
        dual = replace(duals[0], **dict(zip(("t", "lower", "upper"), parts, strict=True)))
    else:
        dual = tasks.joined(some)
    first = np.concatenate([[0], np.cumsum(tasks.sizes[some.start : some.stop])])
    beta = np.zeros(len(dual))
    if tasks.state is not None or any(dual.totals) or not _around_0(dual):
        for number, a, b in zip(some, first, first[1:], strict=False):
            start = tasks.start(number)
            own = dual.take(slice(a, b))
            beta[a:b] = feasible(own, np.zeros(b - a) if start is None else start.beta)
    first_group = tasks.first[some.start : some.stop + 1]
    groups = tasks.groups[first_group[0] : first_group[-1]]
    n = len(some)
    made = beta, np.empty(len(beta)), np.zeros(n, np.int64), np.zeros(n), np.zeros((n, MEASURES))
    return dual, _Programs(groups, first_group - first_group[0], first, dual.t, dual.lower, dual.upper, *made, flags)


def _around_0(dual: Dual) -> bool:
    """Return whether all variables may be 0."""
    return bool(dual.lower.max(initial=0.0) <= 0.0 <= dual.upper.min(initial=0.0))


def _sorted_out(
    tasks: Tasks, some: range, options: Options, programs: _Programs, seconds: float, found: Found
) -> dict[int, State | None]:
    """Put what is proven into ``found``; where the others are."""
    n_iter, own, first = programs.steps, slice(some.start, some.stop), programs.first.tolist()
    stopped, proven = programs.flags[:, STOP] != 0, tasks.gram.dtype == np.float64
    found.keep_all(own, _proofs(tasks, some, programs), programs.biases)
    found.n_iter[own], found.seconds[own] = n_iter, seconds
    found.beta[found.first[some.start] : found.first[some.stop]] = programs.beta
    status = np.where(found.convex[own], STATUSES.index(Status.CONVERGED), STATUSES.index(Status.NOT_CONVEX))
    good = (found.violation[own] <= options.tol) & (
        n_iter != np.minimum(STEPS * np.diff(programs.first), options.max_iter)
    )
    good &= ~found.convex[own] | (found.relative_gaps_of(own) <= options.widest_gap)
    if monotonic() >= options.deadline:  # what is proven will do
        status[~good], good[:] = STATUSES.index(Status.MAX_TIME), True
    good &= ~stopped & proven
    found.status[own] = np.where(good, status, UNSOLVED)
    left: dict[int, State | None] = {}
    for k in np.flatnonzero(~good).tolist():
        parts = programs.beta[first[k] : first[k + 1]], programs.g[first[k] : first[k + 1]], int(n_iter[k]), seconds
        left[some[k]] = tasks.start(some[k]) if stopped[k] else State(*parts)
    return left


def _proofs(tasks: Tasks, some: range, programs: _Programs) -> NDArray[np.float64]:
    """Return the numbers of the certificates, see ``conclude_all``."""
    out = conclude_all(programs.measures)
    if not tasks.gram.kernel.convex and tasks.gram.dtype == np.float64:
        ends, flags = programs.first.tolist(), programs.flags.tolist()
        for k, (number, measures) in enumerate(zip(some, programs.measures.tolist(), strict=True)):
            if not flags[k][STOP]:
                beta = programs.beta[ends[k] : ends[k + 1]]
                out[-1, k] = conclude(tasks.view(number), beta, measures, not flags[k][BENT]).convex
    return out


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
    return Code(address(matrix, shared, whole, 0, K, stack, whole), update, least, proof, bias)


@jit
def _solve(
    code: Any, shared: Any, programs: Any, totals: Any, lambda2: float, epsilon: float, tol: float, gap_tol: float,
    most: int, magnitude: float, rounding: float, places: Any, K: Any, stack: Any,
) -> None:  # fmt: skip
    """Solve each program, nearer as long as its gap is too large, and prove the solution; float32 values prove nothing.

    ``magnitude``, ``rounding``: bounds of a kernel value and of its error; ``places``: 0, 1, 2, ...
    """
    shared, programs, places, K, stack = lent(shared), lent(programs), lent(places), lent(K), lent(stack)
    row, sign, mu, ends = np.empty(0, np.int64), np.empty(0), np.empty(len(totals)), np.empty(2, np.int64)
    kept, most_wide, made = -1, len(places), np.full(3, -1)
    wide, slopes, blurs = np.empty(3 * most_wide), np.empty(most_wide, K.dtype), np.empty(most_wide)
    for p in range(len(programs.steps)):
        a, b, flag = programs.first[p], programs.first[p + 1], programs.flags[p]
        if flag[STOP] != 0:
            continue
        n = b - a
        width = len(K) if len(programs.groups) == 0 else -(-n // CHUNK) * CHUNK
        t, beta, g = programs.t[a:b], programs.beta[a:b], programs.g[a:b]
        new, low, high, slope = wide[:width], wide[width : 2 * width], wide[2 * width : 3 * width], slopes[:width]
        wide[: 3 * width], slope[:] = 0.0, 0.0
        if len(programs.groups):
            groups = programs.groups[programs.first_group[p] : programs.first_group[p + 1]]
            call(*code.matrix, shared, groups, kept, K, stack, made)
            kept = -1 if lambda2 else groups[0]
            _frame(K[:width], n, lambda2)
        errors = blurs[:n]
        new[:n], low[:n], high[:n] = beta, programs.lower[a:b], programs.upper[a:b]
        bounds = low[:n], high[:n], epsilon
        ends[0], ends[1], limit, aim = 0, width, min(STEPS * n, most), tol
        _gradient(K, places[:n], beta, t, g)
        while aim:
            slope[:n], left = g, limit - programs.steps[p]
            if len(totals):
                steps = count(*code.update, K[:width], new, slope, low, high, ends, epsilon, INNER * aim, left, flag)
            else:
                steps = count(*code.update, K[:width], new, slope, low, high, epsilon, INNER * aim, left, flag)
            programs.steps[p] += steps
            beta[:] = new[:n]
            used = _gradient(K, places[:n], beta, t, g)
            if K.itemsize < 8 and gap_tol == np.inf:
                break
            call(*code.least, beta, g, *bounds, row, sign, mu)
            found, rate = programs.measures[p], rounding + UNIT * (used + 8.0) * (magnitude + lambda2)
            _bound(beta, CARE * rate, errors)
            call(*code.proof, beta, g, errors, t, *bounds, row, sign, totals, mu, found)
            more = programs.steps[p] < limit and flag[STOP] == 0 and flag[BENT] == 0
            aim = _nearer(found, aim, gap_tol, beta, g, magnitude + lambda2, K.itemsize) if more else 0.0
        call(*code.bias, beta, g, *bounds, row, sign, mu)
        programs.biases[p] = mu[0] if len(mu) else lambda2 * _total(beta)


@jit
def _total(values: Any) -> float:
    out = 0.0
    for value in values:
        out += value
    return out


@jit
def _gradient(K: Any, places: Any, beta: Any, t: Any, g: Any) -> int:
    """Set g to K beta - t; return how many coefficients are not zero."""
    used = 0
    for i in range(len(beta)):
        g[i] = 0.0
        used += beta[i] != 0.0
    add_rows(K, places, beta, g)
    for i in range(len(beta)):
        g[i] -= t[i]
    return used


@jit
def _bound(beta: Any, rate: float, errors: Any) -> None:
    """Set errors to rate |beta|_1."""
    size = 0.0
    for i in range(len(beta)):
        size += abs(beta[i])
    for i in range(len(beta)):
        errors[i] = rate * size


@jit
def _nearer(found: Any, tol: float, gap_tol: float, beta: Any, g: Any, largest: float, itemsize: int) -> float:
    """Return the tolerance to go on with after ``weigh``; 0 if the proof will do, or pairs come no nearer."""
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
def _frame(K: Any, n: int, lambda2: float) -> None:
    """Add lambda^2 to the first n rows and columns, and make those around them 0, as far as they are looked at."""
    width = len(K)
    for i in range(n):
        line = K[i]
        if lambda2 != 0.0:
            for j in range(n):
                line[j] += lambda2
        for j in range(n, width):
            line[j] = 0.0
    for i in range(n, width):
        K[i, i] = 0.0
