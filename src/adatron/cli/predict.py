"""`adatron predict`: the classes of new samples."""

from __future__ import annotations

from typing import Any

import click

from .status import data_options


@click.command(short_help="Write the classes a model gives to the samples of a file.")
@click.argument("model", type=click.Path())
@click.argument("file", type=click.Path())
@click.option("--output", type=click.Path(), help="File for the classes.  [default: standard output]")
@data_options
def predict(model: str, file: str, output: str | None, format: str | None, label: str | int | None) -> None:
    """Write the class MODEL gives to each sample of FILE, one a line.

    A table may come with labels or without: a column more than the model's features is the label. If there are
    labels, the accuracy is printed, too.
    """
    from ..files import atomic_write, load, read

    estimator = load(model)
    table = read(file, format, label, n_features=estimator.n_features_in_, labelled=False)
    predicted = estimator.predict(table.X)
    lines = "".join(f"{name}\n" for name in predicted.tolist())
    if output is None:
        click.echo(lines, nl=False)
    else:
        with atomic_write(output) as stream:
            stream.write(lines.encode())
    if table.y is not None:
        right = int(_equal(predicted, table.y).sum())
        click.echo(f"accuracy {right / len(predicted):.4%} ({right} of {len(predicted)})", err=True)


def _equal(predicted: Any, y: Any) -> Any:
    """Compare labels; as text if either is text, since a column of numbers may stand for text and the reverse."""
    if "U" in predicted.dtype.kind + y.dtype.kind:
        return predicted.astype(str) == y.astype(str)
    return predicted == y
