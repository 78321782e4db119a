"""Many problems over one Gram matrix: a thread takes a problem or a batch; all share the tiles of the last ones."""

from __future__ import annotations

import queue
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from itertools import chain, combinations_with_replacement
from math import inf
from time import monotonic

import numpy as np

from ..arrays import Ids, Vector
from ..gram import Gram
from ..problems import Dual
from ..threads import OutOfTime, Pool
from .base import Options, Progress, Reporter, Solver, Watch, Way
from .batch.solve import batches, together
from .results import STOP, Found, Solution, Status, late
from .route import Route
from .start import feasible
from .tasks import State, Task, Tasks
from .units import solve_in_unit, solve_in_units

Callback = Callable[[Progress], object]
IN_PLAY = 0.95  # Fraction of the variables up to which those that can be other than 0 are a program of their own.
BEHIND = 1000  # Number of reports waiting for a slow callback above which problems that end are not reported.


class _Awaited:
    """How many programs still ask for the values within and between segments; those of nobody make room in the stores.

    Programs of batches and on devices store no rows. They are not counted down, and what they share with others stays.
    """

    def __init__(self, tasks: Tasks) -> None:
        self._tasks, self._lock = tasks, threading.Lock()
        some = range(len(tasks)) if tasks.last and tasks.gram.slots else ()
        self._counts = Counter(chain.from_iterable(self._pairs(i) for i in some if tasks.open[i]))

    def _pairs(self, i: int) -> Iterator[tuple[int, int]]:
        return combinations_with_replacement(sorted(set(self._tasks.groups_of(i))), 2)

    def ended(self, i: int) -> None:
        """Drop what no other program needs."""
        if not self._counts:
            return
        with self._lock:
            pairs = list(self._pairs(i))
            self._counts.subtract(pairs)
            over = [pair for pair in pairs if not self._counts[pair]]
        for pair in over:
            self._tasks.gram.drop(*pair)


class _Desk:
    """Hands reports from the solvers' threads to the callback, which runs on the thread that owns the desk."""

    def __init__(self, tasks: Tasks, callback: Callback | None) -> None:
        self.tasks, self.callback = tasks, callback
        self.flags = np.zeros((len(tasks), 2), np.int64)
        self.finished = int(np.count_nonzero(~tasks.open))
        self.start = monotonic()
        self._mail: queue.SimpleQueue[Progress | None] = queue.SimpleQueue()
        self._lock = threading.Lock()

    def over(self, many: int) -> None:
        """Count problems that are over."""
        with self._lock:
            self.finished += many

    def ended(self, some: range, options: Options) -> Status | None:
        """Return the status that forbids to begin with some problems, or None."""
        if self.flags[some.start : some.stop, STOP].all():
            return Status.STOPPED
        return Status.MAX_TIME if monotonic() >= options.deadline else None

    def deadline(self, options: Options, many: int, at_once: int) -> float:
        """Return the end of problems that begin now: all that are not over share the time that is left."""
        if self.tasks.before is not None or options.deadline == inf:  # a program of a chain may take all the time
            return options.deadline
        now = monotonic()
        part = min(1.0, many * at_once / max(1, len(self.tasks) - self.finished))
        return now + part * (options.deadline - now)

    def reporter(self, number: int, direct: bool) -> Reporter | None:
        if self.callback is None:
            return None

        def report(n_iter: int, violation: float, gap: float, objective: float) -> bool:
            seconds = monotonic() - self.start
            progress = Progress(number, len(self.tasks), self.finished, n_iter, violation, gap, objective, seconds)
            if direct:
                self._show(progress)
            else:
                self._mail.put(progress)
            return bool(self.flags[number][STOP])

        return report

    @property
    def behind(self) -> bool:
        """Whether many reports wait: millions of problems end faster than a callback hears of them."""
        return self._mail.qsize() > BEHIND

    def _show(self, progress: Progress) -> None:
        if self.callback is not None and self.callback(progress) is True:
            self.stop()

    def stop(self) -> None:
        self.flags[:, STOP] = 1

    @contextmanager
    def until(self, deadline: float) -> Iterator[None]:
        """Stop every problem at the deadline: compiled code may work on a chain for long, and looks at no clock."""
        if deadline == inf:
            yield
            return
        timer = threading.Timer(max(0.0, deadline - monotonic()), self.stop)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def serve(self, worker: threading.Thread) -> None:
        """Show reports until the desk is closed; Ctrl-C or an error of the callback stops every problem first."""
        try:
            while (progress := self._next()) is not None:
                self._show(progress)
        except BaseException:
            self.stop()
            raise
        finally:
            worker.join()

    def _next(self) -> Progress | None:
        """Return the next report; None when the desk is closed.

        Each wait is short, for on some systems Ctrl-C does not interrupt a wait that has no time limit.
        """
        while True:
            try:
                return self._mail.get(timeout=0.05)
            except queue.Empty:
                continue

    def close(self) -> None:
        """Say that there are no more reports: the last thing that a worker does."""
        self._mail.put(None)


