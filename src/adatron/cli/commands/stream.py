"""`adatron stream`: learn line by line, and survive being killed."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import click

from ..data import FORMATS, Form, column, form_options
from ..parameters import some_parameter_options, weights_of
from ..status import Status, as_json, echo_rows, warnings_as_lines, write_result

PARAMETERS = (
    "kernel", "C", "gamma", "degree", "coef0", "class_weight", "bias", "multi_class", "decision_function_shape",
    "break_ties", "n_jobs",
)  # fmt: skip


@click.command(short_help="Learn and forget line by line, through crashes.")
@click.argument("model", type=click.Path())
@click.argument("file", type=click.Path())
@click.option("--first", type=click.IntRange(min=2), default=100, help="Lines for the fit, if MODEL does not exist.")
@click.option("--window", type=click.IntRange(min=1), help="Keep this many samples, the last ones.  [default: MODEL's]")
@click.option("--every", type=click.IntRange(min=1), default=1000, help="Lines after which MODEL is written anew.")
@click.option("--skip-learned/--no-skip-learned", default=None, help="Skip the lines that MODEL has learned of FILE "
              "before, whatever they are.  [default: those of a file, if they are the same]")  # fmt: skip
@click.option("--accept-loss", is_flag=True, help="Go on although records of the journal are damaged or missing.")
@click.option("--format", type=click.Choice(FORMATS[:4]), help="Format of FILE.  [default: from its name or lines]")
@click.option("--label", type=column, help="The label's column.  [default: the last]")
@click.option("--zero-based/--one-based", default=None, help="LIBSVM text: features count from 0 or 1.  "
              "[default: as MODEL's, or from 1]")  # fmt: skip
@click.option("--features", type=click.IntRange(min=1), help="Features, if the first lines of LIBSVM text use fewer.")
@click.option("--forget/--no-forget", default=None, help="Whether a line such as -17 forgets a sample, or is one.  "
              "[default: forgets; an error if it may be either]")  # fmt: skip
@form_options
@some_parameter_options(PARAMETERS)
@click.option("--json", "wants_json", is_flag=True, help="Print what was reached as JSON.")
@click.option("--quiet", is_flag=True, help="No table.")
def stream(
    model: str,
    file: str,
    first: int,
    window: int | None,
    every: int,
    skip_learned: bool | None,
    accept_loss: bool,
    format: str | None,
    label: str | int | None,
    zero_based: bool | None,
    features: int | None,
    forget: bool | None,
    form: Form,
    wants_json: bool,
    quiet: bool,
    **parameters: Any,
) -> Status:
    """Learn the lines of FILE, or of standard input (-), one after the other; each ends at the exact solution.

    A line is a labelled sample in LIBSVM text or a table without a header. A line with only a minus and a number, such
    as -17, makes MODEL forget the sample with this id. Samples are numbered from 0 in the order of their arrival. If
    such a line may also be a sample (LIBSVM text with a label -17), --forget or --no-forget says what it is. Each line
    is in MODEL.journal, on the disk, before the next one is learned. MODEL is written anew now and then and at the end.
    After a crash or a kill the same command goes on where it stopped. A last line of a file that has no line end yet
    waits for it. If there is no MODEL yet, an IncrementalSVC is fitted to the first lines, with the options of the
    kernel and of C.
    """
    from ...files.journal import Journal, journal_of, read_journal
    from ..inputs import Input
    from ..learner import Learner, Manner
    from ..lines import Lines

    parameters = {name: value for name, value in parameters.items() if value is not None}
    path, given = Path(model), Input(file)
    lines, reader = given.lines(), Lines(given.name, format, label, zero_based, features, forget=forget, form=form)
    with warnings_as_lines(), Journal(journal_of(path)) as journal:
        if path.exists() and parameters:
            raise click.UsageError(f"{model} exists and has its own parameters: leave out --{min(parameters)}")
        new = not path.exists()
        if new:
            read_journal(journal.path, None, 0)  # refuses a journal with records of a model that was deleted
            lines = _begin(path, given, lines, reader, first, parameters)
        learner = Learner(path, given, reader, journal, Manner(every, window, accept_loss))
        if not new:
            lines = learner.remaining(lines, skip_learned)
        count = learner.follow(lines)
        if given.unfinished:
            warnings.warn(
                f"{given.name}, line {given.unfinished}: it has no line end and was not learned; a run does that once "
                "it has one",
                stacklevel=1,
            )
    result = _result(learner, count)
    if not quiet:
        echo_rows([(name.replace("_", " "), value) for name, value in result.items()], err=True)
    if wants_json:
        write_result(as_json(result), None)
    return Status.FINE


def _begin(
    path: Path, given: Any, lines: Iterator[tuple[int, str]], reader: Any, first: int, parameters: dict[str, Any]
) -> Iterator[tuple[int, str]]:
    """Fit a model to the first lines and write it; the lines after them."""
    import numpy as np

    from ... import IncrementalSVC
    from ...files import DataError, save
    from ..memory import fitted
    from ..parts import remember_counting

    weight = parameters.get("class_weight")
    if weight == "balanced":
        raise click.UsageError(
            "--class-weight balanced depends on samples that are still to come: give LABEL:WEIGHT,LABEL:WEIGHT,..."
        )
    begin = list(islice(lines, first))
    if not begin:
        raise ValueError(f"{reader.name}: the file holds no data")
    for number, text in begin:
        if reader.forgotten(number, text) is not None:
            raise DataError(reader.name, f"{text!r} forgets, but the first {first} lines are for the fit", number)
    table = reader.table(begin[0][0], [text for _, text in begin])
    if weight:
        parameters = {**parameters, "class_weight": weights_of(np.unique(table.y), weight)}
    model = IncrementalSVC(**parameters).fit(table.X, table.y)
    model.stream_ = fitted(given.source, given.inode, begin)
    remember_counting(model, table.first_index)
    save(model, path)
    return lines


def _result(learner: Any, count: int) -> dict[str, Any]:
    import numpy as np

    model = learner.last
    return {
        "lines": count,
        "lines_of_an_earlier_run": learner.replayed,
        "samples": len(model.ids_),
        "support_vectors": len(model.support_),
        "kkt_violation": float(np.max(model.kkt_violation_)),
        "duality_gap": float(np.max(model.duality_gap_)),
        "refits": model.n_refit_,
        "model": str(learner.path),
    }
