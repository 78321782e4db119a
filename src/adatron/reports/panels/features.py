"""Question 7: which features matter."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...insight.sensitivity import FLIP_FEATURES as ALONE
from ...plots.insight import SensitivityDisplay
from ..facts import LATE, Facts, Missing
from ..page import BAR_HEIGHT, Folded, Panel, SortableTable, Text, percent

FEATURES_SHOWN, FEATURE_BARS = 50, 10  # Rows of the table, and bars of the picture.


def features(facts: Facts) -> Panel:
    """Show slopes at the boundary, and changes of single features that change a prediction."""
    panel = Panel("Which features matter?", "Nothing is known.")
    found = facts.sensitivity
    if isinstance(found, Missing):
        panel.note(found.reason)
        return panel
    names = facts.names
    order = np.argsort(-found.effect, kind="stable")
    moved = "prediction" if facts.task == "regression" else "decision function"
    panel.answer = f"The {moved} changes most with {names[order[0]]}."
    alone = np.nan_to_num(found.flips, nan=-1.0)
    most = int(np.argmax(alone))
    if alone[most] > 0.0:
        panel.answer += (
            f" Alone, over its range, {names[most]} changes the prediction of {percent(alone[most])} of "
            f"{found.n_tried} samples, and no other one changes more."
        )
    height = 1.0 + BAR_HEIGHT * min(FEATURE_BARS, max(3, len(names)))
    display = SensitivityDisplay(found, names)
    where = "samples" if facts.task == "regression" else "nearest boundary points of samples"
    text = f"Mean |∂f/∂x| at {found.n_points:,} {where}, times the standard deviation of the feature."
    panel.parts.append(facts.gallery.draw(lambda ax: display.plot(ax=ax, shown=FEATURE_BARS), text, height=height))
    head = ["feature", "mean |∂f/∂x|", "times its deviation"]
    tried = facts.task != "regression"
    head += ["part it changes alone", "smallest change (median)"] if tried else []
    rows: list[list[Any]] = []
    for j in order[:FEATURES_SHOWN].tolist():
        row: list[Any] = [names[j], found.slope[j], found.effect[j]]
        rows.append(row + ([found.flips[j], found.smallest[j]] if tried else []))
    panel.parts.append(SortableTable(head, rows, "Features, the strongest first."))
    if found.n_points < found.n_wanted:
        panel.note(f"There was time for {found.n_points:,} of {found.n_wanted:,} points. {LATE}")
    single, most = int(np.isfinite(found.flips).sum()), min(ALONE, len(names))
    if tried:
        late = f"There was time for {single} of {most} features. Each"
        text = (
            f"{'Each of the strongest features' if single == most else late} took 48 values over its range, for "
            f"{found.n_tried} samples; where the prediction changed, the change was halved to its smallest. A change "
            "between two of these values is missed."
        )
        panel.parts.append(Folded("How changes are found", Text(text, "note")))
    if found.space == "transformed":
        panel.note("Features are those after the steps of the pipeline, as these are not linear.")
    return panel
