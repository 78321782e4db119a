"""`adatron prove`: a text by which others can check a fit without this tool."""

from __future__ import annotations

import click

from ..data import DataFiles, data_options
from ..outputs import check_outputs
from ..parts import machine_of, task_of
from ..status import write_result
from .report import as_fitted


@click.command(short_help="Write a proof of a fit that others can check.")
@click.argument("model", type=click.Path())
@data_options
@click.option("--output", type=click.Path(), help="File for the proof.  [default: standard output]")
def prove(model: str, source: DataFiles, output: str | None) -> None:
    """Write a text that proves how far MODEL, which was trained on FILE, is from the optimum.

    FILE holds the data that MODEL was trained on, in their order. They stand in the text as MODEL's machine sees them,
    after scaling. verify.py, a program of the manual that needs Python alone, checks the text.
    """
    from ...estimators.forms.way import way_to

    check_outputs({"--output": output}, (model, *source.files))
    estimator, table = source.with_model(model, labelled=True)
    machine, table = machine_of(estimator), as_fitted(str(source.files[0]), table, estimator)
    y = None if task_of(estimator) == "novelty" else table.y
    write_result(machine.proof(way_to(estimator).taken(table.X), y), output)
