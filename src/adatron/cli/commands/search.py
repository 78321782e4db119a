"""`adatron search`: choose parameters by cross-validation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ...extras import needed
from .. import options
from ..outputs import MODEL_ENDINGS, ExitStatus, as_json, check_outputs, echo_rows, write_result
from ..values import Number


@click.command(cls=options.GroupedCommand, short_help="Choose C, gamma and others by cross-validation.")
@options.data_options
@click.option("--model", "target", type=click.Path(), help="The file for a model with the best parameters (.adatron).")
@options.task_options
@click.option("--cv", "folds", type=Number(2, whole=True), default=5, help="Number of folds.")
@click.option("--scoring", help="A score of scikit-learn.  [default: accuracy; regression: r2; quantile: D2 of the "
              "pinball loss; novelty: balanced_accuracy]")  # fmt: skip
@options.preparing_options
@options.searched_options
@click.option("--plot", type=click.Path(), help="File for a picture of the scores (.svg, .png, .pdf).")
@options.printing_options
def search(
    files: tuple[str, ...],
    target: str | None,
    task: str | None,
    svm: str | None,
    folds: int,
    scoring: str | None,
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
    from .. import labels, parts, searched, training
    from ..data import DataFiles

    reading, preparing = options.taken(parameters, options.READING), options.taken(parameters, options.STEPS)
    _check_files(files, target, plot)
    training.check_steps(preparing, None, target)
    limit, probability = parameters.pop("max_time"), parameters.pop("probability")
    made, grid = searched.machine_and_grid(task, svm, parameters, plot)
    scoring = searched.score_of(made, scoring, task or options.TASK, bool(probability))
    source = DataFiles(files, reading, made.kernel == "precomputed")
    learned = table = training.read_training(source, made, preparing, task is not None, True)
    if not quiet:
        click.echo(table.summary(), err=True)
    searched.check_data(source.name, table, task or options.TASK, scoring)
    if task == "novelty" and target is not None:
        learned = labels.known_part(source.name, table, source.given)
    model, silent = training.prepared(made, table, preparing), quiet or no_progress
    cv = training.splits_of(source.name, parts.task_of(made), table, folds, parameters["random_state"] or 0)
    found, seconds = searched.searched(model, grid, table, cv, scoring, limit, silent)
    if not wants_json:
        searched.tell(found, scoring)
    summary = searched.summary(found, scoring, task or options.TASK, type(made).__name__, seconds)
    good = True
    try:
        if target is not None:
            model.set_params(**found.best_params_)
            good = _finish(model, learned, target, probability, quiet, silent)
            summary["model"] = target
    finally:  # the scores are worth more than the model, which one fit brings back
        if wants_json:
            write_result(as_json(summary), None)
        if plot:
            searched.draw(found, plot)
    if found.end_ == "interrupted":
        return ExitStatus.INTERRUPTED
    return ExitStatus.FINE if good and found.end_ == "complete" else ExitStatus.NOT_CONVERGED


def _check_files(files: tuple[str, ...], target: str | None, plot: str | None) -> None:
    """Fail if a file could not be written, or is one of the data."""
    check_outputs({"--model": target, "--plot": plot}, files, {"--model": MODEL_ENDINGS})
    if plot is None:
        return
    try:
        known = needed("matplotlib.figure", "plot", "--plot takes").Figure().canvas.get_supported_filetypes()
    except ImportError as error:
        raise click.UsageError(str(error)) from error
    if Path(plot).suffix[1:].lower() not in known:
        raise click.UsageError(f"--plot {plot}: the name ends in none of {', '.join(f'.{one}' for one in known)}")


def _finish(model: Any, learned: Any, target: str, probability: bool | None, quiet: bool, silent: bool) -> bool:
    """Fit the model to the samples to learn from, write it and print its proof; return whether the fit converged."""
    from ...files import save
    from .. import parts, training
    from ..report import certificate_rows

    machine = parts.machine_of(model)
    if probability is not None:
        machine.set_params(probability=probability)
    try:
        training.fit(model, learned, False, silent)
    except KeyboardInterrupt:
        raise click.Abort("interrupted, and no model written") from None
    save(model, target)
    if not quiet:
        echo_rows([*certificate_rows(machine), ("model file", target)], err=True)
    return not machine.fit_status_
