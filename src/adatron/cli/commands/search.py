"""`adatron search`: choose parameters by cross-validation."""

from __future__ import annotations

import sys
import time
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import click

from ...extras import needed
from ..data import DataFiles, data_options
from ..fit import check_folds, fit
from ..groups import GroupedCommand
from ..machines import TASK, machine, task_options
from ..outputs import MODEL_ENDINGS, check_outputs
from ..parameters import SEARCHED, grid_of, searched_options
from ..parts import machine_of
from ..preparing.target import known_part
from ..preparing.training import Preparing, preparing_options, read_training, remember, write_model
from ..status import ExitStatus, InputError, as_json, echo_rows, warnings_as_lines, write_result
from ..values import AUTO_RANGE, Number

OF_TWO = ("f1", "jaccard", "precision", "recall", "roc_auc")  # Scores of two classes, with others for more.
OWN_SCORE = "pinball D2"  # the score of the machine itself
SCORING = {"classification": "accuracy", "regression": "r2", "quantile": OWN_SCORE, "novelty": "balanced_accuracy"}


@click.command(cls=GroupedCommand, short_help="Choose C, gamma and others by cross-validation.")
@data_options
@click.option("--model", "target", type=click.Path(), help="The file for a model with the best parameters (.adatron).")
@task_options
@click.option("--cv", "folds", type=Number(2, whole=True), default=5, help="Number of folds.")
@click.option("--scoring", help="A score of scikit-learn.  [default: accuracy; regression: r2; quantile: D2 of the "
              "pinball loss; novelty: balanced_accuracy]")  # fmt: skip
@preparing_options
@searched_options
@click.option("--plot", type=click.Path(), help="File for a picture of the scores (.svg, .png, .pdf).")
@click.option("--json", "wants_json", is_flag=True, help="Print all scores as JSON.")
@click.option("--quiet", is_flag=True, help="No progress, and nothing but the result.")
@click.option("--no-progress", is_flag=True, help="No progress.")
def search(
    source: DataFiles,
    target: str | None,
    task: str | None,
    svm: str | None,
    folds: int,
    scoring: str | None,
    preparing: Preparing,
    plot: str | None,
    wants_json: bool,
    quiet: bool,
    no_progress: bool,
    **parameters: Any,
) -> ExitStatus:
    """Measure many parameters on the samples of FILE, by cross-validation, and fit a model with the best ones.

    C, nu, epsilon, gamma, degree and coef0 take lists and ranges: --C 1,10,100 or --C 0.1:1000, in steps of a factor of
    ten, or --C 0.1:1000:9, nine values. One value fixes a parameter. With auto a range of C, nu, epsilon or gamma
    follows from the data; it is widened if its edge is best. Without any list, range or auto, all of them are found so.
    All folds and all C of one gamma share a kernel matrix.

    Ctrl-C, and --max-time, end the search and keep what is finished. Novelty detection learns from the samples with
    label 1; labels 1 and -1 of left-out samples measure it.
    """
    from .. import searched

    _check_files(source, target, plot)
    preparing.check_steps(target)
    given = {name: parameters.pop(name) for name in SEARCHED if parameters[name] is not None}
    parameters |= dict.fromkeys(SEARCHED)
    limit, parameters["max_time"] = parameters["max_time"], None
    probability, parameters["probability"] = parameters["probability"], None
    made, grid = _machine(task, svm, parameters, given)
    if plot and not any(values == AUTO_RANGE or len(values) > 1 for values in grid.values()):
        raise click.UsageError(f"--plot {plot}: no parameter has several values, so there is nothing to draw")
    scoring, needs_probability = _scoring(scoring, task or TASK, bool(probability))
    if needs_probability:
        made.set_params(probability=True)
    table = read_training(source, made, preparing, task is not None, True)
    if not quiet:
        click.echo(table.summary(), err=True)
    _check_data(str(source.files[0]), table, task or TASK, folds, scoring)
    learned = table
    if task == "novelty" and target is not None:
        learned = known_part(str(source.files[0]), table, made.kernel == "precomputed")
    model = preparing.before(made, table)
    silent = quiet or no_progress
    found, seconds = _searched(model, grid, table, folds, scoring, limit, silent)
    if not wants_json:
        click.echo(searched.table(found))
        echo_rows(searched.best_rows(found, scoring), err=False)
    summary = searched.summary(found, scoring, task or TASK, type(made).__name__, seconds)
    good = True
    try:
        if target is not None:
            model.set_params(**found.best_params_)
            if probability is not None:
                machine_of(model).set_params(probability=probability)
            good = _finish(model, table, learned, target, quiet, silent)
            summary["model"] = target
    finally:  # the scores are worth more than the model, which one fit brings back
        if wants_json:
            write_result(as_json(summary), None)
        if plot:
            _draw(found, plot)
    if found.end_ == "interrupted":
        return ExitStatus.INTERRUPTED
    return ExitStatus.FINE if good and found.end_ == "complete" else ExitStatus.NOT_CONVERGED


def _check_files(source: DataFiles, target: str | None, plot: str | None) -> None:
    """Fail if a file could not be written, or is one of the data."""
    check_outputs({"--model": target, "--plot": plot}, source.files, {"--model": MODEL_ENDINGS})
    if plot is None:
        return
    try:
        known = needed("matplotlib.figure", "plot", "--plot takes").Figure().canvas.get_supported_filetypes()
    except ImportError as error:
        raise click.UsageError(str(error)) from error
    if Path(plot).suffix[1:].lower() not in known:
        raise click.UsageError(f"--plot {plot}: the name ends in none of {', '.join(f'.{one}' for one in known)}")


