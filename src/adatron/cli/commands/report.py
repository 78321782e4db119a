"""`adatron report` and `adatron prove`: what can be said of a model and the data that it was fitted to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ...progress import ProgressDisplay
from ..options import data_options
from ..outputs import check_outputs, write_result
from ..values import Number


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
        example = f"--output {Path(model).stem}.html"
        raise click.UsageError(f"--output is missing: it names the file to write, as in {example}")
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
@click.option("--output", type=click.Path(), help="File for the proof.  [default: standard output]")
def prove(model: str, files: tuple[str, ...], output: str | None, **reading: Any) -> None:
    """Write a text that proves how far MODEL, which was trained on FILE, is from the optimum.

    FILE holds the data that MODEL was trained on, in their order. They stand in the text as MODEL's machine sees them,
    after scaling. verify.py, a program of the manual that needs Python alone, checks the text.
    """
    from ...estimators.forms.way import way_to

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