def solve_all(
    tasks: Tasks, solver: Solver, options: Options, route: Route, pool: Pool, callback: Callback | None
) -> Found:
    """Solve every task that is open; the solutions do not depend on the number of threads."""
    desk, found = _Desk(tasks, callback), Found(tasks.sizes)
    if tasks.before is not None:
        found.gradients = np.zeros(len(found.beta))
        found.of_values = tasks.gram.rounding, tasks.gram.magnitude
    if len(tasks) > 1 and monotonic() >= options.deadline:  # there was time for nothing but setting up
        found.leave(np.flatnonzero(tasks.open), Status.MAX_TIME)
        return found
    ranges, awaited = _ranges(tasks, options, route), _Awaited(tasks)
    direct = len(ranges) == 1 or pool.threads == 1 or bool(route.device)

    def solve(number: int) -> None:
        some = ranges[number]
        turns = tasks.sizes[some.start] <= options.whole and not direct
        at_once = 1 if direct or turns else route.concurrent
        with pool.turn() if turns else nullcontext():
            ended = desk.ended(some, options)  # after the wait for a turn
            if ended is not None and len(tasks) > 1:
                found.leave(slice(some.start, some.stop), ended)
                return
            left: dict[int, State | None] = {}
            if int(route.ways[some.start]) == Way.BATCH:
                left = _in_batch(tasks, some, options, desk, found)
            elif len(some) > 1:
                own = replace(options, deadline=desk.deadline(options, len(some), at_once))
                _on_device(tasks, some, solver, own, desk, found)
                desk.over(len(some) if callback is None else 0)
            else:
                left = {i: tasks.start(i) for i in some}
            for i in some if callback is not None else left:
                report = desk.reporter(i, direct)
                if i in left:
                    task, state = tasks[i], left[i]
                    start = monotonic() - (state.seconds if state else 0.0)
                    watch = Watch(task.dual, report, desk.flags[i], solver.traced, start)
                    way = route.alone(i)
                    own = replace(options, way=way, deadline=desk.deadline(options, 1, at_once))
                    found.put(i, task.dual, _solved_in_play(solver, task, own, state, watch))
                    awaited.ended(i)
                finish(i, report)

    def finish(i: int, report: Reporter | None) -> None:
        desk.over(1)
        # A callback hears of every problem, however short it is, unless it is far behind. It can stop the others.
        if report is not None and not desk.flags[i][STOP] and not desk.behind:
            proof = found.certificate(i)
            report(int(found.n_iter[i]), proof.kkt_violation, proof.relative_gap, proof.dual)

    with desk.until(options.deadline) if tasks.before is not None else nullcontext():
        if direct:
            for number in range(len(ranges)):
                solve(number)
        else:
            _on_a_thread(lambda: pool.run(solve, len(ranges), route.concurrent), desk)
    return found


def _ranges(tasks: Tasks, options: Options, route: Route) -> list[range]:
    """Return the numbers of the open tasks in their order; those that are solved together are one range."""
    if route.device:
        return _neighbours(np.flatnonzero(tasks.open).tolist(), route.concurrent)
    try:
        return batches(tasks, route.ways, timed=options.deadline < inf)
    except OutOfTime:
        return _neighbours(np.flatnonzero(tasks.open).tolist(), 1)


def _neighbours(numbers: list[int], most: int) -> list[range]:
    """Return ranges of up to so many numbers."""
    out: list[range] = []
    for number in numbers:
        if out and out[-1].stop == number and len(out[-1]) < most:
            out[-1] = range(out[-1].start, number + 1)
        else:
            out.append(range(number, number + 1))
    return out


