"""`adatron predict` and `adatron evaluate`: what a model says of samples, and how well."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ..options import data_options
from ..outputs import DATA_ENDINGS, as_json, check_outputs, write_result

_device_option = click.option("--device", help="Where to compute: cuda, cuda:1 (a GPU, extra gpu) or cpu.  "
                              "[default: cpu]")  # fmt: skip


@click.command(short_help="Write what a model says of samples.")
@click.argument("model", type=click.Path())
@data_options
@click.option("--output", type=click.Path(), help="File for the result.  [default: standard output]")
@click.option("--decision", is_flag=True, help="Write the decision values, too.")
@click.option("--probability", is_flag=True, help="Write the probabilities of the classes, too.")
@_device_option
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
    from ..parts import task_of, use_device
    from ..scores import compared, predictions

    estimator, table = DataFiles(files, reading).with_model(model, labelled=False)
    use_device(estimator, device)
    _check_offers(estimator, decision, probability)
    predicted = estimator.predict(table.X)
    write_result(predictions(estimator, table.X, predicted, decision, probability, to), output)
    if not quiet and (table.y is not None or task_of(estimator) == "novelty"):
        click.echo(compared(estimator, predicted, table.y), err=True)


@click.command(short_help="Measure a model on data.")
@click.argument("model", type=click.Path())
@data_options
@_device_option
@click.option("--json", "wants_json", is_flag=True, help="Print JSON.")
@click.option("--output", type=click.Path(), help="File for the result.  [default: standard output]")
def evaluate(
    model: str, files: tuple[str, ...], device: str | None, wants_json: bool, output: str | None, **reading: Any
) -> None:
    """Measure MODEL on the samples of FILE.

    Classification: accuracy, ROC-AUC of two classes, precision, recall, F1, confusion matrix. Regression: R2, mean
    absolute error, root of the mean squared error. Novelty: the share of outliers, and the accuracy if there are labels
    1 and -1.
    """
    from ..data import DataFiles
    from ..parts import use_device
    from ..scores import rows_of, scores

    check_outputs({"--output": output}, (model, *files), {"--output": (".json",) if wants_json else ()})
    estimator, table = DataFiles(files, reading).with_model(model, labelled=True)
    use_device(estimator, device)
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
