"""`adatron train`: fit a machine to data files."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import click

from ..data import DataFiles, data_options, wanted_as
from ..fit import check_folds, cross_validated, fit
from ..groups import GroupedCommand
from ..machines import TASK, machine, task_options
from ..outputs import MODEL_ENDINGS, check_outputs, existing
from ..parameters import parameter_options
from ..parts import machine_of, task_of
from ..preparing.target import known_part, said_of
from ..preparing.training import Preparing, preparing_options, read_training, remember, write_model
from ..status import ExitStatus, TableRows, as_json, echo_rows, write_result
from ..values import Number


@click.command(cls=GroupedCommand, short_help="Fit a machine and write it to a file.")
@data_options
@click.option("--model", "target", type=click.Path(), help="The model file to write (.adatron).")
@task_options
@click.option("--cv", "folds", type=Number(2, whole=True), help="Cross-validate with so many folds; write no model.")
@click.option("--test", type=click.Path(), multiple=True, help="Data to measure the model on.")
@preparing_options
@parameter_options
@click.option("--save-partial", is_flag=True, help="Upon Ctrl-C, write the best model so far.")
@click.option("--json", "wants_json", is_flag=True, help="Print what was reached as JSON.")
@click.option("--quiet", is_flag=True, help="No progress and no table.")
@click.option("--no-progress", is_flag=True, help="No progress.")
def train(
    source: DataFiles,
    target: str | None,
    task: str | None,
    svm: str | None,
    folds: int | None,
    test: tuple[str, ...],
    preparing: Preparing,
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
    _check_usage(target, folds, test)
    if parameters["kernel"] == "precomputed":
        preparing.refuse_steps()
    check_outputs({"--model": target}, (*source.files, *test), {"--model": MODEL_ENDINGS})
    preparing.check_steps(target)
    seed = parameters["random_state"] or 0
    if folds and (task or TASK) != "classification":
        parameters["random_state"] = None  # these machines draw nothing
    made = machine(task, svm, parameters)
    table, tested = _read(source, made, test, preparing, task is not None)
    name = str(source.files[0])
    learned = table
    if task == "novelty":
        learned = known_part(name, table, given=not folds and made.kernel == "precomputed")
    if not quiet:
        click.echo(table.summary(), err=True)
    model = preparing.before(made, table)
    silent = quiet or no_progress
    try:
        if target is None:
            check_folds(name, table.y, table.shape[0], folds or 0, task_of(made))
            predicted = cross_validated(model, table.X, table.y, folds or 0, seed, silent)
            return _tell_validation(model, predicted, table, wants_json)
        seconds, cut_short = fit(model, learned.X, learned.y, save_partial, silent)
    except KeyboardInterrupt:
        kept = "" if folds else "; --save-partial keeps the best model so far"
        raise click.Abort(f"interrupted, and nothing written{kept}") from None
    if cut_short and not (save_partial or click.confirm("Write the model as it is, not converged?", err=True)):
        return ExitStatus.INTERRUPTED
    write_model(model, table, target)
    measured = _measured(model, tested, test[0], source.max_bytes) if tested else None
    remember(model, table)
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


def _read(source: DataFiles, made: Any, test: tuple[str, ...], preparing: Preparing, chosen: bool) -> tuple[Any, Any]:
    """Read the data to train on, and those to test on; check the labels, and give the machine its class weights."""
    from ..scores import check_classes

    task, given = task_of(made), made.kernel == "precomputed"
    novelty = task == "novelty"
    table = read_training(source, made, preparing, chosen, not novelty)
    tested = None
    if test:
        source = replace(source, files=test).counting_as(table.first_index)
        tested = source.like(wanted_as(table, gaps=preparing.impute is not None), given, not novelty)
    if tested and task == "classification":
        check_classes(table.y, tested.y)
    return table, tested


def _measured(model: Any, tested: Any, file: str, most: int | None) -> Any:
    """Return the quality of predictions for data that may use more features than the model has."""
    from ..preparing.columns import texts_of, warn_of_unknown, with_surplus
    from ..scores import scores

    warn_of_unknown(file, tested, texts_of(model))
    if machine_of(model).kernel != "precomputed":
        model, tested = with_surplus(model, tested, file, most)
    return scores(model, tested.X, tested.y)


def _tell(
    model: Any, table: Any, learned: Any, measured: Any, seconds: float, target: str, quiet: bool, wants_json: bool
) -> None:
    """Print the model, its proof and its quality: a table for people, JSON for programs."""
    from ..report import certificate_rows, kernel_rows, summary
    from ..scores import rows_of

    if not quiet:
        shape: TableRows = [("samples x features", "{} x {}".format(*learned.shape))]
        if task_of(model) == "novelty":
            shape.append(("learned from", said_of(table, learned)))
        closing: TableRows = [("seconds", f"{seconds:.2f}"), ("model file", target)]
        unmeasured: TableRows = [("quality", "not measured: add --test FILE, or replace --model by --cv 5")]
        closing += rows_of(measured) if measured else unmeasured
        echo_rows([*shape, *kernel_rows(model), *certificate_rows(machine_of(model)), *closing], err=True)
    if wants_json:
        extra = {"samples": learned.shape[0], "seconds": seconds, "model": target, "test": measured}
        write_result(as_json(summary(model) | extra), None)


def _tell_validation(model: Any, predicted: Any, table: Any, wants_json: bool) -> ExitStatus:
    """Print the quality of the predictions for samples that were left out: the result of the command."""
    from ..scores import of_classes, of_outliers, of_regression, rows_of

    if (task := task_of(model)) == "regression":
        measured = of_regression(model, predicted, table.y)
    else:
        measured = (of_classes if task == "classification" else of_outliers)(predicted, table.y)
    if wants_json:
        write_result(as_json({"class": type(machine_of(model)).__name__, "cross_validation": measured}), None)
    else:
        echo_rows([(f"cross-validation {name}", value) for name, value in rows_of(measured)], err=False)
    return ExitStatus.FINE
