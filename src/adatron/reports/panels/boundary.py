"""Question 6: where is the boundary."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...insight import boundary_plane
from ...insight.plane import typical
from ...plots.plane import BoundaryPlaneDisplay
from ...quoted import raised
from ..facts import LATE, Facts, Missing, known
from ..page import PICTURE_WIDTH, Panel


def boundary(facts: Facts) -> Panel:
    """Show planes through samples and their nearest boundary points."""
    numbers = facts.task == "regression"
    panel = Panel("How does the prediction change?" if numbers else "Where is the boundary?", "")
    if not facts.rows:
        panel.answer = "Left out: planes go through samples, and samples='none' shows none."
        return panel
    samples, drawn = _samples(facts, panel), 0
    for sample, what in samples:
        if drawn and facts.clock.late:
            panel.note(f"There was time for {drawn} of {len(samples)} planes. {LATE}")
            break
        drawn += 1
        y = facts.y if facts.task == "classification" else None
        found = known(lambda sample=sample, y=y: boundary_plane(facts.subject.model, facts.subject.X, y, sample=sample))
        if isinstance(found, Missing):
            panel.note(found.reason)
            panel.answer = panel.answer or "It cannot be drawn for this model."
            continue
        display = BoundaryPlaneDisplay.of(found, facts.subject.model, y)
        display.unit = facts.unit
        size = (PICTURE_WIDTH, 3.8) if numbers else (3.9, 4.4)
        text = f"The plane through {what} (row {found.numbers[0]})."
        panel.parts.append(facts.gallery.draw(lambda ax, display=display: display.plot(ax=ax), text, *size))
        if not panel.answer and not numbers:
            distance = float(found.points[1, 0])
            panel.answer = (
                f"The boundary is {facts.length(distance)} away from a typical sample (row {found.numbers[0]}); "
                f"proven: nothing changes within {facts.length(-raised(-found.certified))}."
            )
    if numbers and not panel.answer:
        panel.answer = "Along the direction of steepest ascent of a typical sample, as drawn."
    space = " after the steps of the pipeline" if facts.subject.way.steps else ""
    own = "the colours in it are the model's own values"
    own = own if numbers else "the border of two colours is the model's own boundary"
    text = (
        f"Each picture is a plane in the space of the features{space}, and {own}: every point was predicted. The plane "
        "goes through the three red marks; the square is a third sample. Small marks are other samples, projected onto "
        "the plane; they do not lie in it."
    )
    if samples:
        panel.note(text)
    return panel


def _samples(facts: Facts, panel: Panel) -> list[tuple[int | None, str]]:
    """Return the samples to draw; None is any one. If there is none, the panel says why."""
    if facts.task == "regression":
        return [(None, "a typical sample")]
    margins = facts.margins
    at = margins if isinstance(margins, Missing) else known(lambda: int(margins[0][typical(margins[1])]))
    if isinstance(at, Missing):
        panel.answer = "There was no time for it." if facts.clock.late else "It cannot be drawn for this model."
        panel.note(at.reason)
        return []
    out: list[tuple[int | None, str]] = [(at, "a typical sample")]
    issues: Any = facts.issues
    if facts.task == "classification" and not isinstance(issues, Missing) and len(issues.numbers):
        out.append((int(issues.numbers[0]), "the most suspicious sample"))
    support = facts.machine.support_
    if len(support):
        values = np.abs(facts.values[support]).min(axis=1)
        out.append((int(support[int(np.argmax(values))]), "a support vector that is far from f = 0"))
    return [one for k, one in enumerate(out) if one[0] not in [row for row, _ in out[:k]]]
