"""`adatron train`: fit a classifier to a data file."""

from __future__ import annotations

import errno
import math
import os
import time
from pathlib import Path
from typing import Any

import click

from .progress import ProgressBar
from .status import Status, data_options, echo_rows, warnings_as_lines


def positive(text: str) -> float:
    """Read a number above 0, infinity included."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not value > 0:
        raise click.BadParameter(f"{text!r} is not a number above 0")
    return value


def gamma(text: str) -> float | str:
    """Read the kernel's coefficient."""
    return text if text in ("scale", "auto") else positive(text)


# An option that is left out leaves the estimator's own default: no default is written twice.
@click.command(short_help="Fit a classifier and write it to a file.")
@click.argument("file", type=click.Path())
@click.option("--model", "target", type=click.Path(), required=True, help="The model file to write (.adatron).")
@data_options
@click.option("--kernel", help="linear, poly, rbf, sigmoid or another named kernel.  [default: rbf]")
@click.option("--C", "C", type=positive, help="Weight of the errors; inf is the hard margin.  [default: 1]")
@click.option("--gamma", type=gamma, help="Kernel coefficient.  [default: scale]")
@click.option("--degree", type=click.IntRange(min=0), help="Degree of the polynomial kernel.  [default: 3]")
@click.option("--coef0", type=float, help="Constant of the poly and sigmoid kernels.  [default: 0]")
@click.option("--tol", type=positive, help="Stop at this KKT violation.  [default: 1e-3]")
@click.option("--gap-tol", type=positive, help="Stop only below this relative duality gap, too.")
@click.option("--cache-size", type=positive, help="Memory for kernel rows, in MB.")
@click.option("--max-iter", type=int, help="Limit on updates; -1 is none.")
@click.option("--max-time", type=positive, help="Limit on the time of the fit, in seconds.")
@click.option("--bias", type=click.Choice(["explicit", "augmented", "none"]), help="How the bias enters.")
@click.option("--augment", type=positive, help="The factor of the augmented bias.  [default: 1]")
@click.option("--multi-class", type=click.Choice(["ovo", "ovr"]), help="One class against one, or against the rest.")
@click.option("--n-jobs", type=int, help="Threads.  [default: the cores this process may use]")
@click.option("--precision", type=click.Choice(["auto", "single", "double"]), help="Of the kernel's products.")
@click.option("--class-weight", type=click.Choice(["balanced"]), help="Weigh classes by their frequency.")
@click.option("--quiet", is_flag=True, help="No progress bar and no table.")
def train(file: str, target: str, format: str | None, label: str | int | None, quiet: bool, **options: Any) -> Status:
    """Fit a support vector classifier to FILE and write it to a model file.

    FILE is LIBSVM text or a table, plain or compressed (.gz, .bz2, .xz). A fit that stops early is written too;
    the exit status is then 3.
    """
    from .. import SVC
    from ..files import read, save
    from .report import certificate_rows, kernel_rows

    _require_folder(target)
    table = read(file, format, label)
    model: Any = SVC(**{name: value for name, value in options.items() if value is not None})
    start = time.perf_counter()
    with warnings_as_lines(), ProgressBar(model.gap_tol or model.tol, quiet) as bar:
        model.set_params(callback=bar).fit(table.X, table.y)
    seconds = time.perf_counter() - start
    save(model.set_params(callback=None), target)
    if not quiet:
        samples = ("samples x features", "{} x {}".format(*table.shape))
        closing = [("seconds", f"{seconds:.2f}"), ("model file", target)]
        echo_rows([samples, *kernel_rows(model), *certificate_rows(model), *closing], err=True)
    return Status.NOT_CONVERGED if model.fit_status_ else Status.FINE


def _require_folder(target: str) -> None:
    """Fail before a long fit, not after it, if the model file could not be written."""
    if not os.access(Path(target).resolve().parent, os.W_OK):
        raise OSError(errno.EACCES, "its folder is missing or cannot be written to", target)
