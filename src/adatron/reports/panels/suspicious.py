"""Question 5: which labels are suspicious."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...insight.subject import dense, taken
from ...plots.insight import LabelIssueDisplay, pictures
from ..facts import Facts, Missing
from ..page import BAR_HEIGHT, SAMPLES_SHOWN, Panel, SortableTable, percent
from .deciding import COLOURS, SAMPLE_BARS

SAMPLE_FEATURES = 6  # Features that the table shows of each sample.


def suspicious(facts: Facts) -> Panel:
    """Show the samples that the model of all others puts elsewhere."""
    novelty, numbers = facts.task == "novelty", facts.task == "regression"
    question = {"regression": "Which targets are suspicious?", "novelty": "Which samples are outliers?"}
    panel = Panel(question.get(facts.task, "Which labels are suspicious?"), "Nothing is known.")
    found = facts.issues
    if isinstance(found, Missing):
        panel.note(found.reason)
        return panel
    requested, count = len(found.left_out.numbers), len(found.numbers)
    lie, its, be = ("lies", "its", "is") if count == 1 else ("lie", "their", "are")
    what = {
        "regression": f"{lie} more than three median errors from {its} prediction",
        "novelty": f"{be} outside",
    }.get(facts.task, f"{be} misclassified")
    bound = int(found.bound.sum())
    share = percent(count / max(1, requested))
    panel.answer = f"{count:,} of {requested:,} samples ({share}) {what} by exact leave-one-out"
    panel.answer += f"; {bound:,} of them {'is' if bound == 1 else 'are'} at the bound." if count else "."
    if not count:
        return panel
    display = LabelIssueDisplay(found)
    if facts.rows:
        shape = facts.image_shape
        if shape is not None and not novelty:
            display = LabelIssueDisplay(found, pictures(found, facts.subject.X, shape))
        height = 4.2 if display.images is not None else 1.1 + BAR_HEIGHT * min(SAMPLE_BARS, max(3, count))
        names = "beside the nearest samples of the class that the others propose" if display.images is not None else ""
        wrong = "how far the others put it outside" if novelty else "how far the others put it on the wrong side"
        text = "error without the sample" if numbers else f"{wrong} (the margin is 1)"
        text = f" {names}" if names else f": {text}. {COLOURS}".removesuffix(".")
        text = f"The {'outermost' if novelty else 'most suspicious'} samples{text}."
        panel.parts.append(facts.gallery.draw(lambda ax: display.plot(ax=ax, shown=SAMPLE_BARS), text, height=height))
        panel.parts.append(_table(facts, found))
    return panel


def _table(facts: Facts, found: Any) -> SortableTable:
    novelty = facts.task == "novelty"
    head = ["row", *([] if novelty else ["given", "proposed"]), "value", "bound", *([] if novelty else ["opponents"])]
    features = _strongest(facts)
    head += [facts.names[j] for j in features]
    rows: list[list[Any]] = []
    for k, number in enumerate(found.numbers[:SAMPLES_SHOWN].tolist()):
        row: list[Any] = [number, *([] if novelty else [found.given[k], found.proposed[k]]), found.score[k]]
        row.append(found.bound[k])
        if not novelty:
            row.append(", ".join(str(one) for one in found.opponents[k].tolist() if one >= 0) or "–")
        rows.append(row + _features(facts, number, features))
    caption = "The most suspicious samples. Opponents: the nearest samples, by the kernel, that speak against it."
    return SortableTable(head, rows, "The outermost samples." if novelty else caption)


def _strongest(facts: Facts) -> list[int]:
    """Return the features that are shown: those that move the boundary most."""
    found = facts.sensitivity
    if facts.image_shape is not None or isinstance(found, Missing) or found.space != "original":
        return []
    return np.argsort(-found.effect, kind="stable")[:SAMPLE_FEATURES].tolist()


def _features(facts: Facts, number: int, features: list[int]) -> list[Any]:
    if not features:
        return []
    row = taken(facts.subject.X, [number])
    row = dense(row.to_numpy() if hasattr(row, "to_numpy") else row)[0]
    return [float(row[j]) for j in features]
