"""Many programs of one block each in one go: batches of them are solved by compiled code alone.

Problem   programs over a few segments each, of up to ``MAX_SINGLE_BLOCK`` variables, with finite bounds: one for each
          pair of classes. A hundred classes have thousands, and Python needs more time for a pair than its solution.
          With float32 tiles there may be no lambda^2. Programs with nu need float64 tiles and matrices of their own;
          each is solved in its own unit, as by ``solvers.units``.
Update    as ``blocks.at_once``: ``pairs`` or ``singles`` over all variables.
Stop      as ``blocks.at_once``, with float64 tiles. If a gap is asked for, the tolerance falls as long as the gap is
          too large. ``blocks.at_once`` or the block solver goes on with the programs that do not get there, and with
          all programs of float32 tiles: both have an active set and a proof for float32.
"""

from __future__ import annotations

from itertools import pairwise
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arrays import Ids
from ...certificates import conclude
from ...certificates.certify import conclude_all
from ...gram.shared import GivenShared
from ..base import Options, Way
from ..loop import enough
from ..plan import BESIDE_MATRIX
from ..results import NEGATIVE_CURVATURE, STATUSES, STOP, UNSOLVED, Found, Status
from ..tasks import State, Tasks
from .chain import Chain
from .layout import Programs, arranged, in_own_numbers
from .loop import Goals, Scratch, addresses, solve

SMALLEST_BATCH, LARGEST_BATCH = 3e7, 3e8  # Multiply-adds of a batch: the fewest take a millisecond.
MOST_BATCHES = 64  # Batches that share all work, unless they would be smaller or larger than that.


def batches(tasks: Tasks, ways: NDArray[np.int8], timed: bool = False) -> list[range]:
    """Return the numbers of the open tasks in their order; those that are solved together are one range.

    ``timed``: there is a time limit, so batches are short: they do not look at the clock.
    """
    gram, batched = tasks.gram, ways == Way.BATCH.value  # NumPy takes its time with members
    if not batched.any():
        return [range(number, number + 1) for number in np.flatnonzero(ways != Way.TRIVIAL.value).tolist()]
    kinds = _kinds(tasks, ways)
    cost = 1.0 if gram.in_one else gram.kernel.cost(gram.source.features)
    works = np.cumsum([0.0, *(tasks.sizes.astype(np.float64) ** 2 * cost + BESIDE_MATRIX)])
    most = SMALLEST_BATCH if timed else max(SMALLEST_BATCH, min(LARGEST_BATCH, works[-1] / MOST_BATCHES))
    cuts = np.concatenate([[0], 1 + np.flatnonzero(np.diff(kinds)), [len(tasks)]])
    begins = np.arange(len(tasks) + 1) if tasks.before is None else _begins(tasks)
    out: list[range] = []
    for start, last in pairwise(cuts.tolist()):
        first = start
        while first < last and ways[first] != Way.TRIVIAL:
            end = first + 1
            if batched[first]:
                end = int(np.searchsorted(works, works[first] + most, side="right")) - 1
                end = begins[max(int(np.searchsorted(begins, end, side="right")) - 1, 0)]
                if end <= first:
                    end = begins[np.searchsorted(begins, first, side="right")]
            out.append(range(first, min(last, int(end))))
            first = out[-1].stop
    if gram.in_one:  # made by all threads, before each of them has a batch
        gram.framed(tasks.dual(int(np.argmax(batched))).lambda2)
    else:
        gram.shared_values()
    return out


def _begins(tasks: Tasks) -> Ids:
    """Return where a batch of chains may begin, and the number of tasks: chains over one made matrix stay together."""
    assert tasks.before is not None  # noqa: S101 (for the type checker)
    new = tasks.before < 0
    if not tasks.gram.in_one:
        groups, first = tasks.groups, tasks.first.tolist()
        for number in np.flatnonzero(new[1:]).tolist():
            a, b, c = first[number : number + 3]
            new[number + 1] = not np.array_equal(groups[a:b], groups[b:c])
    return np.concatenate([np.flatnonzero(new), [len(tasks)]])


def _kinds(tasks: Tasks, ways: NDArray[np.int8]) -> Ids:
    """Return numbers of kinds: programs that are alike have equal ones, those for no batch negative ones."""
    kinds = -1 - ways.astype(np.int64)
    if tasks.joined is not None:
        kinds[ways == Way.BATCH] = 0
        return kinds
    known: dict[Any, int] = {}
    for number in np.flatnonzero(ways == Way.BATCH).tolist():
        dual = tasks.dual(number)
        kind = len(dual.totals), dual.row is None, dual.sign is None, dual.lambda2, dual.epsilon
        kinds[number] = known.setdefault(kind, len(known))
    return kinds


