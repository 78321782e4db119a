"""Question 8: how robust is it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import issparse

from ...estimators.base.classifier import slope
from ...insight.subject import dense, drawn, refuse_unmeasured
from ...margins import InputMargins, variation
from ...plots.axes import COLORS
from ...plots.input_margin import MarginDisplay, of_classes
from ...quoted import raised
from ...threads import Pool, allowed_threads
from ..facts import LATE, SAMPLES_MEASURED, Facts, Missing, known
from ..page import HALF_WIDTH, PICTURE_WIDTH, Figure, Panel, SortableTable, digits, grouped, percent

DISTANCES_SHOWN = (0.05, 0.25, 0.5, 0.75)  # Of the distances from the boundary.
BINS = 10  # Groups of samples by their distance.
RADII = (0.01, 0.03, 0.1, 0.3)  # Lengths of a step, as parts of the spread of the samples.
CURVES = 5  # Most classes in the picture of the distances.
CURVE_STEPS = 500  # Most steps of the curve of errors.


def robust(facts: Facts) -> Panel:
    """Show distances with certified lower ends, and whether confidence can be trusted."""
    panel = Panel("How robust is it?", "Nothing is known.")
    if facts.task == "regression":
        _steady(facts, panel)
        _coverage(facts, panel)
        return panel
    measured = facts.margins
    if isinstance(measured, Missing):
        panel.note(measured.reason)
    else:
        some, found = measured
        y = facts.y[some] if facts.task == "classification" else np.full(len(some), "samples")
        _distances(facts, panel, of_classes(found, y), found)
    if facts.task == "classification":
        _calibration(facts, panel)
    return panel


def _distances(facts: Facts, panel: Panel, groups: dict[str, Any], found: Any) -> None:
    there = found.distance[np.isfinite(found.distance)]
    if len(there):
        panel.answer = (
            f"Median distance to the boundary: {facts.length(np.median(there))}; proven for half of the samples: at "
            f"least {facts.length(-raised(-np.median(found.certified)))}."
        )
    nearest = sorted(groups, key=lambda name: float(np.median(groups[name].distance)))[:CURVES]
    shown = {name: one if facts.rows else _grouped(one) for name, one in groups.items() if name in nearest}
    alone = facts.task != "classification" or isinstance(facts.out_of_fold, Missing)
    display, width = MarginDisplay(shown, facts.unit), PICTURE_WIDTH if alone else HALF_WIDTH
    text = "Distances of samples from the nearest change that was found, and their certified lower ends (dotted)."
    if len(shown) < len(groups):
        text += f" The {CURVES} of {len(groups)} classes that are nearest."
    panel.parts.append(facts.gallery.draw(lambda ax: display.plot(ax=ax), text, width))
    head = ["samples", "count", *(f"{100 * q:.0f} % are nearer than" for q in DISTANCES_SHOWN)]
    rows: list[list[Any]] = []
    for name, one in groups.items():
        found_at, least = (np.quantile(values, DISTANCES_SHOWN).tolist() for values in (one.distance, one.certified))
        rows.append([f"{name}: found", one.distance.size, *found_at])
        rows.append([f"{name}: certified", one.certified.size, *(-raised(-value) for value in least)])
    panel.parts.append(SortableTable(head, rows, f"Quantiles of the distances ({facts.unit})."))
    text = f"Distances are measured on {len(found.distance):,} of {facts.n:,} samples."
    if len(found.distance) < min(facts.n, SAMPLES_MEASURED):
        text += f" There was no time for more. {LATE}"
    panel.note(text)


def _grouped(found: InputMargins) -> InputMargins:
    """Return means of the distances of several samples each."""
    distance, certified = (grouped(values)[0] for values in (found.distance, found.certified))
    return InputMargins(distance, found.projection[:0], certified, found.converged[:0])


def _calibration(facts: Facts, panel: Panel) -> None:
    """Draw how often predictions of a given confidence are right, for samples that were left out."""
    folds = facts.out_of_fold
    if isinstance(folds, Missing):
        panel.note(folds.reason)
        return
    machine: Any = facts.machine
    readout, y = machine.readout, facts.y[folds.numbers]
    factor = slope(readout.margins(folds.values, np.searchsorted(readout.labels, y)), np.ones(len(y)))
    probabilities = replace(readout, slope=factor).probabilities(folds.values)
    sure, right = probabilities.max(axis=1), folds.predicted == y
    ends = np.quantile(sure, np.linspace(0.0, 1.0, BINS + 1)[1:-1])
    group = np.searchsorted(ends, sure)
    rows = [
        [float(sure[group == g].mean()), float(right[group == g].mean()), int((group == g).sum())]
        for g in range(BINS)
        if (group == g).any()
    ]
    error = float(sum(abs(row[0] - row[1]) * row[2] for row in rows) / len(y))

    def draw(ax: Any) -> None:
        ax.plot([0.0, 1.0], [0.0, 1.0], ":", color="0.5", label="perfect")
        ax.plot([row[0] for row in rows], [row[1] for row in rows], "o-", color=COLORS[0], label="out of fold")
        low = min([0.5, *(min(row[:2]) for row in rows)]) - 0.02
        ax.set(xlabel="confidence in the predicted class", ylabel="part that is right")
        ax.set(xlim=(low, 1.02), ylim=(low, 1.02))
        ax.legend(fontsize="small")

    beside = any(isinstance(part, Figure) for part in panel.parts)
    panel.answer += f" Calibration error: {percent(error)} (out of fold)."
    panel.answer = panel.answer.replace("Nothing is known. ", "")
    text = "Calibration: a sigmoid of out-of-fold decision values, whose one slope was fitted to them."
    figure = facts.gallery.draw(draw, text, HALF_WIDTH if beside else PICTURE_WIDTH)
    panel.parts.insert(1 if beside else len(panel.parts), figure)


def _steady(facts: Facts, panel: Panel) -> None:
    """Show how far a prediction can move at most if a sample moves a little."""

    def table() -> list[list[Any]]:
        refuse_unmeasured(facts.machine)
        rows = facts.subject.rows
        spread = float(np.sqrt(dense(rows[drawn(facts.n, SAMPLES_MEASURED)]).var(axis=0).sum())) or 1.0
        # The bound grows with the norm of a row, so the longest row's bound holds for all.
        squares = np.asarray(rows.multiply(rows).sum(axis=1)).ravel() if issparse(rows) else np.square(rows).sum(axis=1)
        longest = dense(rows[[int(np.argmax(squares))]])
        field = facts.machine.model_.function().fields()[0]
        with Pool(allowed_threads(facts.machine.n_jobs)) as pool:
            radii = [(r, raised(r * spread, 3)) for r in RADII]
            return [[far, r, raised(variation(field, longest, far, pool), 3)] for r, far in radii]

    rows = known(table)
    if isinstance(rows, Missing):
        panel.note(rows.reason)
        return
    panel.answer = (
        f"Proven: a sample of the fit that moves by {facts.length(rows[0][0])} changes its prediction by at most "
        f"{digits(rows[0][2])}."
    )
    head = ("the sample moves by", "part of the spread", "the prediction changes by at most")
    text = f"Certified bounds, for every sample of the fit and every direction; lengths: {facts.unit}."
    panel.parts.append(SortableTable(head, rows, text))


def _coverage(facts: Facts, panel: Panel) -> None:
    """Show the sizes of errors for samples that were left out."""
    folds = facts.out_of_fold
    if isinstance(folds, Missing):
        panel.note(folds.reason)
        return
    size = np.sort(np.abs(folds.predicted - facts.y[folds.numbers]))

    def draw(ax: Any) -> None:
        shown = size if facts.rows else grouped(size)[0]
        parts = np.linspace(0.0, 1.0, min(len(shown), CURVE_STEPS) + 1)[1:]
        ax.step(np.quantile(shown, parts), parts, color=COLORS[0], label="out of fold")
        if getattr(facts.machine, "epsilon", None):
            ax.axvline(facts.machine.epsilon, color=COLORS[1], label="epsilon")
        ax.set(xlabel="size of the error", ylabel="part of the samples", xlim=(0, None), ylim=(0, 1))
        ax.legend(fontsize="small")

    panel.parts.append(facts.gallery.draw(draw, "Sizes of errors for samples that were left out."))
    levels = (0.5, 0.8, 0.9, 0.95)
    rows = [[level, float(np.quantile(size, level))] for level in levels]
    panel.parts.append(SortableTable(("part of the samples", "error of at most"), rows, "Sizes of errors, in numbers."))
