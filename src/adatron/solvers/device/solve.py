"""Programs of a fit on a device: proposed there, proven on the processor, until every proof suffices.

The loop is that of ``solvers.loop`` for many programs in step: all go on together, and each is proven when its steps
have ended. The float64 sums of a proof come from the device; the processor makes some of them, too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import monotonic

import numpy as np

from ...devices.rows import OnDevice
from ...problems import Dual
from ...problems.dual import Vector, dot
from ..ascent import Ascent
from ..base import Options, Solver, Watch
from ..loop import OF_PARTS, first_tolerance, how_closely, judged, rounding_error
from ..plan import PARTED
from ..results import STOP, Solution, Status
from ..tasks import State, Task
from .batch import IDLE_BLOCKS, Batch, BatchKind, block_size, near
from .newton import DeviceNewton, step

REPLAYS = 3  # Blocks between two looks at where the programs are.


class Member(Ascent[Solver]):
    """One program of several that ascend together."""

    def prepare(self) -> None:
        pass

    def ascend(self, tol: float) -> Status:
        return ascended([self], [tol])[0]

    @property
    def on_device(self) -> OnDevice:
        """The rows on the device."""
        on_device = self.view.gram.device
        assert on_device is not None  # noqa: S101 (for the type checker)
        return on_device

    def go_on(self, status: Status, tol: float) -> float | Solution:
        """Return the tolerance to go on with after steps have ended, or the solution."""
        near = self.short(status, tol)
        if near is not None:
            return near
        if status is Status.STUCK and self.view.gram.dtype != np.float64:
            self._widen()
            self._anew()
            return tol
        found = judged(self, status, tol, self.options)
        return self.concluded(*found) if isinstance(found, tuple) else found

    def beyond_rounding(self, beta: Vector, goal: float) -> bool:
        """Return whether float32 values may be what keeps a point like this from the goal."""
        largest = self.view.magnitude + self.dual.lambda2
        return self.view.gram.dtype != np.float64 and rounding_error(dot(beta, beta), largest, 4) > goal

    def moved_to(self, beta: Vector, g: Vector, steps: int, additions: int, path: float, terms: int) -> None:
        """Take over where the device has come to."""
        self.beta[:], self.g[:] = beta, g
        self.n_iter += steps
        self.count_rounding(additions, terms, path)


def solve(solver: Solver, view: object, dual: Dual, options: Options, state: State | None, watch: Watch) -> Solution:
    """Solve one program over rows that are on a device."""
    return Member(solver, view, dual, options, state, watch).solve()  # pyright: ignore[reportArgumentType]


def solve_together(solver: Solver, options: Options, tasks: Sequence[Task], watches: Sequence[Watch]) -> list[Solution]:
    """Solve programs in step, each over rows that are on the device."""
    members = [Member(solver, task.view, task.dual, options, task.state, watch)
               for task, watch in zip(tasks, watches, strict=True)]  # fmt: skip
    tolerances = {number: first_tolerance(one.dual, options) for number, one in enumerate(members)}
    found: dict[int, Solution] = {}
    while tolerances:
        for some in _alike(members, tolerances):
            statuses = ascended([members[i] for i in some], [tolerances[i] for i in some])
            for number, status in zip(some, statuses, strict=True):
                following = members[number].go_on(status, tolerances.pop(number))
                if isinstance(following, Solution):
                    found[number] = following
                else:
                    tolerances[number] = following
    return [found[number] for number in range(len(members))]


def _alike(members: Sequence[Member], numbers: dict[int, float]) -> list[list[int]]:
    """Return programs in groups that may ascend together: of one kind, by values of one type."""
    groups: dict[object, list[int]] = {}
    for number in numbers:
        one = members[number]
        groups.setdefault((BatchKind.of(one.dual), one.view.gram.dtype), []).append(number)
    return list(groups.values())


def ascended(members: Sequence[Member], tolerances: Sequence[float]) -> list[Status]:
    """Let programs of one kind ascend until their tracked violations are small enough; return what ended each."""
    first = members[0]
    rows, dtype, options = first.on_device.rows, first.view.gram.dtype, first.options
    duals, lines = [one.dual for one in members], [one.on_device.lines[one.view.ids] for one in members]
    q = block_size(rows.tiles.sizes, max(map(len, duals)), options.block)
    points = [one.beta for one in members], [one.g for one in members]
    batch = Batch(rows, dtype, duals, lines, *points, q)
    run = _Run(members, batch, tolerances)
    statuses = run.to_the_end()
    path = batch.path.cpu().numpy()
    for number, one in enumerate(members):
        terms = max(q, run.most_moved)
        one.moved_to(*batch.point(number), run.taken[number], run.additions, float(path[number]), terms)
    return statuses


class _Run:
    """Programs that ascend together, from one proof to the next.

    taken : steps of each program, in its parts, too
    additions, most_moved : how often g was added to, and the most variables that had moved before
    """

    def __init__(self, members: Sequence[Member], batch: Batch, tolerances: Sequence[float]) -> None:
        self.members, self.batch, self.goals = members, batch, np.array(tolerances)
        self.options = members[0].options
        self.left = np.array([max(0, self.options.max_iter - one.n_iter) for one in members])
        self.taken, self.additions, self.most_moved = [0] * len(members), 0, 0
        self.newtons = [DeviceNewton(self.options.memory) for _ in members]
        self.statuses: list[Status | None] = [None] * len(members)

    def to_the_end(self) -> list[Status]:
        """Run until every program has ended."""
        before = 0.0
        while self.batch.B == 1 and self.batch.sizes[0] >= PARTED * self.batch.q:
            violation = float(self.batch.violations(self.batch.ends())[0])
            goal = how_closely(violation, before, float(self.goals[0]), *OF_PARTS)
            if violation <= self.goals[0] or not self._part(goal, violation):
                break
            before = violation
        if self.statuses[0] is None:
            self._blocks(self.batch, self.goals, self._report)
        return [Status.STUCK if status is None else status for status in self.statuses]

    def _blocks(self, batch: Batch, goals: Vector, report: Callable[[int, float, int, float], Status | None]) -> None:
        """Ascend by blocks, and by Newton steps of one program after the other."""
        batch.begin(goals, self.left)
        before = np.zeros(batch.B)
        while any(status is None for status in self.statuses):
            batch.advance(REPLAYS)
            self.additions += REPLAYS
            seen = batch.seen()
            steps = seen.steps - before
            before = seen.steps
            for number, status in enumerate(self.statuses):
                if status is not None:
                    continue
                self.taken[number] += int(steps[number])
                self.left[number] -= int(steps[number])
                values = seen.violation[number], self.taken[number], seen.objective[number]
                self.statuses[number] = report(number, *values)
                if self.statuses[number] is None and seen.idle[number] >= IDLE_BLOCKS:
                    self.statuses[number] = Status.STUCK
            if self._closed(batch, goals):
                continue
            open_ = [number for number, status in enumerate(self.statuses) if status is None]
            for number in open_:
                self.newtons[number].book(batch, REPLAYS, int(steps[number]), len(open_))
                self._finish(batch, number, float(seen.violation[number]), float(goals[number]))

    def _closed(self, batch: Batch, goals: Vector) -> bool:
        """Give programs that have ended no more blocks; return whether all have."""
        ended = np.array([status is not None for status in self.statuses])
        if batch.B > 1 and ended.any():
            batch.goal.copy_(batch.source.numbers(np.where(ended, np.inf, goals), np.float64))
        return bool(ended.all())

    def _report(self, number: int, violation: float, steps: int, objective: float) -> Status | None:
        """Report a program between its blocks; return what ends it."""
        one, goal = self.members[number], float(self.goals[number])
        if not np.isfinite(violation):
            return Status.OVERFLOW

        def gap() -> float:
            beta, g = self.batch.point(number)
            one.beta[:], one.g[:] = beta, g
            return one.relative_gap()

        stop = one.watch.look(one.n_iter + steps, violation, objective, gap)
        if violation <= goal:
            return Status.CONVERGED
        if stop or one.watch.flag[STOP]:
            return Status.STOPPED
        if one.n_iter + steps >= one.options.max_iter:
            return Status.MAX_ITER
        return Status.MAX_TIME if monotonic() >= one.options.deadline else None

    def _finish(self, batch: Batch, number: int, violation: float, goal: float) -> None:
        """Take a Newton step of a program if one is due."""
        newton, one = self.newtons[number], batch.only(number)
        ids = newton.due(one, violation, goal)
        if ids is None or len(ids) > self.left[number]:
            return
        moved = step(one, ids)
        self.taken[number] += moved
        self.left[number] -= moved
        one.left -= moved
        self.additions, self.most_moved = self.additions + 1, max(self.most_moved, moved)
        after = float(one.violations(one.ends())[0])
        one.idle.zero_()
        newton.judge(violation, after, moved > 0)
        if not newton.paid and self.members[number].beyond_rounding(one.beta[0].cpu().numpy(), goal):
            self.statuses[number] = Status.STUCK

    def _part(self, goal: float, violation: float) -> bool:
        """Solve the program of some variables, and carry the change over to g. Return whether to go on with parts."""
        batch, one = self.batch, self.members[0]
        ids = near(batch, float(self.goals[0]))
        if ids is None:
            return False
        numbers = ids.cpu().numpy()
        beta, g = (some[0, ids] for some in (batch.beta, batch.g))
        lines = batch.rows[0, ids].cpu().numpy().astype(np.int64)
        points = [beta.cpu().numpy()], [g.cpu().numpy()]
        rows, lines = batch.source.near(lines, batch.dtype)
        part = Batch(rows, batch.dtype, [one.dual.take(numbers)], [lines], *points, batch.q)
        level = float(batch.objectives()[0]) - float(part.objectives()[0])

        def report(number: int, inside: float, steps: int, objective: float) -> Status | None:
            status = self._report(number, max(inside, goal * (1.0 + 1e-9)), steps, objective + level)
            return Status.CONVERGED if status is None and inside <= goal else status

        self._blocks(part, np.array([goal]), report)
        ended, self.statuses[0] = self.statuses[0], None
        change = part.beta[0, : len(numbers)] - beta
        moved = change.nonzero()[:, 0]
        if len(moved):
            batch.beta[0, ids] = part.beta[0, : len(numbers)]
            count = batch.source.numbers([len(moved)])
            batch.carry(batch.rows[0, ids[moved]][None].contiguous(), change[moved][None].contiguous(), count)
            self.additions, self.most_moved = self.additions + 1, max(self.most_moved, len(moved))
        if ended is Status.STUCK:
            return False  # blocks of the whole program go on
        if ended is not Status.CONVERGED:
            self.statuses[0] = ended
            return False
        return bool(len(moved))
