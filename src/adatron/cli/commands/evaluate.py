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
    """Return text for people: of classes scikit-learn's report, and the confusion matrix."""
    from ..scores import rows_of

    rows = rows_of(measured)
    if measured.get("roc_auc") is not None:
        rows.append(("ROC-AUC", f"{measured['roc_auc']:.6f}"))
    text = "".join(f"{name:<10}{value}\n" for name, value in rows)
    if "report" in measured:
        text += f"\n{measured['report']}\nconfusion matrix, a row for each true class\n{measured['confusion_matrix']}\n"
    return text
