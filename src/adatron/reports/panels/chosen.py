"""Question 3: is it well chosen."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from ...estimators.incremental.leave_out import loo_values
from ...outcome import edges_of
from ...plots.axes import COLORS
from ...plots.leave_one_out import LeaveOneOutDisplay
from ...plots.search import SearchDisplay
from ..facts import Facts, Missing, known
from ..parts import Figure, Panel, Table, Text, percent, said

CLOSE = 1e-9


def chosen(facts: Facts) -> Panel:
    """Show the error over the main parameter, and the map of a search."""
    panel = Panel("Is it well chosen?", "Nothing is known: no search was given, and the error over C is not available.")
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
        panel.parts.append(Text(found.reason, "note"))
        return
    own, best = float(found.error[found.own]), float(found.error[found.best])
    numbers = facts.task == "regression"
    text = (lambda error: said(np.sqrt(error))) if numbers else percent
    what = "root of the mean squared leave-one-out error" if numbers else "leave-one-out error"
    panel.answer = (
        f"The exact {what} is {text(own)} at the model's C = {said(found.C[found.own])}; the least of "
        f"{len(found.C)} values of C has {text(best)} at C = {said(found.C[found.best])}."
    )
    if found.best in (0, len(found.C) - 1):
        panel.parts.append(
            Text(f"The least error is at the edge, C = {said(found.C[found.best])}: try values beyond.", "warning")
        )
    name = "mean squared leave-one-out error" if numbers else "leave-one-out error"
    picture = facts.gallery.draw(lambda ax: LeaveOneOutDisplay(found, name).plot(ax=ax))
    panel.parts.append(Figure(picture, f"Exact leave-one-out error over C, for {found.n_asked:,} samples at each C."))


def _over_nu(facts: Facts, panel: Panel) -> None:
    """Show what nu promises and what it does: parts outside, support vectors, exact leave-one-out."""

    def table() -> list[list[Any]]:
        twin = facts.twin
        if isinstance(twin, Missing):
            raise ValueError(twin.reason)
        rows: list[list[Any]] = []
        for nu in sorted({min(1.0, factor * twin.model.nu) for factor in (0.25, 0.5, 1.0, 2.0, 4.0)}):
            model: Any = clone(twin.model)
            model.set_params(nu=nu).fit(facts.subject.rows, sample_weight=facts.subject.weight)
            values = model.decision_function(facts.subject.rows)
            slots = np.arange(min(model.store.n, twin.affordable // 5))
            outside = float(np.mean(loo_values(model, slots=slots)[:, 0] < 0.0))
            rows.append([nu, float(np.mean(values < 0.0)), len(model.support_) / facts.n, outside])
        return rows

    rows = known(table)
    if isinstance(rows, Missing):
        panel.parts.append(Text(rows.reason, "note"))
        return
    own = next(row for row in rows if row[0] >= facts.machine.nu * (1.0 - CLOSE))
    panel.answer = (
        f"nu = {said(own[0])} allows at most that part outside: {percent(own[1])} are; of samples that are left out, "
        f"exactly, {percent(own[3])}."
    )

    def draw(ax: Any) -> None:
        for k, name in enumerate(("outside (at most nu)", "support vectors (at least nu)", "outside, left out"), 1):
            ax.plot([row[0] for row in rows], [row[k] for row in rows], "o-", color=COLORS[k - 1], label=name)
        ax.plot([0.0, 1.0], [0.0, 1.0], ":", color="0.5", label="nu")
        ax.set(xlabel="nu", ylabel="part of the samples", xlim=(0, 1.05 * rows[-1][0]), ylim=(0, None))
        ax.legend(fontsize="small")

    panel.parts.append(Figure(facts.gallery.draw(draw), "What nu promises, and what it does."))
    panel.parts.append(Table(("nu", "outside", "support vectors", "outside, left out"), rows))


def _searched(facts: Facts, panel: Panel) -> None:
    """Show the map of a search, and say if its best candidate lies at an edge."""
    results = facts.search.cv_results_
    best = dict(results["params"][facts.search.best_index_])
    words = ", ".join(f"{name} = {said(one) if isinstance(one, float) else one}" for name, one in best.items())
    score = float(results[_score_name(facts.search)][facts.search.best_index_])
    panel.answer += f" The search chose {words} with the mean score {said(score)}."
    for name, end in edges_of(facts.search).items():
        text = f"{name} = {best[name]} is the {end} of the values tried, at the edge: try values beyond."
        panel.parts.append(Text(text, "warning"))
    picture = known(lambda: facts.gallery.draw(lambda ax: SearchDisplay.from_search(facts.search, ax=ax)))
    if not isinstance(picture, Missing):
        panel.parts.append(Figure(picture, "Mean score of the search over its two main parameters."))
    order = np.argsort(results[f"rank_{_score_name(facts.search)[5:]}"], kind="stable")[:20]
    names = sorted(best)
    rows = [
        [*(results["params"][k].get(name, "") for name in names), float(results[_score_name(facts.search)][k])]
        for k in order.tolist()
    ]
    panel.parts.append(Table([*names, "mean score"], rows, "The best candidates of the search."))


def _score_name(search: Any) -> str:
    """Return the column of the scores that chose."""
    names = [name for name in search.cv_results_ if name.startswith("mean_test_")]
    refit = f"mean_test_{search.refit}"
    return refit if refit in names else names[0]
