"""`adatron report`: one HTML file that answers eight questions about a model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from ..data import Source, data_options
from ..overwrite import refuse_overwriting
from ..parts import names_of, task_of
from ..status import warnings_as_lines


@click.command(short_help="Write a report about a model as one HTML file.")
@click.argument("model", type=click.Path())
@data_options
@click.option("--output", type=click.Path(), required=True, help="The HTML file to write.")
@click.option("--test", type=click.Path(), multiple=True, help="Other data to measure on; may be repeated.")
@click.option(
    "--samples", type=click.Choice(["rows", "none"]), default="rows", help="none leaves out every row of data."
)
@click.option("--quiet", is_flag=True, help="Do not print the answers.")
def report(model: str, source: Source, output: str, test: tuple[str, ...], samples: str, quiet: bool) -> None:
    """Write a report about MODEL, which was trained on FILE.

    FILE holds the data that MODEL was trained on, in their order. The report answers whether the model is optimal,
    good, well chosen and robust, which samples decide, which labels are suspicious, where the boundary is, and which
    features matter. It is one file that needs nothing else.
    The answers are printed, too.
    """
    refuse_overwriting("--output", output, (model, *source.files, *test))
    from ...reports import report as make

    names = _names(model)
    estimator, table = source.with_model(model, labelled=True)
    tested = replace(source, files=test).with_model(model, labelled=True)[1] if test else None
    novelty = task_of(estimator) == "novelty"
    with warnings_as_lines():
        made = make(
            estimator,
            table.X,
            None if novelty else table.y,
            None if tested is None else tested.X,
            None if tested is None or novelty else tested.y,
            samples=samples,
            feature_names=names if names is not None and len(names) == table.X.shape[1] else None,
            title=f"Report of {Path(model).name}",
        )
    made.save(output)
    if not quiet:
        click.echo(str(made), err=True)


def _names(model: str) -> tuple[str, ...] | None:
    """Return the names of a model's features, which it forgets when it meets data from a file."""
    from ...files import load

    return names_of(load(model))