def together(
    tasks: Tasks, some: range, options: Options, flags: NDArray[np.int64], found: Found
) -> dict[int, State | None]:
    """Put the certified solutions of a batch into ``found``; return where to go on with the others.

    Float32 tiles certify nothing. After a stop nothing more is begun, and nothing goes on.
    """
    gram, begun = tasks.gram, monotonic()
    dual, programs = arranged(tasks, some, options.sized, flags)
    values = gram.magnitude, gram.rounding
    goals = Goals(dual.lambda2, dual.epsilon, options.tol, options.widest_gap, options.max_iter, *values)
    shared = GivenShared.empty() if gram.in_one else gram.shared_values()
    code, stack = addresses(shared.kind, gram.dtype, bool(dual.totals), tasks.before is not None), gram.workspace.stack
    room = None if gram.in_one else gram.workspace.lease(int(programs.laid.widths.max()))
    K, chain = gram.framed(dual.lambda2) if room is None else room.K, None
    if tasks.before is not None:
        before = np.maximum(tasks.before[some.start : some.stop] - some.start, -1)
        chain = Chain.of(before, len(K), programs.laid.starts.shape[1] - 1)
    own = Scratch.of(K, programs.totals.shape[1], 1 if chain is None else len(some))
    try:
        with gram.pool.aside():
            solve(code, shared, programs, goals, K, stack, own, chain)
    finally:
        if room is not None:
            gram.workspace.give_back(room)
    programs = in_own_numbers(programs)
    return _sorted_out(tasks, some, options, programs, (monotonic() - begun) / len(some), found)


def _sorted_out(
    tasks: Tasks, some: range, options: Options, programs: Programs, seconds: float, found: Found
) -> dict[int, State | None]:
    """Put what is proven into ``found``; return where the others are."""
    n_iter, own, first = programs.steps, slice(some.start, some.stop), programs.first.tolist()
    stopped, proven = programs.flags[:, STOP] != 0, tasks.gram.dtype == np.float64
    found.keep_all(own, _proofs(tasks, some, programs), programs.biases, programs.half_widths, programs.units)
    found.n_iter[own], found.seconds[own] = n_iter, seconds
    found.beta[found.first[some.start] : found.first[some.stop]] = programs.beta
    if found.gradients is not None:
        found.gradients[found.first[some.start] : found.first[some.stop]] = programs.g
    status = np.where(found.convex[own], STATUSES.index(Status.CONVERGED), STATUSES.index(Status.NOT_CONVEX))
    good = enough(found.violation[own], found.relative_gaps_of(own), found.convex[own], options)
    good &= proven & (n_iter != programs.limits)
    late = stopped | (monotonic() >= options.deadline)  # what is known will do
    status[late & ~good] = STATUSES.index(Status.MAX_TIME)
    status[stopped & ~good] = STATUSES.index(Status.STOPPED)
    nothing = some.start + np.flatnonzero(late & ~good & (~np.bool_(proven) | (programs.limits == 0)))
    found.dual[nothing], found.gap[nothing], found.violation[nothing] = -np.inf, np.inf, np.inf
    found.status[own] = np.where(good | late, status, UNSOLVED)
    left: dict[int, State | None] = {}
    for k in np.flatnonzero(~(good | late)).tolist():
        parts = programs.beta[first[k] : first[k + 1]], programs.g[first[k] : first[k + 1]], int(n_iter[k]), seconds
        left[some[k]] = State(*parts)
    return left


def _proofs(tasks: Tasks, some: range, programs: Programs) -> NDArray[np.float64]:
    """Return the numbers of the certificates, see ``conclude_all``."""
    lambda2 = tasks.dual(some.start).lambda2
    out = conclude_all(programs.measures, tasks.gram.magnitude + lambda2)
    if not tasks.gram.kernel.convex and tasks.gram.dtype == np.float64:
        ends, flags = programs.first.tolist(), programs.flags.tolist()
        for k, (number, measures) in enumerate(zip(some, programs.measures.tolist(), strict=True)):
            if not flags[k][STOP]:
                beta = programs.beta[ends[k] : ends[k + 1]]
                out[-1, k] = conclude(
                    tasks.view(number), beta, measures, lambda2, not flags[k][NEGATIVE_CURVATURE]
                ).convex
    return out
