"""Question 1: is it optimal."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...model.model import GAP_TOL, IF_SEMIDEFINITE
from ...plots.gap import GapDisplay
from ...quoted import raised, upward
from ..facts import Facts, Missing
from ..page import Folded, Panel, SortableTable, Text, Verbatim, Worded, digits

EQUAL_ENDS = 1e-12  # Relative gap below which the digits of the objectives need not show it.
PROBLEMS_SHOWN = 300  # Problems in the table, those with the largest gaps.


def optimal(facts: Facts) -> Panel:
    """Show the certificate, the trace and the route of the fit."""
    machine = facts.machine
    display, panel = GapDisplay.of(machine), Panel("Is it optimal?", _answer(machine))
    gap = display.gap
    ends = np.stack([gap, display.violation, display.dual, display.primal], axis=1).tolist()
    if display.curved:
        text = (
            "How the fit came to its optimum. Blue: the distance of the objective from the optimum; red: the KKT "
            "violation. Lines are the solver's estimates; diamonds and dotted lines are proven in float64."
        )
        panel.parts.append(facts.gallery.draw(lambda ax: display.plot(ax=ax), text))
    elif not np.isnan(machine.certificate_.gap):
        panel.note("Solved in one go, so there is no curve of the way there.")
    iterations = np.broadcast_to(np.asarray(machine.n_iter_), gap.shape)
    order = np.argsort(-np.nan_to_num(gap, nan=np.inf), kind="stable")[:PROBLEMS_SHOWN]
    labels = _problems(machine, len(gap))
    rows = [[labels[k], int(iterations[k]), *_bounds(*ends[k])] for k in order.tolist()]
    size = "≈" if machine.certificate_.estimated else "≤"
    head = ("problem", "updates", f"relative gap {size}", f"KKT violation {size}", "dual objective", "primal objective")
    panel.parts.append(SortableTable(head, rows, "The certificate of each quadratic program."))
    if machine.route_ is not None:
        panel.parts.append(Folded("How it was solved", Verbatim(str(machine.route_))))
    twin = facts.twin
    if not isinstance(twin, Missing) and twin.difference > 0.0:
        text = (
            "The exact solution, which the panels about deletion use, differs from the values of this model by at most "
            f"{digits(twin.difference)} on its samples."
        )
        if twin.far:
            text += " This is much: pass the weights of the samples, or fit to a smaller tolerance."
            panel.parts.append(Text(text, "warning"))
        else:
            panel.parts.append(Folded("The exact solution", Text(text, "note")))
    return panel


def _answer(machine: Any) -> str:
    """Answer by the gap, not by the status: a small violation alone does not say how far the optimum is."""
    worst = machine.certificate_
    violation = f"the KKT violation is {'about' if worst.estimated else 'at most'} {upward(worst.violation)}"
    if np.isnan(worst.gap):
        return "Nothing is proven: the kernel is not positive semi-definite on these samples, or the fit is unknown."
    if np.isinf(worst.gap) and np.isfinite(machine.primal_objective_).all():
        return f"Not proven in relation to the optimum, which may be 0: the objectives bound it; {violation}."
    if np.isinf(worst.gap):
        return f"Not proven, because the fit ended before any bound of the optimum was known; {violation}."
    if worst.estimated:
        known = worst.converged and worst.gap <= GAP_TOL
        return f"{'Yes' if known else 'Not proven'}, by the gradient that the model follows: {worst}."
    provided = "" if worst.semidefinite else f", {IF_SEMIDEFINITE}"
    if worst.gap > GAP_TOL:
        requested = getattr(machine, "gap_tol", None)
        met = requested is None or worst.gap <= requested
        cure = "A smaller gap_tol asks for more" if met else "A smaller C, scaled features or higher limits may help"
        return (
            f"Nearly: the objective is proven to within {raised(100 * worst.gap):g} %{provided}; {violation}. {cure}."
        )
    return f"Yes{provided}: relative duality gap <= {upward(worst.gap)}, rounding included; {violation}."


def _bounds(gap: float, violation: float, dual: float, primal: float) -> list[Any]:
    """Return the cells of a certificate. Objectives that differ by less than themselves have digits that show it.

    These are rounded outwards.
    """
    cells: list[Any] = [raised(gap), raised(violation), dual, primal]
    if EQUAL_ENDS < gap < 1.0:
        digits = 2 - int(np.floor(np.log10(gap)))
        ends = (dual, -raised(-dual, digits)), (primal, raised(primal, digits))
        cells[2:] = [Worded(number, f"{shown:,.{digits}g}") for number, shown in ends]
    return cells


def _problems(machine: Any, count: int) -> list[str]:
    if not hasattr(machine, "classes_") or count == 1:
        return ["all"] * count
    names = [*map(str, machine.classes_), "rest"]
    return [f"{names[a]} / {names[b]}" for a, b in machine.readout.problems]
