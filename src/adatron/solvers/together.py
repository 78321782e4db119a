"""Many programs of one block each in one go: bundles of them are solved by compiled code alone.

Problem   programs over a few segments each, of up to ``WHOLE`` variables, with one equality or none and finite bounds,
          without lambda^2 if the tiles are float32: one for each pair of classes. There are thousands of hundred
          classes; what Python does for one takes longer than its solution.
Update    as ``small``: ``pairs`` or ``singles`` over all variables.
Stop      as ``small``, with float64 tiles; where a gap is asked for, by a smaller tolerance as long as it is too large.
          What does not get there, and all that float32 tiles have found, is where ``small`` or the block solver goes
          on, which have an active set and a proof for float32.
"""

from __future__ import annotations

import functools
from itertools import pairwise
from time import monotonic
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..certificates import conclude, relative
from ..certificates.certify import CARE, MEASURES, weigh
from ..certificates.gap import minimise
from ..compiled._jit import jit
from ..compiled.panels import Operand
from ..compiled.pointer import address, call, count
from ..compiled.search import CHUNK
from ..compiled.submatrix import add_rows
from ..gram.shared import GivenShared, maker
from ..problems import Dual
from ..problems.dual import NO_ROW, NO_SIGN, UNIT
from .base import TYPICAL, Options, Solution, State, Task, ended, trace_of
from .start import feasible
from .subproblem import COARSE, INNER, STEPS, pairs, singles
from .tolerance import blur, closer

_blur, _closer, _relative = jit(blur), jit(closer), jit(relative)
BUNDLE, MOST, PARTS = 3e7, 3e8, 64  # multiply-adds of a bundle, at least (a millisecond) and most; part of all work
AMONG = 1e5  # the same that a program takes beside its matrix


class _Programs(NamedTuple):
    """Programs one after the other: their segments, parts, results and flags, and where each begins in them."""

    groups: NDArray[np.int64]
    first_group: NDArray[np.int64]
    first: NDArray[np.int64]
    t: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    beta: NDArray[np.float64]
    g: NDArray[np.float64]
    steps: NDArray[np.int64]
    measures: NDArray[np.float64]
    flags: NDArray[np.int64]


def bundles(tasks: list[Task], options: Options) -> list[list[Task]]:
    """The tasks in their order, those that are solved together in one list."""
    out: list[list[Task]] = []
    room, gram = 0.0, tasks[0].view.gram
    cost = gram.kernel.cost(gram.source.features)
    works = [len(task.dual) ** 2 * cost + AMONG for task in tasks]
    most = max(BUNDLE, min(MOST, sum(works) / PARTS))
    for task, work in zip(tasks, works, strict=True):
        fits = _fits(task, options)
        if not (fits and room >= work and _alike(out[-1][0].dual, task.dual)):
            out.append([])
            room = most if fits else 0.0
        out[-1].append(task)
        room -= work
    if any(_fits(some[0], options) for some in out):
        gram.parts  # noqa: B018 (made by all threads, before each of them has a bundle)
    return out


def _fits(task: Task, options: Options) -> bool:
    gram = task.view.gram
    return gram.shared and suits(task.dual, gram.dtype) and 0 < len(task.dual) <= options.whole


def suits(dual: Dual, dtype: Any) -> bool:
    """Whether a program is of the kind that is solved in bundles, by tiles of this precision."""
    exact = dtype == np.float64 or not dual.lambda2  # added to float32 values it would be rounded
    return exact and dual.row is None and dual.sign is None and not dual.unbounded


def _alike(one: Dual, other: Dual) -> bool:
    return (one.totals, one.lambda2, one.epsilon) == (other.totals, other.lambda2, other.epsilon)


