"""`adatron train`: fit a machine to data files."""

from __future__ import annotations

import re
from typing import Any

import click

from .. import options
from ..outputs import MODEL_ENDINGS, ExitStatus, TableRows, as_json, check_outputs, echo_rows, existing, write_result
from ..values import Number


@click.command(cls=options.GroupedCommand, short_help="Fit a machine and write it to a file.")
@options.data_options
@click.option("--model", "target", type=click.Path(), help="The model file to write (.adatron).")
@options.task_options
@click.option("--cv", "folds", type=Number(2, whole=True), help="Cross-validate with so many folds; write no model.")
@click.option("--test", type=click.Path(), multiple=True, help="Data to measure the model on.")
@options.preparing_options
@options.parameter_options
@click.option("--save-partial", is_flag=True, help="Upon Ctrl-C, write the best model so far.")
@options.printing_options
def train(
    files: tuple[str, ...],
    target: str | None,
    task: str | None,
    svm: str | None,
    folds: int | None,
    test: tuple[str, ...],
    save_partial: bool,
    wants_json: bool,
    quiet: bool,
    no_progress: bool,
    **parameters: Any,
) -> ExitStatus:
    """Fit a support vector machine to FILE, and write it to a model file.

    FILE is LIBSVM text, a table, NPZ, ARFF or Parquet, also compressed; several files are joined. A fit that stops
    early is written too, with status 3. Ctrl-C asks whether to write it, and ends with 130.
    """
    from ...files import save
    from .. import labels, training
    from ..data import DataFiles
    from ..report import scores

    _check_usage(target, folds, test)
    reading, preparing = options.taken(parameters, options.READING), options.taken(parameters, options.STEPS)
    training.check_steps(preparing, parameters["kernel"], target)
    check_outputs({"--model": target}, (*files, *test), {"--model": MODEL_ENDINGS})
    seed = parameters["random_state"] or 0
    if folds and (task or options.TASK) != "classification":
        parameters["random_state"] = None  # these machines draw nothing
    made = training.machine(task, svm, parameters)
    source, testing = (DataFiles(some, reading, made.kernel == "precomputed") for some in (files, test))
    learned = table = training.read_training(source, made, preparing, task is not None, task != "novelty")
    gaps, tested = preparing["impute"] is not None, None
    if test:
        testing = testing.counting_as(table.first_index)
        tested = testing.like_training(table, gaps, task != "novelty")
        if (task or options.TASK) == "classification":
            labels.check_classes(table.y, tested.y)
    if task == "novelty":
        learned = labels.known_part(source.name, table, source.given and not folds)
    if not quiet:
        click.echo(table.summary(), err=True)
    model, silent = training.prepared(made, table, preparing), quiet or no_progress
    try:
        if target is None:
            predicted = training.cross_validated(source.name, model, table, folds or 0, seed, silent)
            return _tell_validation(model, predicted, table, wants_json)
        seconds, cut_short = training.fit(model, learned, save_partial, silent)
    except KeyboardInterrupt:
        kept = "" if folds else "; --save-partial keeps the best model so far"
        raise click.Abort(f"interrupted, and nothing written{kept}") from None
    if cut_short and not (save_partial or click.confirm("Write the model as it is, not converged?", err=True)):
        return ExitStatus.INTERRUPTED
    save(model, target)
    measured = None if tested is None else scores(*testing.matched(model, tested))
    _tell(model, table, learned, measured, seconds, target, quiet, wants_json)
    if cut_short:
        return ExitStatus.INTERRUPTED
    return ExitStatus.NOT_CONVERGED if made.fit_status_ else ExitStatus.FINE


def _check_usage(target: str | None, folds: int | None, test: tuple[str, ...]) -> None:
    """Fail if options do not go together."""
    for file in test:
        if re.fullmatch(r"[\d.]+%?", file) and not existing(file).is_file():
            raise click.UsageError(f"--test {file}: --test takes a file of other samples; --cv 5 cross-validates")
    if folds and target is not None:
        raise click.UsageError("--cv writes no model: leave out --model, or --cv")
    if folds and test:
        raise click.UsageError("--cv measures on the samples that each fold leaves out: leave out --test")
    if not folds and target is None:
        raise click.UsageError("--model is missing: name the model file to write, or cross-validate with --cv 5")


def _tell(
    model: Any, table: Any, learned: Any, measured: Any, seconds: float, target: str, quiet: bool, wants_json: bool
) -> None:
    """Print the model, its proof and its quality: a table for people, JSON for programs."""
    from .. import labels, parts
    from ..report import certificate_rows, kernel_rows, rows_of, summary

    if not quiet:
        shape: TableRows = [("samples x features", "{} x {}".format(*learned.shape))]
        if parts.task_of(model) == "novelty":
            shape.append(("learned from", labels.origin_of(table, learned)))
        closing: TableRows = [("seconds", f"{seconds:.2f}"), ("model file", target)]
        unmeasured: TableRows = [("quality", "not measured: add --test FILE, or replace --model by --cv 5")]
        closing += rows_of(measured) if measured else unmeasured
        echo_rows([*shape, *kernel_rows(model), *certificate_rows(parts.machine_of(model)), *closing], err=True)
    if wants_json:
        extra = {"samples": learned.shape[0], "seconds": seconds, "model": target, "test": measured}
        write_result(as_json(summary(model) | extra), None)


def _tell_validation(model: Any, predicted: Any, table: Any, wants_json: bool) -> ExitStatus:
    """Print the quality of the predictions for samples that were left out: the result of the command."""
    from ..parts import machine_of
    from ..report import measured, rows_of

    found = measured(model, predicted, table.y)
    if wants_json:
        write_result(as_json({"class": type(machine_of(model)).__name__, "cross_validation": found}), None)
    else:
        echo_rows([(f"cross-validation {name}", value) for name, value in rows_of(found)], err=False)
    return ExitStatus.FINE
