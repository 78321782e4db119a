"""Question 3: is it well chosen."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ...insight.leave_one_out import refitted
from ...insight.subject import Unavailable, drawn, in_time
from ...learning.leave_out import loo_values
from ...outcome import best_of, edges, measure_of, metric_of, metrics_of, short, varied
from ...plots.axes import COLORS
from ...plots.insight import LOO_ERROR, LOO_RMSE, LeaveOneOutDisplay
from ...plots.search import SearchDisplay
from ...selection.ranges.auto import DISTANT, SCALED
from ..facts import LATE, Facts, Missing, known, needed
from ..page import Panel, SortableTable, Text, digits, percent

ROUNDED_APART = 1e-9  # Relative difference that is rounding.
TIMES = (0.25, 0.5, 1.0, 2.0, 4.0)  # What nu is multiplied by.


def chosen(facts: Facts) -> Panel:
    """Show the error over the main parameter, and the map of a search."""
    panel = Panel("Is it well chosen?", "Nothing is known: the error over C is not available.")
    if facts.task == "novelty":
        _over_nu(facts, panel)
    else:
        _over_C(facts, panel)
    if facts.search is not None:
        _searched(facts, panel)
    return panel


def _over_C(facts: Facts, panel: Panel) -> None:
    found = facts.along_C
    if isinstance(found, Missing):
        panel.note(found.reason)
        return
    numbers = facts.task == "regression"
    shown = digits if numbers else percent

    def error(k: int) -> str:
        doubt = float(found.uncertainty[k])
        return f"{shown(float(found.error[k]))} ± {shown(doubt)}" if doubt else shown(float(found.error[k]))

    best = f"C = {digits(found.C[found.best])}"
    same = found.error[found.own] <= found.error[found.best]
    verdict = f"no, {best}" if found.clear else f"yes, none of {len(found.C)} values"
    panel.answer = f"C: {verdict} is clearly better. L{LOO_RMSE[1:] if numbers else LOO_ERROR[1:]}: {error(found.own)}"
    panel.answer += f" at the model's C = {digits(found.C[found.own])}"
    panel.answer += ", the best." if same else f"; best: {digits(found.C[found.best])} ({error(found.best)})."
    if left := _unexamined(facts):
        panel.answer += f" {' and '.join(left)} {'were' if len(left) > 1 else 'was'} not examined: `adatron search` or "
        panel.answer += "GridSearchCV."
    if found.best in (0, len(found.C) - 1) and np.ptp(found.error) > ROUNDED_APART * found.error[found.best]:
        panel.parts.append(Text(f"The smallest error is at the edge, {best}: try values beyond.", "warning"))
    name = LOO_RMSE if numbers else LOO_ERROR
    text = f"Exact leave-one-out error over C, for {found.n_asked:,} samples at each C."
    if found.n_asked < facts.n and found.uncertainty.any():
        text += " They say by how much another C changes the error of question 2, which has more samples."
    panel.parts.append(facts.gallery.draw(lambda ax: LeaveOneOutDisplay(found, name).plot(ax=ax), text, height=2.4))
    if len(found.C) < found.n_wanted:
        panel.note(f"There was time for {len(found.C)} of {found.n_wanted} values of C. {LATE}")


def _unexamined(facts: Facts) -> list[str]:
    """Return the other main parameters, of which no search is known."""
    parameters = set(facts.machine.get_params(deep=False))
    if facts.machine.kernel not in (*DISTANT, *SCALED):
        parameters -= {"gamma"}
    tried = set() if facts.search is None else {short(name) for name in varied(facts.search.cv_results_)}
    return [name for name in ("gamma", "epsilon") if name in parameters - tried]


def _over_nu(facts: Facts, panel: Panel) -> None:
    """Show what nu promises and what it does: parts outside, support vectors, exact leave-one-out."""

    def table() -> list[list[Any]]:
        twin = needed(facts.twin)
        if getattr(twin.model, "C", None) is not None:
            raise Unavailable("This machine has C in place of nu.")
        rows: list[list[Any]] = []
        slots = drawn(twin.n, max(1, twin.affordable // len(TIMES)))
        tried = {min(1.0, factor * twin.model.nu) for factor in TIMES}
        for nu in sorted(tried, key=lambda nu: abs(np.log(nu / twin.model.nu))):  # the model's own first
            if rows and facts.clock.late:
                panel.note(f"There was time for {len(rows)} of {len(tried)} values of nu. {LATE}")
                break
            model = refitted(facts.subject, twin, nu=nu, max_time=facts.clock.left()).model
            values = model.decision_function(facts.subject.rows)
            out = np.concatenate(in_time(slots, facts.clock, partial(loo_values, model.learner, False))[1])[:, 0] < 0.0
            spread = float(out.std() / np.sqrt(len(out))) if len(out) < twin.n else 0.0
            below = -ROUNDED_APART * float(np.abs(values).max())  # rounding puts samples on the boundary to either side
            outside, vectors = float(np.mean(values < below)), len(model.support_) / facts.n
            rows.append([nu, outside, vectors, float(out.mean()), len(out), spread])
        return sorted(rows)

    rows = known(table)
    if isinstance(rows, Missing):
        panel.note(rows.reason)
        return
    own = next(row for row in rows if row[0] >= facts.machine.nu * (1.0 - ROUNDED_APART))
    how = f"estimated from {own[4]:,} of {facts.n:,}" if own[5] else "exactly"
    doubt = f" ± {percent(own[5])}" if own[5] else ""
    luck = 2.0 * float(np.sqrt(own[0] * (1.0 - own[0]) / own[4]))
    verdict = "Yes: it keeps its promise" if own[3] <= own[0] + luck else "No: new samples are outside more often"
    panel.answer = (
        f"{verdict}. nu = {digits(own[0])} allows at most that part outside: {percent(own[1])} are, and of samples "
        f"that are left out {percent(own[3])}{doubt}, {how}."
    )

    def draw(ax: Any) -> None:
        for k, name in enumerate(("outside (at most nu)", "support vectors (at least nu)", "outside, left out"), 1):
            ax.plot([row[0] for row in rows], [row[k] for row in rows], "o-", color=COLORS[k - 1], label=name)
        ax.plot([0.0, 1.0], [0.0, 1.0], ":", color="0.5", label="nu")
        ax.set(xlabel="nu", ylabel="part of the samples", xlim=(0, 1.05 * rows[-1][0]), ylim=(0, None))
        ax.legend(fontsize="small")

    panel.parts.append(facts.gallery.draw(draw, "What nu promises, and what it does."))
    head = ("nu", "outside", "support vectors", "outside, left out", "samples left out", "standard error")
    panel.parts.append(SortableTable(head, rows, "What nu promises, in numbers."))


def _searched(facts: Facts, panel: Panel) -> None:
    """Show the map of a search, and say if its best candidate lies at an edge."""
    search, results = facts.search, facts.search.cv_results_
    chose = callable(getattr(search, "refit", None))  # by something else than the best score
    metric = _metric(search)
    measure = measure_of(search, metric)
    index = np.array([search.best_index_]) if chose else best_of(results, metric)
    means = results[f"mean_test_{metric}"]
    if not len(index):
        panel.answer += f" No candidate of the search has a {measure}: the scorer gave no number. A scorer may need "
        panel.answer += "probabilities (probability=True) or exactly two classes."
        return
    # Of equal candidates, the search itself took the first.
    best = dict(results["params"][int(index[0])])
    words = ", ".join(f"{name} = {digits(one) if isinstance(one, float) else one}" for name, one in best.items())
    if hasattr(search, "best_index_"):
        panel.answer += f" The search chose {words} with the mean {measure} {digits(float(means[index[0]]))}."
    else:
        panel.answer += f" The search chose nothing (refit=False); {words} has the best mean {measure}, "
        panel.answer += f"{digits(float(means[index[0]]))}."
    for parameter, end in edges(results, index).items():
        value = digits(best[parameter]) if isinstance(best[parameter], float) else best[parameter]
        text = f"{parameter} = {value} is the {end} of the values tried, at the edge: try values beyond."
        panel.parts.append(Text(text, "warning"))
    if varied(results):
        text = f"Mean {measure} of the search over its two main parameters."
        draw = partial(SearchDisplay.from_search, search, metric=metric)
        panel.parts.append(facts.gallery.draw(lambda ax: draw(ax=ax), text, height=3.6))
    order = np.argsort(results[f"rank_test_{metric}"], kind="stable")[:20]
    names = sorted(best)
    rows = [[*(results["params"][k].get(one, "") for one in names), float(means[k])] for k in order.tolist()]
    panel.parts.append(SortableTable([*names, f"mean {measure}"], rows, "The best candidates of the search."))


def _metric(search: Any) -> str:
    """Return the metric that chose, else the first one."""
    known = metrics_of(search.cv_results_)
    refit = getattr(search, "refit", None)
    return metric_of(search) if len(known) == 1 or isinstance(refit, str) else known[0]
