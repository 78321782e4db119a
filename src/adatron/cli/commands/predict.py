"""`adatron predict`, `evaluate`, `report` and `prove`: what a model says of samples, how well, and what is proven."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ...progress import ProgressDisplay
from ..options import data_options, device_option, json_option, output_option
from ..outputs import DATA_ENDINGS, as_json, check_outputs, write_result
from ..values import Number


@click.command(short_help="Write what a model says of samples.")
@click.argument("model", type=click.Path())
@data_options
@output_option
@click.option("--decision", is_flag=True, help="Write the decision values, too.")
@click.option("--probability", is_flag=True, help="Write the probabilities of the classes, too.")
@device_option
@click.option("--to", type=click.Choice(["libsvm", "csv"]), help="Format of the result.  [default: from --output]")
@click.option("--quiet", is_flag=True, help="Do not print the accuracy.")
def predict(
    model: str,
    files: tuple[str, ...],
    output: str | None,
    decision: bool,
    probability: bool,
    device: str | None,
    to: str | None,
    quiet: bool,
    **reading: Any,
) -> None:
    """Write the class MODEL gives to each sample of FILE, or its number, or whether it is new (-1) or not (1).

    MODEL is a model file of this tool or of LIBSVM. The result is one prediction a line. With --decision the values
    follow, as in LIBSVM data. With --probability the first line names the classes, and their probabilities follow, as
    svm-predict -b 1 writes them. If --output ends in .csv, or with --to csv, the result is a table with a header. FILE
    may have labels or not: in a table, a column more than the model's features is the label. If there are labels, the
    quality is also printed.
    """
    to = to or ("csv" if Path(output or "").suffix.lower() == ".csv" else "libsvm")
    check_outputs({"--output": output}, (model, *files), {"--output": (".csv",) if to == "csv" else DATA_ENDINGS})
    if decision and probability and to != "csv":
        raise click.UsageError("--decision and --probability need --to csv together")
    from ..data import DataFiles
    from ..parts import task_of
    from ..report import compared, predictions

    estimator, table = DataFiles(files, reading).with_model(model, False, device)
    _check_offers(estimator, decision, probability)
    predicted = estimator.predict(table.X)
    write_result(predictions(estimator, table.X, predicted, decision, probability, to), output)
    if not quiet and (table.y is not None or task_of(estimator) == "novelty"):
        click.echo(compared(estimator, predicted, table.y), err=True)


@click.command(short_help="Measure a model on data.")
@click.argument("model", type=click.Path())
@data_options
@device_option
@json_option
@output_option
def evaluate(
    model: str, files: tuple[str, ...], device: str | None, wants_json: bool, output: str | None, **reading: Any
) -> None:
    """Measure MODEL on the samples of FILE.

    Classification: accuracy, ROC-AUC of two classes, precision, recall, F1, confusion matrix. Regression: R2, mean
    absolute error, root of the mean squared error. Novelty: the share of outliers, and the accuracy if there are labels
    1 and -1.
    """
    from ..data import DataFiles
    from ..report import rows_of, scores

    check_outputs({"--output": output}, (model, *files), {"--output": (".json",) if wants_json else ()})
    estimator, table = DataFiles(files, reading).with_model(model, True, device)
    measured = scores(estimator, table)
    if wants_json:
        write_result(as_json({"model": model, **measured}), output)
        return
    rows = rows_of(measured)
    if measured.get("roc_auc") is not None:
        rows.append(("ROC-AUC", f"{measured['roc_auc']:.6f}"))
    text = "".join(f"{name:<10}{value}\n" for name, value in rows)
    if "report" in measured:
        text += f"\n{measured['report']}\nconfusion matrix, a row for each true class\n{measured['confusion_matrix']}\n"
    write_result(text, output)


def _check_offers(model: Any, decision: bool, probability: bool) -> None:
    """Fail if the model has no decision values or no probabilities."""
    from ..parts import machine_of, task_of

    task = task_of(model)
    if decision and task == "regression":
        raise click.UsageError("--decision: a regression predicts numbers and has no decision values")
    if probability and task != "classification":
        raise click.UsageError(f"--probability: a model for {task} has no probabilities of classes")
    if probability and not getattr(machine_of(model), "with_probability", False):
        raise click.UsageError("--probability: the model has none; train it with --probability")


@click.command(short_help="Write a report about a model as one HTML file.")
@click.argument("model", type=click.Path())
@data_options
@click.option("--output", type=click.Path(), help="The HTML file to write; it is needed.")
@click.option("--test", type=click.Path(), multiple=True, help="Other data to measure on; may be repeated.")
@click.option(
    "--samples", type=click.Choice(["rows", "none"]), default="rows", help="none leaves out all rows of data."
)
@click.option(
    "--max-time", type=Number(0, above=True), default=300.0, help="Limit on the time of other fits, in seconds."
)
@click.option("--quiet", is_flag=True, help="Print neither the progress nor the answers.")
def report(
    model: str, files: tuple[str, ...], output: str | None, test: tuple[str, ...],
    samples: str, max_time: float, quiet: bool, **reading: Any,
) -> None:  # fmt: skip
    """Write a report about MODEL, which was trained on FILE.

    FILE holds the data that MODEL was trained on, in their order. The report answers whether the model is optimal,
    good, well chosen and robust, which samples decide, which labels are suspicious, where the boundary is, and which
    features matter. It is one file that needs nothing else.
    The answers are printed, too.

    Folds, exact leave-one-out and the error over C take other fits, which --max-time bounds. The report names what
    there was no time for. Ctrl-C ends the command and writes no file.
    """
    if output is None:
        raise click.UsageError(f"--output is missing: it names the file, as in --output {Path(model).stem}.html")
    check_outputs({"--output": output}, (model, *files, *test), {"--output": (".html", ".htm")})
    from ...reports import report as make
    from ..data import DataFiles

    estimator, X, y, names = _as_fitted(model, files, reading)
    tested = DataFiles(test, reading).with_model(model, labelled=True)[1] if test else None
    with ProgressDisplay("report", "question", visible=not quiet) as display:
        made = make(
            estimator,
            X,
            y,
            None if tested is None else tested.X,
            None if tested is None or y is None else tested.y,
            samples=samples,
            feature_names=names if names is not None and len(names) == X.shape[1] else None,
            title=f"Report of {Path(model).name}",
            max_time=max_time,
            progress=lambda done, of, what: vars(display).update(done=done, total=of, note=what),
        )
    made.save(output)
    if not quiet:
        click.echo(str(made), err=True)


@click.command(short_help="Write a proof of a fit that others can check.")
@click.argument("model", type=click.Path())
@data_options
@output_option
def prove(model: str, files: tuple[str, ...], output: str | None, **reading: Any) -> None:
    """Write a text that proves how far MODEL, which was trained on FILE, is from the optimum.

    FILE holds the data that MODEL was trained on, in their order. They stand in the text as MODEL's machine sees them,
    after scaling. verify.py, a program of the manual that needs Python alone, checks the text.
    """
    from ...pipelines import way_to

    check_outputs({"--output": output}, (model, *files))
    estimator, X, y, _ = _as_fitted(model, files, reading)
    way = way_to(estimator)
    write_result(way.machine.proof(way.taken(X), y), output)


def _as_fitted(model: str, files: tuple[str, ...], reading: dict[str, Any]) -> Any:
    """Return a model, the samples that it was fitted to, their labels, and the names of the features.

    The labels must be classes of the model. Novelty detection learns from samples with label 1, and takes no labels.
    """
    from ..data import DataFiles
    from ..labels import check_classes, known_part, numbers
    from ..parts import machine_of, task_of

    estimator, table = DataFiles(files, reading).with_model(model, labelled=True)
    machine, task, y = machine_of(estimator), task_of(estimator), table.y
    if task == "classification":
        check_classes(machine.classes_, y)
    elif task == "regression":
        numbers(y)
    else:
        y = None
        if table.shape[0] != machine.shape_fit_[0]:
            table = known_part(files[0], table)
    return estimator, table.X, y, table.feature_names
