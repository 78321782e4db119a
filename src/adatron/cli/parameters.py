"""The classifier's parameters as options of the command line."""

from __future__ import annotations

import math
from typing import Any

import click

from .choices import NameIn, kernel_names, solver_names


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
    if text in ("scale", "auto"):
        return text
    try:
        value = positive(text)
    except click.BadParameter as error:
        raise click.BadParameter(f"{error.message}, nor 'scale' or 'auto'") from None
    if math.isinf(value):
        raise click.BadParameter(f"{text!r} is not a finite number")
    return value


def augment(text: str) -> float | str:
    """Read the factor of the augmented bias."""
    return text if text == "auto" else positive(text)


def class_weight(text: str) -> dict[str, float] | str:
    """Read weights of classes: balanced, or LABEL:WEIGHT with commas between."""
    if text == "balanced":
        return text
    pairs = [part.rpartition(":") for part in text.split(",")]
    if not all(label for label, _, _ in pairs):
        raise click.BadParameter(f"{text!r} is neither 'balanced' nor LABEL:WEIGHT,LABEL:WEIGHT,...")
    return {label.strip(): positive(weight) for label, _, weight in pairs}


def weights_of(classes: Any, given: dict[str, float]) -> dict[Any, float]:
    """Return the weights under the labels in the data."""
    named = {str(label): label for label in classes.tolist()}
    unknown = [label for label in given if label not in named]
    if unknown:
        raise ValueError(f"--class-weight names the class {unknown[0]!r}; the classes are {', '.join(named)}")
    return {named[label]: weight for label, weight in given.items()}


# An option that is left out leaves the estimator's own default, so no default is written twice.
_OPTIONS: tuple[Any, ...] = (
    click.option("--kernel", type=NameIn("kernel", kernel_names), help="Such as linear or poly.  [default: rbf]"),
    click.option("--C", "C", type=positive, help="Weight of the errors; inf is the hard margin.  [default: 1]"),
    click.option("--gamma", type=gamma, help="Kernel coefficient, or scale or auto.  [default: scale]"),
    click.option("--degree", type=click.IntRange(min=0), help="Degree of the polynomial kernel.  [default: 3]"),
    click.option("--coef0", type=float, help="Constant of the poly and sigmoid kernels.  [default: 0]"),
    click.option("--tol", type=positive, help="Stop at this KKT violation.  [default: 1e-3]"),
    click.option("--gap-tol", type=positive, help="Stop only below this relative duality gap, too."),
    click.option("--cache-size", type=positive, help="Memory for kernel values, in MB.  [default: 1000]"),
    click.option("--max-iter", type=click.IntRange(min=-1), help="Most updates; -1: a limit that grows with the data."),
    click.option("--max-time", type=positive, help="Limit on the time of the fit, in seconds."),
    click.option("--class-weight", type=class_weight, help="balanced, or LABEL:WEIGHT,LABEL:WEIGHT,..."),
    click.option("--bias", type=click.Choice(["explicit", "augmented", "none"]), help="How the bias enters."),
    click.option("--augment", type=augment, help="The factor of the augmented bias, or auto.  [default: 1]"),
    click.option("--multi-class", type=click.Choice(["ovo", "ovr"]), help="One against one, or against the rest."),
    click.option("--decision-function-shape", type=click.Choice(["ovr", "ovo"]), help="Of the decision values."),
    click.option("--break-ties/--no-break-ties", default=None, help="Break ties of votes by the decision values."),
    click.option("--solver", type=NameIn("solver", solver_names), help="See `info --solvers`.  [default: auto]"),
    click.option("--precision", type=click.Choice(["auto", "single", "double"]), help="Of the kernel's products."),
    click.option("--n-jobs", type=int, help="Threads.  [default: the cores this process may use]"),
    click.option("--shrinking/--no-shrinking", default=None, help="Accepted as scikit-learn's; without effect."),
    click.option("--random-state", type=int, help="Accepted as scikit-learn's; without effect."),
)


def parameter_options(command: Any) -> Any:
    """Add an option for each parameter of the classifier, in the order of the table."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def some_parameter_options(names: tuple[str, ...]) -> Any:
    """Add the options of some parameters."""

    def decorate(command: Any) -> Any:
        for option in reversed(_OPTIONS):
            bare = option(lambda: None)
            if bare.__click_params__[0].name in names:
                command = option(command)
        return command

    return decorate
