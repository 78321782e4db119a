"""Programs with numbers of any size, each solved in a unit of its own, see ``problems.unit``.

The margin of a classifier with nu is known with its solution. If the margin is below the unit, the program is solved
again from there in the margin's unit, until the margin is at least 1 in its unit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from ..certificates import half_width
from ..gram import View
from ..problems import Dual
from ..problems.unit import by_margin, by_sums, scaled, unit_of
from .base import Options, Solver, Watch
from .batch.layout import spread
from .results import Solution, Status
from .tasks import State, Task


def solve_in_unit(
    solver: Solver, view: View, dual: Dual, options: Options, state: State | None, watch: Watch
) -> Solution:
    """Solve a program as ``Solver.solve`` does, to a tolerance in its own unit."""

    def solve(tasks: Sequence[Task], watches: Sequence[Watch]) -> list[Solution]:
        return [solver.solve(one.view, one.dual, options, one.state, own)
                for one, own in zip(tasks, watches, strict=True)]  # fmt: skip

    return solve_in_units(solve, [Task(view, dual, state)], [watch])[0]


def solve_in_units(
    solve: Callable[[Sequence[Task], Sequence[Watch]], list[Solution]], tasks: Sequence[Task], watches: Sequence[Watch]
) -> list[Solution]:
    """Return the solutions of programs, each in its own unit; ``solve`` solves several programs side by side."""
    ones = [_InUnits(task, watch) for task, watch in zip(tasks, watches, strict=True)]
    found: dict[int, Solution] = {}
    while len(found) < len(ones):
        left = [number for number in range(len(ones)) if number not in found]
        pairs = [ones[number].requested() for number in left]
        for number, one in zip(left, solve([task for task, _ in pairs], [watch for _, watch in pairs]), strict=True):
            if (done := ones[number].taken(one)) is not None:
                found[number] = done
    return [found[number] for number in range(len(ones))]


class _InUnits:
    """A program on its way through its units: ``requested`` says what to solve, ``taken`` takes the solution."""

    def __init__(self, task: Task, watch: Watch) -> None:
        self._task, self._watch, self._found, self._state = task, watch, None, task.state
        view, dual = task.view, task.dual
        single = len(set(view.groups)) == len(view.groups)  # in nu-SVR each row comes twice, and there is no margin
        self._margin = single and by_sums(dual)
        self._unit = self._first = unit_of(dual, spread(view.gram.spread, dual) if self._margin else 0.0)

    def requested(self) -> tuple[Task, Watch]:
        """Return the program with all numbers divided by the unit; violations stay in the unit."""
        unit, state, watch = self._unit, self._state, self._watch
        report, inner = watch.report, scaled(self._task.dual, unit)
        if report is not None and unit != 1.0:
            watch = replace(watch, report=lambda n, violation, gap, dual: report(n, violation, gap, unit * unit * dual))
        if state is not None and unit != 1.0:
            state = replace(state, beta=state.beta / unit, g=None if state.g is None else state.g / unit)
        return Task(self._task.view, inner, state), replace(watch, dual=inner, rows=[])

    def taken(self, solution: Solution) -> Solution | None:
        """Take the solution of what was asked for; return the program's, or None to ask in a finer unit."""
        before, dual = self._found, self._task.dual
        found = solution.times(self._unit)
        if before is not None:
            if found.status is Status.STUCK:
                return before  # so small a margin is all rounding
            trace = {name: np.concatenate([values, found.trace[name]]) for name, values in before.trace.items()}
            found = replace(found, trace=trace)
        proof = found.certificate
        mu_error = self._unit * (proof.kkt_violation if by_sums(dual) else proof.resolution)
        self._found = found = replace(found, mu_error=mu_error)
        if self._margin and found.status.good:
            finer = by_margin(dual, half_width(dual, found.beta, found.g), self._unit, self._first)
            if finer != self._unit:
                self._unit, self._state = finer, State(found.beta, None, found.n_iter)
                return None
        return found
