"""A search: its machine and grid, its checks, and its outcome for people and for programs."""

from __future__ import annotations

import sys
import time
from contextlib import redirect_stdout
from importlib import metadata
from pathlib import Path
from typing import Any

import click
import numpy as np
from pandas import DataFrame
from sklearn.metrics import get_scorer, get_scorer_names

from ..files import atomic_write
from ..files.table import shortened
from ..outcome import edges_of, is_number, positions, short, values_of, varied
from ..pipelines import way_to
from ..selection import GridSearchCV
from ..selection.ranges.auto import DISTANT, SCALED
from ..selection.search.theirs import error_of, method_of
from .options import RANGED, SEARCHED, taken
from .outputs import InputError, TableRows, echo_rows, warnings_as_lines
from .training import machine
from .values import AUTO_RANGE

OF_TWO = ("f1", "jaccard", "precision", "recall", "roc_auc")  # Scores of two classes, with others for more.
OWN_SCORE = "pinball D2"  # the score of the machine itself
SCORING = {"classification": "accuracy", "regression": "r2", "quantile": OWN_SCORE, "novelty": "balanced_accuracy"}
MAP_COLUMNS = 12  # Most columns of a map.
BEST_SHOWN = 10  # Most candidates of a list.


def machine_and_grid(
    task: str | None, svm: str | None, parameters: dict[str, Any], plot: str | None
) -> tuple[Any, dict[str, Any]]:
    """Return the machine with its fixed parameters, and the grid; each value is checked.

    Without parameters to search, these are the ones for which auto finds a range.
    """
    given = {name: values for name, values in taken(parameters, SEARCHED).items() if values is not None}
    for name, values in given.items():
        for value in values if values != AUTO_RANGE else (0.5,):
            machine(task, svm, parameters | {name: value})
    made = machine(task, svm, parameters)
    fixed = {name: values[0] for name, values in given.items() if values != AUTO_RANGE and len(values) == 1}
    made.set_params(**fixed)
    grid: dict[str, Any] = {
        name: values if values == AUTO_RANGE else list(values) for name, values in given.items() if name not in fixed
    }
    if not grid:
        known = set(made.get_params()) - ({"gamma"} if made.kernel not in DISTANT + SCALED else set())
        grid = {name: AUTO_RANGE for name in RANGED if name in known and name not in fixed}
    if plot and not any(values == AUTO_RANGE or len(values) > 1 for values in grid.values()):
        raise click.UsageError(f"--plot {plot}: no parameter has several values, so there is nothing to draw")
    return made, grid


def score_of(made: Any, scoring: str | None, task: str, probability: bool) -> str:
    """Return the name of the score; a machine gets the probabilities of classes that it takes."""
    if scoring is None:
        return SCORING[task]
    if scoring not in get_scorer_names():
        raise click.UsageError(f"--scoring {scoring!r} is none of {', '.join(get_scorer_names())}")
    method = method_of(get_scorer(scoring))
    needed = method == "predict_proba"
    if (needed and task == "novelty") or (method != "predict" and task in ("regression", "quantile")):
        what = "probabilities" if needed else "decision values"
        raise click.UsageError(f"--scoring {scoring} needs {what} of classes, and --task {task} has none")
    if needed and not probability:
        raise InputError(f"--scoring {scoring} needs probabilities of the classes: add --probability")
    if needed:
        made.set_params(probability=True)
    return scoring


def check_data(file: str, table: Any, task: str, scoring: str) -> None:
    """Fail if the data have other classes than the score needs."""
    classes = np.unique(table.y).tolist()
    if task == "novelty" and (table.y.dtype.kind not in "iuf" or set(classes) != {-1, 1}):
        raise InputError(
            f"{file}: a search with --task novelty compares by labels 1 (known) and -1 (new), and the labels are "
            f"{shortened(classes, 3)}: --label names another column"
        )
    if task == "classification" and scoring in OF_TWO and len(classes) > 2:
        named = [name for name in get_scorer_names() if name.startswith(f"{scoring}_") and "samples" not in name]
        raise InputError(
            f"--scoring {scoring} is for two classes, and {file} has {len(classes)}; for more there are "
            f"{', '.join(named)}"
        )


