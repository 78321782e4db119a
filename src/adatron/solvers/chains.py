"""Chains of programs that differ in their bounds: each starts at the solution of the one before.

Between two values of C a variable at a bound mostly stays there, and a free one hardly moves. If no variable of the
first program is at a bound other than 0, the start is the solution.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ..arrays import Ids, Vector
from ..problems import Dual
from ..threads import Pool
from .base import Options, Solver, Way
from .results import Found
from .route import Route
from .run import Callback, solve_all
from .tasks import Tasks

MOSTLY_BOUND = 0.6  # Least fraction of the nonzero variables at bounds for which these move with their bounds.


def solve_chains(
    tasks: Tasks, before: Ids, solver: Solver, options: Options, route: Route, pool: Pool, callback: Callback | None
) -> Found:
    """Solve every open task; tasks that others start from come first.

    before : (n,) the smaller number of the program whose solution a program starts from, or -1
    """
    if tasks.gram.dtype == np.float64 and np.isin(route.ways, (Way.CLOSED, Way.BUNDLE)).all():
        return solve_all(replace(tasks, before=before), solver, options, route, pool, callback)
    found, depth = Found(tasks.sizes), _depths(before)
    start = _starts(tasks.dual, before, found)
    for level in range(int(depth.max(initial=-1)) + 1):
        numbers = np.flatnonzero(depth == level)
        part = tasks.some(numbers, start if level else None)
        found.take(numbers, solve_all(part, solver, options, route.of(numbers), pool, callback))
    return found


def widest(before: Ids) -> int:
    """Return how many programs of chains may be solved at the same time."""
    return int(np.bincount(_depths(before)).max(initial=1))


def _depths(before: Ids) -> Ids:
    """Return how many programs each program has to wait for."""
    depth = np.zeros(len(before), np.int64)
    for number, last in enumerate(before.tolist()):
        depth[number] = 0 if last < 0 else depth[last] + 1
    return depth


def _starts(dual: Callable[[int], Dual], before: Ids, found: Found) -> Callable[[Ids], Vector]:
    def start(numbers: Ids) -> Vector:
        return np.concatenate([one(number) for number in numbers.tolist()])

    def one(number: int) -> Vector:
        last = int(before[number])
        beta = found.beta[found.first[last] : found.first[last + 1]]
        known = np.isfinite(found.violation[last])
        return moved(dual(last), dual(number), beta) if known else np.zeros(len(beta))

    return start


def moved(old: Dual, new: Dual, beta: Vector) -> Vector:
    """Return the point with those variables at their bounds that were at their bounds, if they are most of them.

    If many are free, moving the others would put all of the free ones off. The point then stays as it is.
    """
    upper, lower = ((beta == bound) & (beta != 0.0) for bound in (old.upper, old.lower))
    if np.count_nonzero(upper | lower) < MOSTLY_BOUND * np.count_nonzero(beta):
        return beta
    return np.where(upper, new.upper, np.where(lower, new.lower, beta))
