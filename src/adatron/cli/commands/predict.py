"""`adatron predict` and `adatron evaluate`: what a model says of samples, and how well."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import click

from ..data import DataFiles, data_options
from ..outputs import DATA_ENDINGS, check_outputs
from ..parts import device_option, machine_of, task_of, use_device
from ..status import as_json, write_result


@click.command(short_help="Write what a model says of samples.")
@click.argument("model", type=click.Path())
@data_options
@click.option("--output", type=click.Path(), help="File for the result.  [default: standard output]")
@click.option("--decision", is_flag=True, help="Write the decision values, too.")
@click.option("--probability", is_flag=True, help="Write the probabilities of the classes, too.")
@device_option
@click.option("--to", type=click.Choice(["libsvm", "csv"]), help="Format of the result.  [default: from --output]")
@click.option("--quiet", is_flag=True, help="Do not print the accuracy.")
def predict(
    model: str,
    source: DataFiles,
    output: str | None,
    decision: bool,
    probability: bool,
    device: str | None,
    to: str | None,
    quiet: bool,
) -> None:
    """Write the class MODEL gives to each sample of FILE, or its number, or whether it is new (-1) or not (1).

    MODEL is a model file of this tool or of LIBSVM. The result is one prediction a line. With --decision the values
    follow, as in LIBSVM data. With --probability the first line names the classes, and their probabilities follow, as
    svm-predict -b 1 writes them. If --output ends in .csv, or with --to csv, the result is a table with a header. FILE
    may have labels or not: in a table, a column more than the model's features is the label. If there are labels, the
    quality is also printed.
    """
    to = to or ("csv" if Path(output or "").suffix.lower() == ".csv" else "libsvm")
    check_outputs(
        {"--output": output}, (model, *source.files), {"--output": (".csv",) if to == "csv" else DATA_ENDINGS}
    )
    if decision and probability and to != "csv":
        raise click.UsageError("--decision and --probability need --to csv together")
    estimator, table = source.with_model(model, labelled=False)
    use_device(estimator, device)
    _check_offers(estimator, decision, probability)
    predicted = estimator.predict(table.X)
    first, *further = _columns(estimator, predicted)
    columns: list[tuple[str, list[Any]]] = []
    if decision:
        values = estimator.decision_function(table.X)
        columns += _by_name(_names(estimator, values), values)
    if probability:
        names = [f"probability {name}" for name in machine_of(estimator).classes_]
        columns += _by_name(names, estimator.predict_proba(table.X))
    if further and (to == "csv" or not columns):
        columns += _by_name(further, predicted[:, 1:])
    labels = [str(name) for name in (predicted[:, 0] if further else predicted.ravel()).tolist()]
    rows = list(zip(*(values for _, values in columns), strict=True)) or [()] * len(labels)
    if to == "csv":
        write_result(_csv([first, *(name for name, _ in columns)], labels, rows), output)
    else:
        header = "labels " + " ".join(map(str, machine_of(estimator).classes_)) + "\n" if probability else ""
        write_result(header + _libsvm(labels, rows, numbered=decision), output)
    if not quiet and (table.y is not None or task_of(estimator) == "novelty"):
        click.echo(_compared(estimator, predicted, table.y), err=True)


@click.command(short_help="Measure a model on data.")
@click.argument("model", type=click.Path())
@data_options
@device_option
@click.option("--json", "wants_json", is_flag=True, help="Print JSON.")
@click.option("--output", type=click.Path(), help="File for the result.  [default: standard output]")
def evaluate(model: str, source: DataFiles, device: str | None, wants_json: bool, output: str | None) -> None:
    """Measure MODEL on the samples of FILE.

    Classification: accuracy, ROC-AUC of two classes, precision, recall, F1, confusion matrix. Regression: R2, mean
    absolute error, root of the mean squared error. Novelty: the share of outliers, and the accuracy if there are labels
    1 and -1.
    """
    from ..scores import rows_of, scores

    check_outputs({"--output": output}, (model, *source.files), {"--output": (".json",) if wants_json else ()})
    estimator, table = source.with_model(model, labelled=True)
    use_device(estimator, device)
    measured = scores(estimator, table.X, table.y)
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


def _by_name(names: list[str], values: Any) -> list[tuple[str, list[Any]]]:
    """Return columns beside the predictions."""
    return list(zip(names, values.reshape(len(values), -1).T.tolist(), strict=True))


def _check_offers(model: Any, decision: bool, probability: bool) -> None:
    """Fail if the model has no decision values or no probabilities."""
    task = task_of(model)
    if decision and task == "regression":
        raise click.UsageError("--decision: a regression predicts numbers and has no decision values")
    if probability and task != "classification":
        raise click.UsageError(f"--probability: a model for {task} has no probabilities of classes")
    if probability and not getattr(machine_of(model), "with_probability", False):
        raise click.UsageError("--probability: the model has none; train it with --probability")


def _compared(model: Any, predicted: Any, y: Any) -> str:
    """Return the quality, unless the labels are placeholders: data to predict often have 0 in their place."""
    import numpy as np

    from ..scores import accuracy, check_classes, comparable, of_outliers, of_regression, short

    task = task_of(model)
    if task == "novelty":
        return short(of_outliers(predicted, y))
    try:
        if task == "regression":
            return short(of_regression(model, predicted, y))
        machine_of(model).head.refuse_several()
        classes = machine_of(model).classes_
        check_classes(classes, y)
    except ValueError as error:
        return f"no {'errors' if task == 'regression' else 'accuracy'}: {error}"
    given, true = comparable(predicted, y)
    unknown = int((~np.isin(true, comparable(classes, y)[0])).sum())
    note = f"; labels that are no class of the model: {unknown}" if unknown else ""
    return f"accuracy {accuracy({'accuracy': float((given == true).mean()), 'samples': len(true)})}{note}"


def _libsvm(labels: list[str], rows: list[tuple[Any, ...]], numbered: bool) -> str:
    """Return a prediction a line, then its values: as features with their numbers, or plain."""
    words = [" ".join(f"{i}:{value!r}" if numbered else repr(value) for i, value in enumerate(row, 1)) for row in rows]
    return "".join(f"{name} {row}".rstrip() + "\n" for name, row in zip(labels, words, strict=True))


def _columns(model: Any, predicted: Any) -> list[str]:
    """Return the names of the columns of predictions."""
    if predicted.ndim == 1:
        return ["prediction" if task_of(model) == "regression" else "class"]
    names = getattr(machine_of(model), "quantile", range(1, predicted.shape[1] + 1))
    return [f"prediction {name}" for name in names]


def _csv(names: list[str], labels: list[str], rows: list[tuple[Any, ...]]) -> str:
    """Return a table with a header: the prediction, then its values."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(names)
    writer.writerows((name, *row) for name, row in zip(labels, rows, strict=True))
    return out.getvalue()


def _names(model: Any, values: Any) -> list[str]:
    """Return names of the decision values: one for two classes, or of the classes, or of the pairs."""
    machine = machine_of(model)
    if values.ndim == 1 or values.shape[1] == 1:
        return ["decision"]
    head, names = machine.head, machine.classes_
    if head.columns is not None:
        return [f"decision {number}" for number in range(1, head.columns + 1)]
    if head.width == len(names):
        return [f"decision {name}" for name in names]
    return [f"decision {names[a]} {names[b]}" for a, b in head.problems]
