"""Figures 2 to 5: the original machine and the one with a large margin, in one draw and in a hundred."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray

from ...plots.axes import off_screen
from ...plots.input_margin import InputMarginDisplay
from ..report import Section, Sheet
from .mixtures import draw, maximised, original

SEED = 5  # The draw, of the first ones, whose margins are most like the paper's 0.040 and 0.096.
RULES = {"best": "the paper's rule", "damped": "damped"}
WANTED = {"best": 0.90, "damped": 0.96}  # Fraction of the draws whose margin should grow.
MORE = 1.0 + 1e-6  # Ratio of two margins above which the second one is larger, and not rounded.
ENOUGH_DRAWS = 100  # Draws above which a mean says something.


def example(sheet: Sheet) -> Section:
    """Compare margins before and after five steps."""
    section = Section("Figures 2 and 3: one draw, original and after five steps")
    data = draw(SEED)
    before, after = original(data), maximised(data, "best")
    margins = [float(after.margin_path_[0]), float(after.margin_)]
    section.add("margin, original and maximised", [0.040, 0.096], margins, margins[1] > margins[0])
    section.add("test error", None, [data.error(before), data.error(after)])
    section.add("support vectors", "not much more", [int(before.n_support_.sum()), int(after.n_support_.sum())])
    section.remarks.append("The paper's samples are not known: ours are another draw.")
    if sheet.folder is not None:
        for name, model in (("figure_2", before), ("figure_3", after)):
            sheet.save(section, name, InputMarginDisplay.from_estimator(model, data.X, data.y, ax=off_screen()).ax_)
    return section


def sections(n_draws: int, sheet: Sheet) -> Iterator[Section]:
    """Yield both figures, for both rules."""
    rows: Any = joblib.Parallel(n_jobs=-1)(joblib.delayed(_one)(seed) for seed in range(n_draws))
    found = {name: np.array([row[name] for row in rows]) for name in ("margin", "error", *RULES)}
    yield _margins(found, sheet)
    yield _errors(found, sheet)


def _one(seed: int) -> dict[str, Any]:
    """Return margin and test error of the original machine, and both by each rule."""
    data = draw(seed)
    models = {rule: maximised(data, rule) for rule in RULES}
    after = {rule: (float(model.margin_), data.error(model)) for rule, model in models.items()}
    return {"margin": float(models["best"].margin_path_[0]), "error": data.error(original(data)), **after}


def _margins(found: dict[str, NDArray[np.float64]], sheet: Sheet) -> Section:
    section = Section(f"Figure 4: margins of {len(found['margin'])} draws")
    before, n = found["margin"], len(found["margin"])
    for rule, name in RULES.items():
        ratio = found[rule][:, 0] / before
        grown = int((ratio > MORE).sum())
        section.add(f"{name}: draws whose margin grows", "96 of 100", f"{grown} of {n}", grown >= WANTED[rule] * n)
        section.add(f"{name}: ratios, smallest and largest", [1.0, 27.9], [float(ratio.min()), float(ratio.max())],
                    bool(ratio.min() >= 1.0 and ratio.max() > 5.0))  # fmt: skip
        section.add(f"{name}: geometric mean of the ratios", None, float(np.exp(np.log(ratio).mean())))
    better = found["damped"][:, 0] / found["best"][:, 0]
    section.add("damped larger, and smaller, than the paper's rule by more than 1 %", None,
                [int((better > 1.01).sum()), int((better < 0.99).sum())])  # fmt: skip
    _scatter(section, sheet, "figure_4", before, {rule: found[rule][:, 0] for rule in RULES}, "margin")
    return section


def _errors(found: dict[str, NDArray[np.float64]], sheet: Sheet) -> Section:
    section = Section(f"Figure 5: test errors of {len(found['error'])} draws")
    before = found["error"]
    for rule, name in RULES.items():
        after = found[rule][:, 1]
        ratio, change = after / before, after - before
        error = float(change.std() / np.sqrt(len(change)))
        better = bool(after.mean() < before.mean()) if len(change) >= ENOUGH_DRAWS else None
        section.add(f"{name}: ratios, smallest and largest", [0.40, 1.37], [float(ratio.min()), float(ratio.max())])
        section.add(f"{name}: mean test error before and after", "better on average",
                    [float(before.mean()), float(after.mean())], better,
                    f"change {change.mean():+.4f} ± {error:.4f}")  # fmt: skip
    section.remarks.append("The mixtures overlap: most of the error is that of the best possible classifier.")
    _scatter(section, sheet, "figure_5", before, {rule: found[rule][:, 1] for rule in RULES}, "test error")
    return section


def _scatter(
    section: Section, sheet: Sheet, name: str, before: NDArray[np.float64], after: dict[str, Any], what: str
) -> None:
    if sheet.folder is None:
        return
    ax = off_screen()
    for (rule, values), mark in zip(after.items(), "o+", strict=True):
        ax.loglog(before, values, mark, markersize=4, label=RULES[rule])
    ends = [
        min(before.min(), *(v.min() for v in after.values())),
        max(before.max(), *(v.max() for v in after.values())),
    ]
    ax.plot(ends, ends, "-", color="0.7", linewidth=1, zorder=0)
    ax.set(xlabel=f"{what}, original", ylabel=f"{what}, maximised", title=section.title)
    ax.legend()
    sheet.save(section, name, ax)