def _in_batch(tasks: Tasks, some: range, options: Options, desk: _Desk, found: Found) -> dict[int, State | None]:
    """Solve problems as a batch; return where to go on with those that are not solved."""
    left: dict[int, State | None] = {}
    try:
        left = together(tasks, some, options, desk.flags[some.start : some.stop], found)
    except OutOfTime:
        found.leave(slice(some.start, some.stop), Status.MAX_TIME)
    if desk.callback is None:  # nobody counts them one by one
        desk.over(len(some) - len(left))
    return left


def _on_device(tasks: Tasks, some: range, solver: Solver, options: Options, desk: _Desk, found: Found) -> None:
    """Solve problems side by side on a device."""
    from .device.solve import solve_together

    own, solve = [tasks[i] for i in some], partial(solve_together, solver, options)
    watches = [Watch(one.dual, desk.reporter(i, True), desk.flags[i], solver.traced)
               for i, one in zip(some, own, strict=True)]  # fmt: skip
    try:
        solutions = solve_in_units(solve, own, watches) if options.sized else solve(own, watches)
    except OutOfTime:
        found.leave(slice(some.start, some.stop), Status.MAX_TIME)
        return
    for i, one, solution in zip(some, own, solutions, strict=True):
        found.put(i, one.dual, solution)


def _solved_in_play(solver: Solver, task: Task, options: Options, state: State | None, watch: Watch) -> Solution:
    """Return the solution of a task. A large one leaves out variables that must be 0, as those of a fold's samples."""
    dual, view, gram = task.dual, task.view, task.view.gram
    known = gram.slots or gram.held or (state is not None and state.g is not None)  # what is known is of all variables
    here = type(gram) is Gram and gram.kernel.compiled and gram.device is None
    if options.way < Way.DECOMPOSE or known or not here:
        return _solved(solver, task, options, state, watch)
    ids = np.flatnonzero((dual.lower < dual.upper) | (dual.lower != 0.0))
    if len(ids) > IN_PLAY * len(dual):
        return _solved(solver, task, options, state, watch)
    part, begun = Task(view.narrowed(ids), dual.take(ids)), None if state is None else State(state.beta[ids])
    found = _solved(solver, part, options, begun, replace(watch, dual=part.dual))
    beta, g = np.zeros((2, len(dual)))
    beta[ids], g[ids] = found.beta, found.g
    return replace(found, beta=beta, g=g)


def _solved(solver: Solver, task: Task, options: Options, state: State | None, watch: Watch) -> Solution:
    """Return the solution of a task; its beginning, if there was no time even for what a solver needs first."""
    try:
        if options.sized:
            if options.way is Way.DENSE and task.view.gram.in_one:
                task.view.gram.framed(0.0)  # the values that choose the unit are some of those of the solver
            return solve_in_unit(solver, task.view, task.dual, options, state, watch)
        return solver.solve(task.view, task.dual, options, state, watch)
    except OutOfTime:
        state = state or State(np.zeros(len(task.dual)))
        return late(task.dual, feasible(task.dual, state.beta), state.g, state.n_iter)


def _on_a_thread(work: Callable[[], None], desk: _Desk) -> None:
    """Run ``work`` on a thread while this one serves the desk; raise what it raised."""
    errors: list[BaseException] = []

    def body() -> None:
        try:
            with np.errstate(all="ignore"):  # helpers of a pool do the same
                work()
        except BaseException as error:
            errors.append(error)
        finally:
            desk.close()

    worker = threading.Thread(target=body, name="adatron-problems", daemon=True)
    worker.start()
    desk.serve(worker)
    if errors:
        raise errors[0]


MOSTLY_BOUND = 0.6  # Least fraction of the nonzero variables at bounds for which these move with their bounds.


def solve_chains(
    tasks: Tasks, before: Ids, solver: Solver, options: Options, route: Route, pool: Pool, callback: Callback | None
) -> Found:
    """Solve every open task of chains, in which each starts at the solution of the one before; those come first.

    Between two values of C a variable at a bound mostly stays there, and a free one hardly moves. If no variable of
    the first program is at a bound other than 0, the start is the solution.

    before : (n,) the smaller number of the program whose solution a program starts from, or -1
    """
    if tasks.gram.dtype == np.float64 and np.isin(route.ways, (Way.TRIVIAL, Way.BATCH)).all():
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