def together(tasks: list[Task], options: Options, flags: NDArray[np.int64]) -> list[Solution | State | None]:
    """The certified solutions of a bundle, or where to go on: with float32 tiles always."""
    gram, dual, begun = tasks[0].view.gram, tasks[0].dual, monotonic()
    if not _fits(tasks[0], options) or flags[:, 0].any() or begun >= options.deadline:
        return [task.state for task in tasks]
    programs, magnitude = _programs(tasks, flags), tasks[0].view.magnitude
    values = magnitude, gram.rounding
    width = -(-max(len(task.dual) for task in tasks) // CHUNK) * CHUNK
    goals = options.tol, options.widest_gap, options.max_iter
    numbers = np.array(dual.totals), dual.lambda2, dual.epsilon, *goals
    space = gram.workspace.room(width, gram), gram.workspace.stack
    shared, places = gram.parts, np.arange(width)
    code = addresses(shared.kind, gram.dtype, bool(dual.totals))
    with gram.pool.aside():
        _solve(code, shared, programs, *numbers, *values, places, *space)
    parts = zip(pairwise(programs.first.tolist()), programs.steps.tolist(), strict=True)
    seconds = (monotonic() - begun) / len(tasks)
    states = [State(programs.beta[a:b], programs.g[a:b], n_iter, seconds) for (a, b), n_iter in parts]
    out: list[Solution | State | None] = []
    for task, state, flag, measures in zip(tasks, states, flags.tolist(), programs.measures.tolist(), strict=True):
        if flag[0]:  # before or while it was solved
            out.append(task.state)
        else:
            proven = gram.dtype == np.float64
            out.append(_solution(task, options, state, measures, not flag[1]) if proven else state)
    return out


def _programs(tasks: list[Task], flags: NDArray[np.int64]) -> _Programs:
    duals, groups = [task.dual for task in tasks], [task.view.groups for task in tasks]
    t, lower, upper = (np.concatenate([getattr(dual, name) for dual in duals]) for name in ("t", "lower", "upper"))
    beta = np.zeros(len(t))
    if lower.max() > 0.0 or upper.min() < 0.0 or any(duals[0].totals) or any(task.state for task in tasks):
        starts = [np.zeros(len(task.dual)) if task.state is None else task.state.beta for task in tasks]
        beta = np.concatenate([feasible(dual, start) for dual, start in zip(duals, starts, strict=True)])
    found = beta, np.empty(len(t)), np.zeros(len(tasks), np.int64), np.empty((len(tasks), MEASURES))
    return _Programs(np.concatenate(groups), _starts(groups), _starts(duals), t, lower, upper, *found, flags)


def _solution(task: Task, options: Options, state: State, measures: list[float], convex: bool) -> Solution | State:
    """The certified solution if the state is one."""
    beta, g, n_iter = state.beta, state.g, state.n_iter
    if g is None or n_iter == min(STEPS * len(beta), options.max_iter):
        return state
    proof = conclude(task.view, beta, measures, convex)
    status = ended(proof, options)
    if status is None:
        return state
    trace = trace_of([(state.seconds, n_iter, proof.kkt_violation, proof.relative_gap, proof.dual)])
    return Solution(beta, g, n_iter, status, proof, trace)


def _starts(parts: list[Any]) -> NDArray[np.int64]:
    return np.cumsum([0, *map(len, parts)])


@functools.cache
def addresses(kind: type[Operand | GivenShared], dtype: Any, equality: bool) -> NDArray[np.int64]:
    """Where the code of the parts is: compiled once, not again into the loop below."""
    K, g, stack = np.empty((0, 0), dtype), np.empty(0, dtype), np.empty(0, dtype)
    v, whole, flag = np.empty(0), np.empty(0, np.int64), np.empty(0, np.int64)
    bounds = v, v, 0.0
    if equality:
        update = address(pairs, K, v, g, v, v, whole, 0.0, 0.0, 0, flag)
    else:
        update = address(singles, K, v, g, v, v, 0.0, 0.0, 0, flag)
    least = address(minimise, v, v, *bounds, NO_ROW, NO_SIGN, v)
    proof = address(weigh, v, v, v, v, *bounds, NO_ROW, NO_SIGN, v, v, v)
    matrix, shared = maker(kind, dtype)
    return np.array([update, least, proof, address(matrix, shared, whole, 0, K, stack)])


@jit
def _solve(
    code: Any, shared: Any, programs: Any, totals: Any, lambda2: float, epsilon: float, tol: float, gap_tol: float,
    most: int, magnitude: float, rounding: float, places: Any, K: Any, stack: Any,
) -> None:  # fmt: skip
    """Solve each program, nearer as long as its gap is too large, and prove it; a proof by float32 values is none.

    ``magnitude``, ``rounding``: bounds of a kernel value and of its error; ``places``: 0, 1, 2, ...
    """
    row, sign, mu, ends = np.empty(0, np.int64), np.empty(0), np.empty(len(totals)), np.empty(2, np.int64)
    kept = -1
    for p in range(len(programs.steps)):
        a, b, flag = programs.first[p], programs.first[p + 1], programs.flags[p]
        if flag[0] != 0:
            continue
        n = b - a
        width = -(-n // CHUNK) * CHUNK
        t, beta, g = programs.t[a:b], programs.beta[a:b], programs.g[a:b]
        padded, slope, errors = np.zeros((3, width)), np.zeros(width, K.dtype), np.empty(n)
        groups = programs.groups[programs.first_group[p] : programs.first_group[p + 1]]
        call(code[3], shared, groups, kept, K, stack)
        kept = -1 if lambda2 else groups[0]
        _frame(K[:width], n, lambda2)
        new, low, high = padded[0], padded[1], padded[2]
        new[:n], low[:n], high[:n] = beta, programs.lower[a:b], programs.upper[a:b]
        bounds = low[:n], high[:n], epsilon
        ends[0], ends[1], limit, aim = 0, width, min(STEPS * n, most), tol
        _gradient(K, places[:n], beta, t, g)
        while aim:
            slope[:n], left = g, limit - programs.steps[p]
            if len(totals):
                steps = count(code[0], K[:width], new, slope, low, high, ends, epsilon, INNER * aim, left, flag)
            else:
                steps = count(code[0], K[:width], new, slope, low, high, epsilon, INNER * aim, left, flag)
            programs.steps[p] += steps
            beta[:] = new[:n]
            used = _gradient(K, places[:n], beta, t, g)
            if K.itemsize < 8 and gap_tol == np.inf:
                break
            call(code[1], beta, g, *bounds, row, sign, mu)
            found, rate = programs.measures[p], rounding + UNIT * (used + 4.0) * (magnitude + lambda2)
            _bound(beta, CARE * rate, errors)
            call(code[2], beta, g, errors, t, *bounds, row, sign, totals, mu, found)
            more = programs.steps[p] < limit and flag[0] == 0 and flag[1] == 0
            aim = _nearer(found, aim, gap_tol, beta, g, magnitude + lambda2, K.itemsize) if more else 0.0


@jit
def _gradient(K: Any, places: Any, beta: Any, t: Any, g: Any) -> int:
    """g <- K beta - t; returns how many coefficients are not zero."""
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
    """errors <- rate |beta|_1."""
    size = 0.0
    for i in range(len(beta)):
        size += abs(beta[i])
    for i in range(len(beta)):
        errors[i] = rate * size


@jit
def _nearer(found: Any, tol: float, gap_tol: float, beta: Any, g: Any, largest: float, itemsize: int) -> float:
    """The tolerance to go on with from what ``weigh`` has found; 0 if that will do, or pairs come no nearer."""
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
    """Add lambda^2 to the first n rows and columns, and make those around them 0."""
    width = len(K)
    for i in range(width):
        line = K[i]
        if i >= n:
            for j in range(n):
                line[j] = 0.0
        elif lambda2 != 0.0:
            for j in range(n):
                line[j] += lambda2
        for j in range(n, width):
            line[j] = 0.0
