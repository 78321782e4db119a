"""The common part of the commands that fit a machine to files: their data, and the model file."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import click

from ...extras import needed
from ..data import SPARSE, DataFiles, gathered
from ..parts import machine_of, remember_counting, remember_label, remember_names, take_names, task_of
from ..values import MOST_FEATURES, Number
from .target import check_labels, check_numbers, label_text, read_for_novelty, weights_of

IMPUTE = ("mean", "median", "most_frequent")  # What fills gaps.


@dataclass(frozen=True)
class Preparing:
    """The number of features, if it is given, and what is done with the features before the machine."""

    features: int | None
    scale: str
    categorical: str | None
    impute: str | None

    @property
    def reading(self) -> dict[str, Any]:
        """Arguments of `adatron.files.read`."""
        return {"categorical": self.categorical, "allow_missing": self.impute is not None}

    def refuse_steps(self) -> None:
        """Fail if anything is to be done with features, as kernel values have none."""
        for name in ("scale", "categorical", "impute"):
            if (value := getattr(self, name)) not in (None, "none"):
                raise click.UsageError(f"--{name} {value} is for features, and --kernel precomputed has none")

    def check_steps(self, target: str | None) -> None:
        """Fail if the file of a pipeline is asked for, and skops is missing."""
        if target is not None and (self.scale, self.categorical, self.impute) != ("none", None, None):
            try:
                needed("skops.io", "cli", "--scale, --categorical and --impute make a pipeline, whose file takes")
            except ImportError as error:
                raise click.UsageError(str(error)) from error

    def before(self, machine: Any, table: Any) -> Any:
        """Return the machine after these steps; see `columns.prepared`."""
        from .columns import prepared

        return prepared(machine, table, self.scale, self.impute, SPARSE)


def preparing_options(command: Any) -> Any:
    """Add these options; the command gets them as ``preparing``."""
    command = gathered(Preparing, "preparing")(command)
    fill = f"{', '.join(IMPUTE)}: fill missing values; of text with the most frequent."
    for option in (
        click.option("--impute", type=click.Choice(IMPUTE), metavar="METHOD", help=fill),
        click.option(
            "--categorical", type=click.Choice(["auto"]), help="Encode columns of text, a feature for each category."
        ),
        click.option(
            "--scale", type=click.Choice(["none", "standard", "minmax"]), default="none", help="Scale the features."
        ),
        click.option(
            "--features",
            type=Number(1, MOST_FEATURES, whole=True),
            help="Features, if LIBSVM text uses fewer than there are.",
        ),
    ):
        command = option(command)
    return command


def read_training(source: DataFiles, made: Any, preparing: Preparing, chosen: bool, labelled: bool) -> Any:
    """Read the data to train on, and give the machine its class weights.

    chosen : whether the user named the task
    labelled : whether there must be a label; otherwise novelty detection makes use of one that is there
    """
    from .columns import warn_of_names

    task, given = task_of(made), made.kernel == "precomputed"
    name = str(source.files[0])
    if labelled:
        table = source.to_train(preparing.features, given, **preparing.reading)
    else:
        table = read_for_novelty(source, preparing.features, given, preparing.reading)
    warn_of_names(name, table)
    if task == "classification":
        check_labels(name, table, chosen)
        if isinstance(made.class_weight, dict):
            made.set_params(class_weight=weights_of(table.y, made.class_weight))
    elif task == "regression":
        table = replace(table, y=check_numbers(name, table))
    return table


def write_model(model: Any, table: Any, target: str) -> None:
    """Write the model with what it is to remember of its data."""
    from ...files import save

    remember(model, table)
    save(model, target)
    take_names(model)


def remember(model: Any, table: Any) -> None:
    """Tell a fitted model the names and the numbers of its features, and its label."""
    named = machine_of(model).kernel != "precomputed"
    remember_names(model, table.feature_names if named else None)
    remember_counting(model, table.first_index if named else None)
    remember_label(model, None if task_of(model) == "novelty" else label_text(table))
