"""The outcome of a search, for people and for programs."""

from __future__ import annotations

from importlib import metadata
from typing import Any

import numpy as np

from ..outcome import edges_of, is_number, positions, short, values_of, varied
from .status import TableRows

MAP_COLUMNS = 12  # Most columns of a map.
BEST_SHOWN = 10  # Most candidates of a list.


def brief(value: Any) -> str:
    """Return a value as people read it."""
    return f"{value:.4g}" if is_number(value) else str(value)


def best_rows(search: Any, scoring: str) -> TableRows:
    """Return the best candidate as rows of a name and a value."""
    results, at = search.cv_results_, search.best_index_
    score, deviation = results["mean_test_score"][at], results["std_test_score"][at]
    rows: TableRows = [(f"best {scoring}", f"{score:.6g} (± {deviation:.2g} over {search.n_splits_} folds)")]
    rows += [(short(name), brief(value)) for name, value in search.best_params_.items()]
    there = edges_of(search)
    if there:
        said = " and ".join(f"the {word} {short(name)}" for name, word in there.items())
        rows.append(("at the edge", f"{said}: better ones may lie beyond"))
    finished = int(np.isfinite(results["mean_test_score"]).sum())
    total = len(results["params"])
    rows.append(("candidates", str(total) if finished == total else f"{total}, {total - finished} without a score"))
    doubtful = ~np.asarray(results.get("converged", [True]), bool) & np.isfinite(results["mean_test_score"])
    if doubtful.any():
        rows.append(("not converged", f"{int(doubtful.sum())} candidates"))
    return rows


def table(search: Any) -> str:
    """Return the scores: a map of two parameters, or the best candidates."""
    results, best = search.cv_results_, search.best_index_
    names = sorted(varied(results), key=lambda name: short(name) != "C")
    means = [f"{mean:.4f}" if np.isfinite(mean) else "-" for mean in results["mean_test_score"].tolist()]
    scores = [mean + ("*" if at == best else " ") for at, mean in enumerate(means)]
    if len(names) == 2 and len(values_of(results, names[1])) <= MAP_COLUMNS:
        rows, columns = (values_of(results, name) for name in names)
        places = (positions(results, names[0], rows), positions(results, names[1], columns))
        cells = dict(zip(zip(*(one.tolist() for one in places), strict=True), scores, strict=True))
        lines = [[" \\ ".join(map(short, names)), *(f"{brief(value)} " for value in columns)]]
        lines += [[brief(row), *(cells.get((i, j), "") for j in range(len(columns)))] for i, row in enumerate(rows)]
        return _aligned(lines)
    order = np.argsort(results["rank_test_score"], kind="stable").tolist()
    chosen = [(scores[at], results["params"][at]) for at in order[:BEST_SHOWN]]
    lines = [[score, *(brief(one[name]) if name in one else "" for name in names)] for score, one in chosen]
    more = len(order) - BEST_SHOWN
    shown = _aligned([["score ", *map(short, names)], *lines])
    return shown + (f"... {more} further candidates\n" if more > 0 else "")


def _aligned(lines: list[list[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    padded = ([f"{word:>{width}}" for word, width in zip(line, widths, strict=True)] for line in lines)
    return "".join("  ".join(words).rstrip() + "\n" for words in padded)


def summary(search: Any, scoring: str, task: str, kind: str, seconds: float) -> dict[str, Any]:
    """Return the outcome under the keys of the JSON output; ``cv_results`` is laid out as scikit-learn's."""
    return {
        "adatron": metadata.version("adatron"),
        "class": kind,
        "task": task,
        "scoring": scoring,
        "folds": search.n_splits_,
        "seconds": seconds,
        "end": search.end_,
        "best_params": {short(name): value for name, value in search.best_params_.items()},
        "best_score": float(search.cv_results_["mean_test_score"][search.best_index_]),
        "at_edge": {short(name): word for name, word in edges_of(search).items()},
        "cv_results": search.cv_results_,
    }
