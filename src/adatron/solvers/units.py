"""Programs with numbers of any size, each solved in a unit of its own, see ``problems.unit``.

The margin of a classifier with nu is known with its solution. If the margin is below the unit, the solution is looked
for again from there, in the margin's unit, until the tolerance is compared with a margin of 1 at least.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..certificates import half_width
from ..gram import View
from ..problems import Dual
from ..problems.unit import by_margin, by_sums, scaled, unit_of
from .base import Options, Solver
from .solution import Solution
from .status import Status
from .tasks import State
from .watch import Watch
from .whole.arranged import spread


def solve_in_unit(
    solver: Solver, view: View, dual: Dual, options: Options, state: State | None, watch: Watch
) -> Solution:
    """Solve a program as ``Solver.solve`` does, to a tolerance in its own unit."""
    single = len(set(view.groups)) == len(view.groups)  # in nu-SVR each row comes twice, and there is no margin
    unit = first = unit_of(dual, spread(view.gram.spread, dual) if single and by_sums(dual) else 0.0)
    found = _solved(solver, view, dual, options, state, watch, unit)
    while single and by_sums(dual) and found.status.good:
        finer = by_margin(dual, half_width(dual, found.beta, found.g), unit, first)
        if finer == unit:
            break
        again = _solved(solver, view, dual, options, State(found.beta, None, found.n_iter), watch, finer)
        if again.status is Status.STUCK:
            break  # so small a margin is all rounding
        trace = {name: np.concatenate([values, again.trace[name]]) for name, values in found.trace.items()}
        unit, found = finer, replace(again, trace=trace)
    proof = found.certificate
    return replace(found, blur=unit * (proof.kkt_violation if by_sums(dual) else proof.resolution))


def _solved(
    solver: Solver, view: View, dual: Dual, options: Options, state: State | None, watch: Watch, unit: float
) -> Solution:
    """Return the solution by a solver that sees all numbers divided by the unit; violations stay in the unit."""
    report, inner = watch.report, scaled(dual, unit)
    if report is not None and unit != 1.0:
        watch = replace(watch, report=lambda n, violation, gap, dual: report(n, violation, gap, unit * unit * dual))
    if state is not None and unit != 1.0:
        state = replace(state, beta=state.beta / unit, g=None if state.g is None else state.g / unit)
    return solver.solve(view, inner, options, state, replace(watch, dual=inner, rows=[])).times(unit)
