"""Question 2: is it good."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn import metrics

from ...insight.subject import drawn
from ...plots.axes import COLORS
from ...quality import of_classes, of_numbers, of_outliers, of_quantiles
from ..facts import LATE, Facts, Missing
from ..page import INK, Figure, Panel, SortableTable, digits, grouped, percent

CLASSES_WRITTEN = 30  # Most classes that a confusion matrix names, and whose counts it shows as numbers.
DOTS = 2_000  # Most points of a picture.
MeasuredOn = tuple[str, Any, Any, Any]  # name, targets, predictions, values of the problems


def good(facts: Facts) -> Panel:
    """Show scores on the samples of the fit, on left-out ones, and on others."""
    lines = _lines(facts)
    if (tau := getattr(facts.machine, "quantile", None)) is not None:
        head, rows = _quantiles(lines, float(tau))
    else:
        head, rows = {"classification": _classes, "regression": _numbers, "novelty": _outliers}[facts.task](lines)
    panel = Panel("Is it good?", _answer(facts, lines))
    panel.parts += _pictures(facts, lines)
    named = " RMSE: the root of the mean squared error." if facts.task == "regression" else ""
    panel.parts.append(SortableTable(head, rows, f"Scores, by the samples they were measured on.{named}"))
    for found in (facts.left_out, facts.out_of_fold):
        if isinstance(found, Missing):
            panel.note(found.reason)
    left, folds = facts.left_out, facts.out_of_fold
    if not isinstance(left, Missing) and not left.complete:
        panel.note(
            f"Leave-one-out is exact for {len(left.numbers):,} of {left.n_samples:,} samples, drawn by chance. Its "
            "numbers are estimates for all samples."
        )
    if not isinstance(folds, Missing) and folds.folds < folds.of:
        panel.note(f"There was time for {folds.folds} of {folds.of} folds, with {len(folds.numbers):,} samples. {LATE}")
    return panel


def _lines(facts: Facts) -> list[MeasuredOn]:
    y = facts.subject.wanted
    out: list[MeasuredOn] = [("samples of the fit", y, facts.predicted(facts.values), facts.values)]
    left, folds = facts.left_out, facts.out_of_fold
    if not isinstance(folds, Missing):
        out.append((folds.name, y[folds.numbers], folds.predicted, folds.values))
    if not isinstance(left, Missing):
        name = "exact" if left.complete else f"estimated from {len(left.numbers):,} of {left.n_samples:,}"
        out.append((f"leave-one-out ({name})", y[left.numbers], left.predicted, left.values))
    if facts.X_test is not None:
        values = facts.test_values
        out.append(("test", facts.y_test, facts.predicted(values), values))
    return out


def _answer(facts: Facts, lines: list[MeasuredOn]) -> str:
    words: list[str] = []
    left = facts.left_out
    spread = 0.0 if isinstance(left, Missing) else left.uncertainty
    for name, y, predicted, _ in lines[1:]:
        if y is None:
            continue
        doubt = f" ± {percent(spread)}" if spread and name.startswith("leave-one-out") else ""
        if facts.task == "classification":
            words.append(f"{name}: {percent(float(np.mean(predicted != y)))}{doubt} wrong")
        elif facts.task == "regression":
            words.append(f"{name}: RMSE {digits(of_numbers(predicted, y)['rmse'])}")
        else:
            words.append(f"{name}: {percent(float(np.mean(predicted == -1)))}{doubt} outside")
    text = "; ".join(words)
    return f"{text[:1].upper()}{text[1:]}." if text else "No samples were left out that could tell."


def _classes(lines: list[MeasuredOn]) -> tuple[Any, Any]:
    rows: list[list[Any]] = []
    for name, y, predicted, values in lines:
        if y is None:
            continue
        two = values.shape[1] == 1 and len(np.unique(y)) == 2
        area = float(metrics.roc_auc_score(y, values[:, 0])) if two else float("nan")
        found = of_classes(predicted, y)
        rows.append([name, len(y), found["accuracy"], found["balanced_accuracy"], float(np.mean(found["f1"])), area])
    return ("measured on", "samples", "accuracy", "balanced accuracy", "mean F1", "ROC-AUC"), rows


def _numbers(lines: list[MeasuredOn]) -> tuple[Any, Any]:
    found = [(name, of_numbers(p, y)) for name, y, p, _ in lines if y is not None and len(y) > 1]
    rows = [[name, one["samples"], one["r2"], one["rmse"], one["mae"]] for name, one in found]
    return ("measured on", "samples", "R²", "RMSE", "mean absolute error"), rows


def _quantiles(lines: list[MeasuredOn], tau: float) -> tuple[Any, Any]:
    found = [(name, of_quantiles(p, y, [tau])) for name, y, p, _ in lines if y is not None and len(y) > 1]
    rows = [[name, one["samples"], one["d2"], one["pinball"], *one["below"]] for name, one in found]
    return ("measured on", "samples", "D² of the pinball loss", "mean pinball loss", "part below the curve"), rows


def _outliers(lines: list[MeasuredOn]) -> tuple[Any, Any]:
    rows: list[list[Any]] = []
    for name, y, predicted, _ in lines:
        known = y is not None and name == "test" and np.isin(y, (-1, 1)).all()
        found = of_outliers(predicted, y if known else None)
        accuracy = found["accuracy"] if known else float("nan")
        rows.append([name, len(predicted), found["outliers"], found["outlier_share"], accuracy])
    return ("measured on", "samples", "outside", "part outside", "accuracy"), rows


def _pictures(facts: Facts, lines: list[MeasuredOn]) -> list[Figure]:
    measured = [line for line in lines if line[1] is not None]
    most = max(len(line[1]) for line in measured)
    shown = [line for line in measured if line[0] == "test" or len(line[1]) == most]
    name, y, predicted, _ = shown[-1]
    if facts.task == "classification":
        k = len(np.union1d(y, predicted))
        size = min(5.2, 2.2 + 0.27 * k) if k <= CLASSES_WRITTEN else 5.0

        def confusion(ax: Any) -> None:
            display: Any = metrics.ConfusionMatrixDisplay.from_predictions(
                y, predicted, ax=ax, cmap=_shades(), text_kw={"color": INK}, colorbar=k > CLASSES_WRITTEN,
                include_values=k <= CLASSES_WRITTEN, xticks_rotation="vertical" if k > 6 else "horizontal",
            )  # fmt: skip
            if k > CLASSES_WRITTEN:
                ax.set(xticks=[], yticks=[])
            else:
                _literal_ticks(display.ax_)

        text = f"Confusion matrix; the stronger the colour, the more samples. Measured on: {name}."
        return [facts.gallery.draw(confusion, text, size, 0.9 * size)]
    if facts.task == "regression":
        across, up = (predicted, y) if facts.rows else grouped(predicted, y)
        some = drawn(len(up), DOTS)

        def errors(ax: Any) -> None:
            ends = [float(min(up.min(), across.min())), float(max(up.max(), across.max()))]
            ax.plot(ends, ends, "-", color="0.5", linewidth=1)
            ax.plot(across[some], up[some], ".", color=COLORS[0], alpha=0.5)
            ax.set(xlabel="predicted", ylabel="target")

        text = "Targets over predictions" if facts.rows else "Mean target over mean prediction, in groups of samples"
        part = "" if len(some) == len(up) else f" {len(some):,} of them, drawn by chance."
        return [facts.gallery.draw(errors, f"{text}; measured on: {name}.{part}")]

    def heights(ax: Any) -> None:
        for k, (one, _, _, values) in enumerate(lines):
            height = values[:, 0] if facts.rows else grouped(values[:, 0])[0]
            bins = 40 if facts.rows else min(40, len(height))
            ax.hist(height, bins=bins, density=True, histtype="step", color=COLORS[k], label=one, linewidth=1.5)
        ax.axvline(0.0, color="0.5", linewidth=1)
        ax.set(xlabel="decision value (negative: outside)", ylabel="density")
        ax.legend(fontsize="small")

    return [facts.gallery.draw(heights, "Decision values.")]


def _shades() -> Any:
    """Return colours from the page's own ground, light or dark, to blue."""
    from matplotlib.colors import LinearSegmentedColormap, to_rgba

    return LinearSegmentedColormap.from_list("shades", [to_rgba(COLORS[0], 0.0), to_rgba(COLORS[0], 0.8)])


def _literal_ticks(ax: Any) -> None:
    from ...plots.axes import literal

    for axis in (ax.xaxis, ax.yaxis):
        labels = [literal(one.get_text()) for one in axis.get_ticklabels()]
        axis.set_ticks(axis.get_ticklocs(), labels)