def _machine(
    task: str | None, svm: str | None, parameters: dict[str, Any], given: dict[str, Any]
) -> tuple[Any, dict[str, Any]]:
    """Return the machine with its fixed parameters, and the grid; each value is checked."""
    for name, values in given.items():
        for value in values if values != AUTO_RANGE else (0.5,):
            machine(task, svm, parameters | {name: value})
    made = machine(task, svm, parameters)
    grid, fixed = grid_of(given, made)
    return made.set_params(**fixed), grid


def _scoring(scoring: str | None, task: str, probability: bool) -> tuple[str, bool]:
    """Return the name of the score, and whether it takes probabilities of classes."""
    if scoring is None:
        return SCORING[task], False
    from sklearn.metrics import get_scorer, get_scorer_names

    from ...selection.search.theirs import method_of

    if scoring not in get_scorer_names():
        raise click.UsageError(f"--scoring {scoring!r} is none of {', '.join(get_scorer_names())}")
    method = method_of(get_scorer(scoring))
    needed = method == "predict_proba"
    if (needed and task == "novelty") or (method != "predict" and task in ("regression", "quantile")):
        what = "probabilities" if needed else "decision values"
        raise click.UsageError(f"--scoring {scoring} needs {what} of classes, and --task {task} has none")
    if needed and not probability:
        raise InputError(f"--scoring {scoring} needs probabilities of the classes: add --probability")
    return scoring, needed


def _check_data(file: str, table: Any, task: str, folds: int, scoring: str) -> None:
    """Fail if the data have not enough samples, or other classes than the score needs."""
    import numpy as np
    from sklearn.metrics import get_scorer_names

    from ..report import shortened

    classes = np.unique(table.y).tolist()
    if task == "novelty" and (table.y.dtype.kind not in "iuf" or set(classes) != {-1, 1}):
        raise InputError(
            f"{file}: a search with --task novelty compares by labels 1 (known) and -1 (new), and the labels are "
            f"{shortened(list(map(str, classes)), 3)}: --label names another column"
        )
    check_folds(file, table.y, table.shape[0], folds, task)
    if task == "classification" and scoring in OF_TWO and len(classes) > 2:
        named = [name for name in get_scorer_names() if name.startswith(f"{scoring}_") and "samples" not in name]
        raise InputError(
            f"--scoring {scoring} is for two classes, and {file} has {len(classes)}; for more there are "
            f"{', '.join(named)}"
        )


def _searched(
    model: Any, grid: dict[str, Any], table: Any, folds: int, scoring: str, limit: float | None, silent: bool
) -> tuple[Any, float]:
    """Return the search over a grid, fitted, and the seconds it took."""
    import numpy as np
    from sklearn.base import is_classifier, is_outlier_detector
    from sklearn.model_selection import KFold, StratifiedKFold

    from ...estimators.forms.way import way_to
    from ...selection import GridSearchCV
    from ...selection.search.theirs import error_of

    way = way_to(model)
    last, prefix = way.machine, way.prefix or ""
    kind = StratifiedKFold if is_classifier(last) or is_outlier_detector(last) else KFold
    cv: Any = kind(folds, shuffle=True, random_state=getattr(last, "random_state", None) or 0)
    if is_outlier_detector(last):
        cv = [(train[table.y[train] == 1], test) for train, test in cv.split(table.X, table.y)]
    made = GridSearchCV(
        model, {prefix + name: values for name, values in grid.items()},
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
        split = next(iter(cv if isinstance(cv, list) else cv.split(table.X, table.y)))
        error = error_of(model, table.X, table.y, made.scorer_, split, made.cv_results_["params"][0])
        said = "the scores are not finite" if error is None else error.partition(": ")[2]
        raise InputError(f"--scoring {scoring} has no value for any candidate: {said}")
    return made, time.perf_counter() - start


def _briefly(text: str) -> str:
    """Return a message; if it is about failed fits or scores, the last error without its trace."""
    what = text.partition(".")[0]  # scikit-learn has no class of its own for these
    if "fits failed" not in what and what != "Scoring failed":
        return text
    last = text.rstrip().rpartition("\n")[2]
    return f"{what}: {last.partition('Error: ')[2] or last}"


def _draw(found: Any, plot: str) -> None:
    from ...files import atomic_write
    from ...outcome import varied
    from ...plots import SearchDisplay
    from ...plots.axes import off_screen

    if not varied(found.cv_results_):
        raise InputError(f"--plot {plot}: no parameter has several values, so there is nothing to draw")
    display = SearchDisplay.from_search(found, ax=off_screen(figsize=(8, 6)))
    with atomic_write(plot) as stream:
        display.figure_.savefig(stream, format=Path(plot).suffix[1:].lower())


def _finish(model: Any, table: Any, learned: Any, target: str, quiet: bool, silent: bool) -> bool:
    """Fit the model to the samples to learn from, write it and print its proof; return whether the fit converged."""
    from ..report import certificate_rows

    try:
        fit(model, learned.X, learned.y, False, silent)
    except KeyboardInterrupt:
        raise click.Abort("interrupted, and no model written") from None
    write_model(model, table, target)
    remember(model, table)
    if not quiet:
        echo_rows([*certificate_rows(machine_of(model)), ("model file", target)], err=True)
    return not machine_of(model).fit_status_
