"""`adatron train`: fit a classifier to data files."""

from __future__ import annotations

import errno
import os
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from ..data import Form, Source, data_options
from ..interrupt import Interrupt
from ..overwrite import refuse_overwriting
from ..parameters import parameter_options, weights_of
from ..progress import ProgressBar
from ..status import Status, as_json, echo_rows, warnings_as_lines, write_result


@click.command(short_help="Fit a classifier and write it to a file.")
@data_options
@click.option("--model", "target", type=click.Path(), required=True, help="The model file to write (.adatron).")
@click.option("--test", type=click.Path(), multiple=True, help="Data to measure the accuracy on; for pairs, twice.")
@click.option("--features", type=click.IntRange(min=1), help="Features, if LIBSVM text uses fewer than there are.")
@click.option("--scale", type=click.Choice(["none", "standard", "minmax"]), default="none", help="Scale the features.")
@parameter_options
@click.option("--save-partial", is_flag=True, help="Upon Ctrl-C, write the best model so far.")
@click.option("--json", "wants_json", is_flag=True, help="Print what was reached as JSON.")
@click.option("--quiet", is_flag=True, help="No progress bar and no table.")
@click.option("--no-progress", is_flag=True, help="No progress bar.")
def train(
    files: tuple[str, ...],
    target: str,
    test: tuple[str, ...],
    format: str | None,
    label: str | int | None,
    zero_based: bool | None,
    max_bytes: int | None,
    form: Form,
    features: int | None,
    scale: str,
    save_partial: bool,
    wants_json: bool,
    quiet: bool,
    no_progress: bool,
    **parameters: Any,
) -> Status:
    """Fit a support vector classifier to FILE and write it to a model file.

    FILE is LIBSVM text, a table (CSV, TSV, spaces), NPZ, ARFF, Parquet or HDF5, or a pair of NPY or IDX files, features
    and labels; plain or compressed (.gz, .bz2, .xz). Several files are joined. A fit that stops early is written too;
    the exit status is then 3. Ctrl-C asks whether to write the best model so far, and ends with 130.
    """
    from ...files import save
    from ..parts import remember_counting, remember_names, svc_of, take_names, with_scaling
    from ..report import accuracy, certificate_rows, check_classes, kernel_rows, scores, summary

    refuse_overwriting("--model", target, (*files, *test))
    _require_folder(target)
    given = parameters["kernel"] == "precomputed"
    source = Source(files, format, label, zero_based, max_bytes, form)
    table = source.to_train(features, given)
    source = replace(source, files=test).counting_as(table.first_index)
    tested = source.like(table.X, given, names=table.feature_names) if test else None
    if tested:
        check_classes(table.y, tested.y)
    model = with_scaling(_classifier(parameters, table.y), scale, table.X)
    if not quiet:
        click.echo(table.summary(), err=True)
    try:
        seconds, cut_short = _fit(model, table, save_partial, silent=quiet or no_progress)
    except KeyboardInterrupt:
        raise click.Abort("interrupted, and nothing written; --save-partial keeps the best model so far") from None
    if cut_short and not (save_partial or click.confirm("Write the model as it is, not converged?", err=True)):
        return Status.INTERRUPTED
    remember_names(model, None if given else table.feature_names)
    remember_counting(model, None if given else table.first_index)
    save(model, target)
    take_names(model)
    measured = scores(model, tested.X, tested.y) if tested else None
    if not quiet:
        shape = ("samples x features", "{} x {}".format(*table.shape))
        closing = [("seconds", f"{seconds:.2f}"), ("model file", target)]
        if measured:
            right = round(measured["accuracy"] * measured["samples"])
            closing.append(("accuracy", accuracy(right, measured["samples"])))
        echo_rows([shape, *kernel_rows(model), *certificate_rows(svc_of(model)), *closing], err=True)
    if wants_json:
        extra = {"samples": table.shape[0], "seconds": seconds, "model": target, "test": measured}
        write_result(as_json(summary(model) | extra), None)
    if cut_short:
        return Status.INTERRUPTED
    return Status.NOT_CONVERGED if svc_of(model).fit_status_ else Status.FINE


def _fit(model: Any, table: Any, save_partial: bool, silent: bool) -> tuple[float, bool]:
    """Fit; the seconds it took, and whether Ctrl-C cut it short."""
    from ..parts import svc_of

    svc = svc_of(model)
    start = time.perf_counter()
    with (
        Interrupt(save_partial or (sys.stdin.isatty() and sys.stderr.isatty())) as interrupt,
        warnings_as_lines(lambda text: text.replace("the callback asked to stop", "interrupted")),
        ProgressBar(svc.gap_tol or svc.tol, silent, interrupt) as bar,
    ):
        svc.set_params(callback=bar)
        model.fit(table.X, table.y)
    svc.set_params(callback=None)
    return time.perf_counter() - start, interrupt.asked and svc.fit_status_ != 0


def _classifier(parameters: dict[str, Any], y: Any) -> Any:
    """The classifier with the parameters that were given."""
    import numpy as np

    from ... import SVC

    given = {name: value for name, value in parameters.items() if value is not None}
    if isinstance(given.get("class_weight"), dict):
        given["class_weight"] = weights_of(np.unique(y), given["class_weight"])
    return SVC(**given)


def _require_folder(target: str) -> None:
    """Fail before a long fit, not after it, if the model file could not be written."""
    if Path(target).is_dir():
        raise IsADirectoryError(errno.EISDIR, "a folder, not a file", target)
    if not os.access(Path(target).resolve().parent, os.W_OK):
        raise OSError(errno.EACCES, "its folder is missing or cannot be written to", target)
