"""`adatron evaluate`: how well a model does on labelled data."""

from __future__ import annotations

from typing import Any

import click

from ..data import DataFiles, data_options
from ..outputs import check_outputs
from ..parts import device_option, use_device
from ..status import as_json, write_result


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
    from ..scores import scores

    check_outputs({"--output": output}, (model, *source.files), {"--output": (".json",) if wants_json else ()})
    estimator, table = source.with_model(model, labelled=True)
    use_device(estimator, device)
    measured = scores(estimator, table.X, table.y)
    write_result(as_json({"model": model, **measured}) if wants_json else _text(measured), output)


def _text(measured: dict[str, Any]) -> str:
    """Return tables for people: totals, and of classes a row for each, and the confusion matrix."""
    from ..scores import rows_of

    if "classes" not in measured:
        return "".join(f"{name:<10}{value}\n" for name, value in rows_of(measured))
    names = [str(name) for name in measured["classes"]]
    width = max(12, *map(len, names)) + 2
    lines = [f"{'accuracy':<{width}}{measured['accuracy']:.4%}"]
    lines.append(f"{'balanced':<{width}}{measured['balanced_accuracy']:.4%}")
    if measured.get("roc_auc") is not None:
        lines.append(f"{'ROC-AUC':<{width}}{measured['roc_auc']:.6f}")
    lines += ["", f"{'class':<{width}}{'precision':>10}{'recall':>10}{'F1':>10}{'samples':>10}"]
    columns = zip(*(measured[key] for key in ("precision", "recall", "f1", "samples_of_classes")), strict=True)
    for name, (precision, recall, f1, count) in zip(names, columns, strict=True):
        lines.append(f"{name:<{width}}{precision:>10.4f}{recall:>10.4f}{f1:>10.4f}{count:>10}")
    column = max(8, *map(len, names)) + 2
    lines += ["", f"{'true / given':<{width}}" + "".join(f"{name:>{column}}" for name in names)]
    for name, row in zip(names, measured["confusion_matrix"], strict=True):
        lines.append(f"{name:<{width}}" + "".join(f"{count:>{column}}" for count in row))
    return "".join(f"{line}\n" for line in lines)
