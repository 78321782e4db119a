"""The parameters of all machines as options of the command line.

The help must not import the machines, which takes a second, so the bounds are written here once more, and the names are
read from the source of the library's tables. A test compares both with the constraints of the estimators.
"""

from __future__ import annotations

import ast
from pkgutil import get_data
from typing import Any

import click

from .values import AUTO_RANGE, ListedValues, Number, class_weight, quantiles


def _names(file: str, table: str) -> list[str]:
    """Return the names in a table of the library, a dict or a tuple of lines; those with an underscore are its own."""
    source = get_data(__name__.partition(".")[0], file) or b""
    typed = (node for node in ast.parse(source).body if isinstance(node, ast.AnnAssign))
    lines: Any = next(node.value for node in typed if isinstance(node.target, ast.Name) and node.target.id == table)
    keys = getattr(lines, "keys", None) or [line.elts[0] for line in lines.elts]
    return sorted(key.value for key in keys if not key.value.startswith("_"))


KERNEL_NAMES = sorted([*_names("kernels/table.py", "KERNELS"), "precomputed"])
SOLVER_NAMES = ["auto", *_names("solvers/table.py", "SOLVERS")]
ABOVE_0 = Number(0, above=True)  # A positive number.
FRACTION = Number(0, 1, above=True)  # A number above 0, at most 1.
RARE = ("augment", "break_ties", "cache_size", "decision_function_shape", "max_iter", "multi_class", "precision",
        "rearrange", "shrinking")  # fmt: skip # Parameters that --set takes.
LARGEST_SEED = 2**32 - 1  # that NumPy's generators take
SEARCHED = ("C", "nu", "epsilon", "gamma", "degree", "coef0")  # Parameters that may have several values.
RANGED = ("C", "nu", "epsilon", "gamma")  # Parameters for which auto finds a range.


def _option(names: str, values: Any, text: str, default: str = "", **more: Any) -> Any:
    """Return an option; one that is left out leaves the default to the estimator, and the help alone names it here."""
    return click.option(*names.split(), type=values, help=f"{text}  [default: {default}]" if default else text, **more)


def _flag(name: str, text: str, default: str) -> Any:
    """Return an option that is true, false or left out."""
    return click.option(f"--{name}/--no-{name}", default=None, help=f"{text}  [default: {default}]")


_MACHINE_OPTIONS: tuple[Any, ...] = (
    _option("--kernel", click.Choice(KERNEL_NAMES), f"{', '.join(KERNEL_NAMES)}.", "rbf", metavar="KERNEL"),
    _option("--C C", Number(0, above=True, finite=False), "Weight of the errors; inf is the hard margin.", "1"),
    _option("--nu", FRACTION, "Bound on the part of errors: machines with nu.", "0.5"),
    _option("--epsilon", Number(0), "Error that costs nothing: regression with C.", "0.1"),
    _option("--quantile", quantiles, "Quantile, or several: regression of quantiles.", "0.5", metavar="Q,..."),
    _option("--gamma", Number(0, words=("scale", "auto")), "Coefficient of the kernel.", "scale"),
    _option("--degree", Number(0, whole=True), "Degree of the polynomial kernel.", "3"),
    _option("--coef0", Number(), "Constant of the poly and sigmoid kernels.", "0"),
    _option("--tol", ABOVE_0, "Stop at this KKT violation.", "1e-3"),
    _option("--gap-tol", ABOVE_0, "Stop only below this relative duality gap, too.", "1e-3"),
    _option("--max-time", ABOVE_0, "Limit on the time of the fit, in seconds."),
    _option("--class-weight", class_weight, "Weights of the classes: balanced, or LABEL:WEIGHT,...", metavar="WEIGHTS"),
    _flag("probability", "Also fit probabilities of the classes.", "no"),
    _option("--bias", click.Choice(["explicit", "augmented", "none"]), "How the bias enters.", "explicit"),
    _option("--solver", click.Choice(SOLVER_NAMES), "One that `info --solvers` lists.", "auto", metavar="NAME"),
    _option("--n-jobs", Number(whole=True, but=0), "Threads; -1: all.", "the cores this process may use"),
    _option("--device", click.STRING, "Where to solve: cuda, cuda:1 (a GPU, extra gpu) or cpu.", "cpu"),
    _option(
        "--random-state", Number(0, LARGEST_SEED, whole=True), "Seed of the shuffle for --probability and --cv."
    ),
)  # fmt: skip


def _set(context: click.Context, option: click.Parameter, given: tuple[str, ...]) -> None:
    """Put rare parameters among the others; numbers, True, False and None are read as in Python, all else is text."""
    context.params.update(dict.fromkeys(RARE))
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or name not in RARE:
            raise click.BadParameter(f"{text!r} is no NAME=VALUE with a NAME of {', '.join(RARE)}", context, option)
        try:
            context.params[name] = ast.literal_eval(value)
        except (SyntaxError, ValueError):
            context.params[name] = value


PARAMETER_NAMES: tuple[str, ...] = tuple(option(lambda: None).__click_params__[0].name for option in _MACHINE_OPTIONS)


def parameter_options(command: Any, names: tuple[str, ...] = PARAMETER_NAMES) -> Any:
    """Add an option for each of these parameters of the machines, in the order of the table."""
    rare = click.option("--set", multiple=True, metavar="NAME=VALUE", callback=_set, expose_value=False,
                        help="Another parameter of the machine, such as cache_size=500.")  # fmt: skip
    command = rare(command)
    for name, option in reversed(list(zip(PARAMETER_NAMES, _MACHINE_OPTIONS, strict=True))):
        if name in names:
            command = option(command)
    return command


def searched_options(command: Any) -> Any:
    """Add the options of all machines; those of SEARCHED take several values."""
    command = parameter_options(command)
    for option in command.__click_params__:
        if option.name in SEARCHED:
            option.type = ListedValues(option.type, option.name in RANGED)
            option.metavar = None
        elif option.name == "max_time":
            option.help = "Seconds after which no fit begins; the best candidate so far counts."
    return command


def grid_of(given: dict[str, Any], machine: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the parameters to search and those that are fixed; without any to search, those that auto knows.

    given : the values of the options of SEARCHED that are not left out
    """
    fixed = {name: values[0] for name, values in given.items() if values != AUTO_RANGE and len(values) == 1}
    searched = {
        name: list(values) if values != AUTO_RANGE else AUTO_RANGE
        for name, values in given.items()
        if name not in fixed
    }
    if not searched:
        from ..selection.ranges.auto import DISTANT, SCALED

        known = set(machine.get_params()) - ({"gamma"} if machine.kernel not in DISTANT + SCALED else set())
        searched = {name: AUTO_RANGE for name in RANGED if name in known and name not in fixed}
    return searched, fixed
