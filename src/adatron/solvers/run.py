"""Many problems over one Gram matrix: one, or a bundle, a thread; the tiles of the last ones on all threads."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from contextlib import nullcontext
from itertools import accumulate
from time import monotonic

import numpy as np
from numpy.typing import NDArray

from ..gram import OutOfTime, Pool
from .base import Options, Progress, Report, Solution, Solver, State, Task, Watch, late
from .start import feasible
from .units import solve_in_unit

Callback = Callable[[Progress], object]


class _Desk:
    """Hands reports from the solvers' threads to the callback, which runs on the thread that owns the desk."""

    def __init__(self, tasks: list[Task], callback: Callback | None) -> None:
        self.tasks, self.callback = tasks, callback
        self.flags = np.zeros((len(tasks), 2), np.int64)
        self.finished = 0
        self.start = monotonic()
        self._mail: queue.SimpleQueue[Progress | None] = queue.SimpleQueue()

    def reporter(self, number: int, direct: bool) -> Report | None:
        if self.callback is None:
            return None

        def report(n_iter: int, violation: float, gap: float, objective: float) -> bool:
            seconds = monotonic() - self.start
            progress = Progress(number, len(self.tasks), self.finished, n_iter, violation, gap, objective, seconds)
            if direct:
                self._show(progress)
            else:
                self._mail.put(progress)
            return bool(self.flags[number][0])

        return report

    def _show(self, progress: Progress) -> None:
        if self.callback is not None and self.callback(progress) is True:
            self.stop()

    def stop(self) -> None:
        self.flags[:, 0] = 1

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
        """The next report, None when the desk is closed. Not every system interrupts a wait without an end."""
        while True:
            try:
                return self._mail.get(timeout=0.05)
            except queue.Empty:
                continue

    def close(self) -> None:
        """There are no more reports; whoever works for the desk says so at its end."""
        self._mail.put(None)


def solve_all(
    tasks: list[Task], solver: Solver, options: Options, pool: Pool, concurrent: int, callback: Callback | None
) -> list[Solution]:
    """Solve every task; the solutions do not depend on the number of threads."""
    desk = _Desk(tasks, callback)
    solutions: list[Solution | None] = [None] * len(tasks)
    direct = len(tasks) == 1 or pool.threads == 1

    try:
        bundles = solver.bundles(tasks, options)
    except OutOfTime:
        bundles = [[task] for task in tasks]
    ends = list(accumulate(map(len, bundles), initial=0))

    def solve(number: int) -> None:
        bundle, first, last = bundles[number], ends[number], ends[number + 1]
        with pool.turn() if len(bundle[0].dual) <= options.whole and not direct else nullcontext():
            try:
                found = solver.solve_bundle(bundle, options, desk.flags[first:last])
            except OutOfTime:
                found = [task.state for task in bundle]
            for i, task, early in zip(range(first, last), bundle, found, strict=True):
                report, solution = desk.reporter(i, direct), early
                if not isinstance(solution, Solution):
                    start = monotonic() - (solution.seconds if solution else 0.0)
                    watch = Watch(task.dual, report, desk.flags[i], solver.traced, start)
                    solution = _solved(solver, task, options, solution, watch)
                solutions[i] = solution
                finish(solution, report, desk.flags[i])

    def finish(solution: Solution, report: Report | None, flag: NDArray[np.int64]) -> None:
        desk.finished += 1
        # Every problem is heard of, however short it is, so that a callback can stop the others.
        if report is not None and not flag[0]:
            proof = solution.certificate
            report(solution.n_iter, proof.kkt_violation, proof.relative_gap, proof.dual)

    if direct:
        for number in range(len(bundles)):
            solve(number)
    else:
        _on_a_thread(lambda: pool.run(solve, len(bundles), concurrent), desk)
    return [solution for solution in solutions if solution is not None]


def _solved(solver: Solver, task: Task, options: Options, state: State | None, watch: Watch) -> Solution:
    """The solution of a task; where it begins, if there was no time even for what a solver needs first."""
    try:
        if options.sized:
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
            with np.errstate(all="ignore"):  # as in helpers of a pool
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
