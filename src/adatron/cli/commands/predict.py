"""`adatron predict`: the classes of new samples."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ..data import Form, Source, data_options
from ..overwrite import refuse_overwriting
from ..status import write_result


@click.command(short_help="Write the classes a model gives to samples.")
@click.argument("model", type=click.Path())
@data_options
@click.option("--output", type=click.Path(), help="File for the result.  [default: standard output]")
@click.option("--decision", is_flag=True, help="Write the decision values, too.")
@click.option("--to", type=click.Choice(["libsvm", "csv"]), help="Format of the result.  [default: from --output]")
@click.option("--quiet", is_flag=True, help="Do not print the accuracy.")
def predict(
    model: str,
    files: tuple[str, ...],
    format: str | None,
    label: str | int | None,
    zero_based: bool | None,
    max_bytes: int | None,
    form: Form,
    output: str | None,
    decision: bool,
    to: str | None,
    quiet: bool,
) -> None:
    """Write the class MODEL gives to each sample of FILE.

    MODEL is a model file of this tool or of LIBSVM. The result is one class a line. With --decision the values follow,
    as in LIBSVM data. If --output ends in .csv, or with --to csv, the result is a table with a header. FILE may have
    labels or not: in a table, a column more than the model's features is the label. If there are labels, the accuracy
    is also printed.
    """
    from ..parts import svc_of

    refuse_overwriting("--output", output, (model, *files))
    estimator, table = Source(files, format, label, zero_based, max_bytes, form).with_model(model, labelled=False)
    predicted = estimator.predict(table.X)
    labels = [str(name) for name in predicted.tolist()]
    values = _columns(estimator.decision_function(table.X)) if decision else []
    to = to or ("csv" if Path(output or "").suffix.lower() == ".csv" else "libsvm")
    write_result(_csv(estimator, labels, values) if to == "csv" else _libsvm(labels, values), output)
    if table.y is not None and not quiet:
        click.echo(_compared(svc_of(estimator).classes_, predicted, table.y), err=True)


def _compared(classes: Any, predicted: Any, y: Any) -> str:
    """Return the accuracy, unless the labels are placeholders: data to predict often have 0 in their place."""
    import numpy as np

    from ..report import accuracy, check_classes, comparable

    try:
        check_classes(classes, y)
    except ValueError as error:
        return f"no accuracy: {error}"
    given, true = comparable(predicted, y)
    unknown = int((~np.isin(true, comparable(classes, y)[0])).sum())
    note = f"; labels that are no class of the model: {unknown}" if unknown else ""
    return f"accuracy {accuracy(int((given == true).sum()), len(true))}{note}"


def _columns(values: Any) -> list[list[float]]:
    return values.reshape(len(values), -1).tolist()


def _libsvm(labels: list[str], values: list[list[float]]) -> str:
    """Return a class a line, then its decision values as features."""
    rows = [" ".join(f"{i}:{value!r}" for i, value in enumerate(row, 1)) for row in values] or [""] * len(labels)
    return "".join(f"{name} {row}".rstrip() + "\n" for name, row in zip(labels, rows, strict=True))


def _csv(model: Any, labels: list[str], values: list[list[float]]) -> str:
    """Return a table with a header: the class, then a column for each decision value."""
    import csv
    import io

    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["class", *_names(model, len(values[0]) if values else 0)])
    writer.writerows([name, *row] for name, row in zip(labels, values or [[]] * len(labels), strict=True))
    return out.getvalue()


def _names(model: Any, columns: int) -> list[str]:
    """Return names of the decision values: one for two classes, or of the classes, or of the pairs."""
    from itertools import combinations

    from ..parts import svc_of

    svc = svc_of(model)
    if columns <= 1:
        return ["decision"] * columns
    if not svc._one_against_one() or svc.decision_function_shape == "ovr":  # pyright: ignore[reportPrivateUsage]
        return [f"decision {name}" for name in svc.classes_]
    return [f"decision {a} {b}" for a, b in combinations(svc.classes_, 2)]
