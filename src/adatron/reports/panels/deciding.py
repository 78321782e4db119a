"""Question 4: which samples decide."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...insight.twin import Twin, at_bound
from ...plots.insight import InfluenceDisplay
from ...quoted import upward
from ..facts import LATE, Facts, Missing
from ..page import BAR_HEIGHT, SAMPLES_SHOWN, Folded, Panel, SortableTable, Text, digits, percent

SAMPLE_BARS = 8  # Bars of the picture.
COLOURS = "Blue: the coefficient is below its bound (free); red: it is at the bound."


def deciding(facts: Facts) -> Panel:
    """Show free, bound and wrong samples, and exact influence."""
    support = np.zeros(facts.n, bool)
    support[facts.machine.support_] = True
    count = int(support.sum())
    panel = Panel("Which samples decide?", f"{count:,} of {facts.n:,} samples ({percent(count / facts.n)}) decide")
    twin = facts.twin
    panel.parts.append(_counts(facts, support, None if isinstance(twin, Missing) else twin))
    found = facts.influence
    if isinstance(found, Missing):
        panel.answer += "; what changes without one of them is not known."
        panel.note(found.reason)
        return panel
    panel.answer += "."
    if len(found.change):
        panel.answer += f" Without the most influential one, values change by {digits(found.change[0])} on average."
    display = InfluenceDisplay.of(found, None if facts.task == "novelty" else facts.y)
    if not facts.rows:
        display.labels = [f"number {k}" for k in range(1, len(found.numbers) + 1)]
    height = 1.1 + BAR_HEIGHT * min(SAMPLE_BARS, max(3, len(found.change)))
    what = "prediction" if facts.task == "regression" else "decision value"
    text = f"Mean change of the {what} if one sample is deleted, by exact deletion; the largest changes. {COLOURS}"
    panel.parts.insert(0, facts.gallery.draw(lambda ax: display.plot(ax=ax, shown=SAMPLE_BARS), text, height=height))
    if facts.rows and len(found.change):
        panel.parts.append(_table(facts, found))
    part = "all" if found.complete else f"{len(found.numbers):,} (drawn by chance)"
    late = facts.clock.late and not found.complete
    worst, proven = (upward(np.nanmax(one, initial=0.0)) for one in (found.path_violation, found.proven))
    text = (
        f"Deleted one after the other: {part} of the {found.n_candidates:,} samples that can matter. The model without "
        f"each is exact: the KKT violation is about {worst} by the gradient that the path keeps, and for the first "
        f"{int(np.isfinite(found.proven).sum())} proven to be at most {proven}. A "
        "deletion costs about the number of samples times the free support vectors. A sample can matter if it is a "
        "support vector, or holds b without being one. Deleting any other sample changes nothing. A sample that occurs "
        "twice has little influence: the other one takes its place. Steps before the machine stay as they are."
    )
    text += f" There was no time for more. {LATE}" if late else ""
    panel.parts.append(Folded("How influence is measured", Text(text, "note")))
    return panel


def _counts(facts: Facts, support: Any, twin: Twin | None) -> SortableTable:
    bound = np.zeros(facts.n, bool)
    if twin is not None:
        bound[twin.numbers] = at_bound(twin)
    predicted = facts.predicted(facts.values)
    if facts.task == "classification":
        groups = [(str(one), facts.y == one) for one in facts.machine.classes_]
        wrong = predicted != facts.y
        name = "wrong"
    else:
        groups = [("all", np.ones(facts.n, bool))]
        # NuSVR finds the tube. A residual meets its edge up to the violation that the fit has left.
        size = float(getattr(facts.machine, "epsilon_", getattr(facts.machine, "epsilon", 0.0)))
        size += 2.0 * float(np.nan_to_num(facts.machine.certificate_.violation, posinf=0.0))
        novelty = facts.task == "novelty"
        wrong = predicted != facts.subject.wanted if novelty else np.abs(predicted - facts.y) > size
        name = "outside" if novelty else "beyond the tube"
        if hasattr(facts.machine, "quantile"):
            wrong, name = facts.y < predicted, "below the curve"
    rows: list[list[Any]] = []
    known = twin is not None
    for group, here in groups:
        counts: list[Any] = [int((support & here).sum())]
        counts += [int((support & ~bound & here).sum()), int((bound & here).sum())] if known else ["–", "–"]
        rows.append([group, int(here.sum()), *counts, int((wrong & here).sum())])
    head = ("class" if facts.task == "classification" else "samples", "count", "support vectors", "free", "bound", name)
    which = " Bound: the coefficient is at C; free: between 0 and C." if known else ""
    return SortableTable(head, rows, f"Samples of the fit.{which}")


def _table(facts: Facts, found: Any) -> SortableTable:
    scored = not np.isnan(found.base)
    head = ["row", *([] if facts.task == "novelty" else ["target"]), "coefficient", "bound", "mean change"]
    head += ["changed predictions"] if facts.task != "regression" else []
    head += ["change of the score"] if scored else []
    rows: list[list[Any]] = []
    for k, number in enumerate(found.numbers[:SAMPLES_SHOWN].tolist()):
        row: list[Any] = [number, *([] if facts.task == "novelty" else [facts.y[number]])]
        row += [found.coefficient[k], found.bound[k], found.change[k]]
        row += [int(found.flips[k])] if facts.task != "regression" else []
        rows.append(row + ([found.score[k]] if scored else []))
    measured = f"measured on {found.n_probes:,} {found.probes} samples"
    return SortableTable(head, rows, f"The most influential samples; {measured}.")
