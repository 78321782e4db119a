"""`adatron stream`: learn line by line, and survive being killed."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import click

from .. import options
from ..outputs import MODEL_ENDINGS, ExitStatus, as_json, check_outputs, echo_rows, write_result
from ..values import Number

STREAM_PARAMETERS = (
    "kernel", "C", "nu", "epsilon", "gamma", "degree", "coef0", "max_time", "class_weight", "bias", "n_jobs",
)  # fmt: skip


@click.command(short_help="Learn and forget line by line, through crashes.")
@click.argument("model", type=click.Path())
@click.argument("file", type=click.Path())
@click.option("--first", type=Number(2, whole=True), default=100, help="Lines for the fit, if MODEL does not exist.")
@click.option("--window", type=Number(1, whole=True), help="Keep this many samples, the last ones.  [default: MODEL's]")
@click.option("--every", type=Number(1, whole=True), default=1000, help="Lines after which the model is written anew.")
@click.option("--skip-learned/--no-skip-learned", default=None, help="Skip the lines that MODEL has learned of FILE "
              "before, whatever they are.  [default: those of a file, if they are the same]")  # fmt: skip
@click.option("--accept-loss", is_flag=True, help="Go on although lines in MODEL are damaged or missing.")
@click.option("--format", type=click.Choice(options.FORMAT_NAMES[:4]), help="Format of FILE.  [default: from its name "
              "or lines]")  # fmt: skip
@options.label_option
@click.option("--zero-based/--one-based", default=None, help="LIBSVM text: features count from 0 or 1.  "
              "[default: as MODEL's, or from 1]")  # fmt: skip
@options.features_option
@click.option("--forget/--no-forget", default=None, help="Whether a line such as -17 forgets a sample, or is one.  "
              "[default: forgets; an error if it may be either]")  # fmt: skip
@options.task_options
@options.form_options
@partial(options.parameter_options, names=STREAM_PARAMETERS)
@options.json_option
@click.option("--quiet", is_flag=True, help="No table.")
def stream(
    model: str,
    file: str,
    first: int,
    window: int | None,
    every: int,
    skip_learned: bool | None,
    accept_loss: bool,
    features: int | None,
    forget: bool | None,
    task: str | None,
    svm: str | None,
    wants_json: bool,
    quiet: bool,
    **parameters: Any,
) -> ExitStatus:
    """Learn the lines of FILE, or of standard input (-), one after the other; each ends at the exact solution.

    A line is a labelled sample (for novelty detection one without a label) in LIBSVM text or a table, which may have a
    header. A line with only a minus and a number, such as -17, makes MODEL forget the sample with this id. Samples are
    numbered from 0 in the order of their arrival. If such a line may also be a sample (LIBSVM text with a label -17),
    --forget or --no-forget says what it is. MODEL becomes a database: it holds the model, written anew now and then and
    at the end, and the lines since. A line of a pipe is on the disk before the next one is learned. After a crash or a
    kill the same command goes on where it stopped. A last line of a file that has no line end yet waits for it. If
    there is no MODEL yet, an incremental machine is fitted to the first lines, with the options of the task and the
    parameters.
    """
    from ...files import load
    from ...files.database import Database, is_database
    from ...files.source import STANDARD_INPUT
    from ..follower import Follower, begin, incremental
    from ..lines import Input, LineReader
    from ..training import machine

    path = Path(model)
    outputs = {"MODEL": model, "the journal of MODEL": f"{path.resolve()}-journal"}
    check_outputs(outputs, [file] if file != STANDARD_INPUT else [], {"MODEL": MODEL_ENDINGS})
    reading: dict[str, Any] = options.taken(parameters, options.READING) | {"n_features": features}
    given = Input(file, reading["encoding"])
    reader = LineReader(given.name, reading, forget, (task or options.TASK) != "novelty")
    chosen = {"task": task, "svm": svm, **parameters}
    if path.exists() and path.stat().st_size and not is_database(path):
        _check_options(model, False, **chosen)
        incremental(load(path))  # other models are not made into databases
    with Database(path) as database:
        new, lines = database.is_new, reader.below_header(given.lines())
        _check_options(model, new, **chosen)
        if new:
            made = machine(task, svm, parameters, options.INCREMENTAL)
            begin(database, given, lines, reader, first, made, task is not None)
        follower = Follower(database, given, reader, every, window, accept_loss)
        count = follower.follow(lines if new else follower.remaining(lines, skip_learned))
    if given.unfinished:
        reason = "it has no line end and was not learned; a run does that once it has one"
        click.echo(f"warning: {given.name}, line {given.unfinished}: {reason}", err=True)
    _tell(follower, model, count, quiet, wants_json)
    return ExitStatus.FINE


def _check_options(model: str, new: bool, **given: Any) -> None:
    """Fail if an option was given that a model which exists has decided already, or that needs all samples."""
    found = [name for name, value in given.items() if value is not None]
    if found and not new:
        option = min(found).replace("_", "-")
        raise click.UsageError(f"{model} exists and has its own parameters: leave out --{option}")
    if given["class_weight"] == "balanced":
        raise click.UsageError(
            "--class-weight balanced depends on samples that are still to come: give LABEL:WEIGHT,LABEL:WEIGHT,..."
        )


def _tell(follower: Any, path: str, count: int, quiet: bool, wants_json: bool) -> None:
    """Print what was reached: a table for people, JSON for programs."""
    import numpy as np

    model = follower.last
    result = {
        "lines": count,
        "replayed_from_journal": follower.replayed,
        "samples": len(model.ids_),
        "support_vectors": len(model.support_),
        "kkt_violation": float(np.max(model.kkt_violation_)),
        "duality_gap": float(np.max(model.duality_gap_)),
        "proven": False,  # an incremental model tracks the two numbers; deletion_report() proves them
        "refits": model.n_refit_,
        "model": path,
    }
    if not quiet:
        shown = result | {name: f"about {result[name]:.2e}" for name in ("kkt_violation", "duality_gap")}
        echo_rows([(name.replace("_", " "), value) for name, value in shown.items() if name != "proven"], err=True)
    if wants_json:
        write_result(as_json(result), None)