def searched(
    model: Any, grid: dict[str, Any], table: Any, cv: Any, scoring: str, limit: float | None, silent: bool
) -> tuple[Any, float]:
    """Return the search over a grid by the samples of each fold, fitted, and the seconds it took."""
    way = way_to(model)
    made = GridSearchCV(
        model, {(way.prefix or "") + name: values for name, values in grid.items()},
        scoring=None if scoring == OWN_SCORE else scoring, refit=False, cv=cv, verbose=0 if silent else 1,
        max_time=limit,
    )  # fmt: skip
    start = time.perf_counter()
    try:
        with warnings_as_lines(_briefly), redirect_stdout(sys.stderr):
            made.fit(table.X, table.y)
    except KeyboardInterrupt:
        raise click.Abort("interrupted before all folds of any candidate were finished") from None
    except ValueError as error:
        raise InputError(_briefly(str(error))) from error
    if not np.isfinite(made.cv_results_["mean_test_score"][made.best_index_]):
        error = error_of(model, table.X, table.y, made.scorer_, cv[0], made.cv_results_["params"][0])
        printed = "the scores are not finite" if error is None else error.partition(": ")[2]
        raise InputError(f"--scoring {scoring} has no value for any candidate: {printed}")
    return made, time.perf_counter() - start


def _briefly(text: str) -> str:
    """Return a message; if it is about failed fits or scores, the last error without its trace."""
    what = text.partition(".")[0]  # scikit-learn has no class of its own for these
    if "fits failed" not in what and what != "Scoring failed":
        return text
    last = text.rstrip().rpartition("\n")[2]
    return f"{what}: {last.partition('Error: ')[2] or last}"


def draw(found: Any, plot: str) -> None:
    """Draw the scores into a file."""
    from ..plots import SearchDisplay
    from ..plots.axes import off_screen

    if not varied(found.cv_results_):
        raise InputError(f"--plot {plot}: no parameter has several values, so there is nothing to draw")
    display = SearchDisplay.from_search(found, ax=off_screen(figsize=(8, 6)))
    with atomic_write(plot) as stream:
        display.figure_.savefig(stream, format=Path(plot).suffix[1:].lower())


def brief(value: Any) -> str:
    """Return a value as people read it."""
    return f"{value:.4g}" if is_number(value) else str(value)


def tell(search: Any, scoring: str) -> None:
    """Print the scores, and the best candidate as rows of a name and a value."""
    click.echo(table(search))
    results, at = search.cv_results_, search.best_index_
    score, deviation = results["mean_test_score"][at], results["std_test_score"][at]
    rows: TableRows = [(f"best {scoring}", f"{score:.6g} (± {deviation:.2g} over {search.n_splits_} folds)")]
    rows += [(short(name), brief(value)) for name, value in search.best_params_.items()]
    there = edges_of(search)
    if there:
        printed = " and ".join(f"the {word} {short(name)}" for name, word in there.items())
        rows.append(("at the edge", f"{printed}: better ones may lie beyond"))
    finished = int(np.isfinite(results["mean_test_score"]).sum())
    total = len(results["params"])
    rows.append(("candidates", str(total) if finished == total else f"{total}, {total - finished} without a score"))
    doubtful = ~np.asarray(results.get("converged", [True]), bool) & np.isfinite(results["mean_test_score"])
    if doubtful.any():
        rows.append(("not converged", f"{int(doubtful.sum())} candidates"))
    echo_rows(rows, err=False)


def table(search: Any) -> str:
    """Return the scores: a map of two parameters, or the best candidates."""
    results, best = search.cv_results_, search.best_index_
    names = sorted(varied(results), key=lambda name: short(name) != "C")
    means = [f"{mean:.4f}" if np.isfinite(mean) else "-" for mean in results["mean_test_score"].tolist()]
    scores = [mean + ("*" if at == best else " ") for at, mean in enumerate(means)]
    if len(names) == 2 and len(values_of(results, names[1])) <= MAP_COLUMNS:
        rows, columns = (values_of(results, name) for name in names)
        cells = np.full((len(rows), len(columns)), "", object)
        cells[positions(results, names[0], rows), positions(results, names[1], columns)] = scores
        lines: Any = [[brief(row), *line] for row, line in zip(rows, cells, strict=True)]
        heads, more = [" \\ ".join(map(short, names)), *(f"{brief(value)} " for value in columns)], 0
    else:
        order = np.argsort(results["rank_test_score"], kind="stable").tolist()
        params, more = results["params"], len(order) - BEST_SHOWN
        heads = ["score ", *map(short, names)]
        lines = [[scores[at], *(brief(params[at].get(name, "")) for name in names)] for at in order[:BEST_SHOWN]]
    shown = DataFrame(lines, columns=heads).to_string(index=False)
    return f"{shown}\n" + (f"... {more} further candidates\n" if more > 0 else "")


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
