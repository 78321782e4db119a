"""Options that several commands have: data, steps before the machine, the task, and the parameters of all machines.

The help must not import the machines, which takes a second, so the bounds are written here once more, and the names are
read from the source of the library's tables. Tests compare both with the library.
"""

from __future__ import annotations

import ast
from pkgutil import get_data
from typing import Any

import click

from .values import MOST_FEATURES, ListedValues, Number, class_weight, column, quantiles, separator

FORMAT_NAMES = ("libsvm", "csv", "tsv", "table", "npz", "arff", "parquet")  # Equal to files.FORMATS.
FORM = ("separator", "decimal", "header", "drop", "index", "keep_index", "missing", "encoding")
READING = ("format", "label", "zero_based", "max_bytes", *FORM)  # Options that are arguments of `adatron.files.read`.
STEPS = ("features", "scale", "categorical", "impute")
IMPUTE = ("mean", "median", "most_frequent")  # What fills gaps.

TASKS = {
    "classification": {"c": "SVC", "nu": "NuSVC"},
    "regression": {"c": "SVR", "nu": "NuSVR"},
    "quantile": {"c": "QuantileSVR"},
    "novelty": {"nu": "OneClassSVM", "svdd": "SVDD"},
}
INCREMENTAL = {
    "classification": {"c": "IncrementalSVC", "nu": "IncrementalNuSVC"},
    "regression": {"c": "IncrementalSVR"},
    "novelty": {"nu": "IncrementalOneClassSVM", "svdd": "IncrementalSVDD"},
}
TASK = "classification"  # The default.


def taken(options: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """Take some options out of others."""
    return {name: options.pop(name) for name in names if name in options}


def _options(*options: Any) -> Any:
    """Return a decorator that adds options to a command, in this order."""

    def add(command: Any) -> Any:
        for option in reversed(options):
            command = option(command)
        return command

    return add


label_option = click.option("--label", type=column, help="The label's column or array.  [default: the last]")
features_option = click.option("--features", type=Number(1, MOST_FEATURES, whole=True),
                               help="Features, if LIBSVM text uses fewer than there are.")  # fmt: skip
json_option = click.option("--json", "wants_json", is_flag=True, help="Print JSON.")
output_option = click.option("--output", type=click.Path(), help="File for the result.  [default: standard output]")
device_option = click.option("--device", help="Where to compute: cuda, cuda:1 (a GPU, extra gpu) or cpu.  "
                             "[default: cpu]")  # fmt: skip

#: Adds the options FORM about the form of a table.
form_options = _options(
    click.option("--separator", type=separator, help="A character, comma, semicolon, tab, bar or space.  "
                 "[default: inferred]"),
    click.option("--decimal", type=click.Choice([".", ","]), help="Decimal sign of a table.  [default: inferred]"),
    click.option("--header/--no-header", default=None, help="Whether the first row of a table holds names.  "
                 "[default: inferred]"),
    click.option("--drop", type=column, multiple=True, help="A column to leave out; may be repeated."),
    click.option("--index", type=column, help="The column that names or counts the rows: no feature."),
    click.option("--keep-index", is_flag=True, help="A column that looks like an index or an id is a feature."),
    click.option("--missing", multiple=True, callback=lambda context, option, given: given or None,
                 help="A mark of missing values; may be repeated.  [default: empty, ?, NA, ...]"),
    click.option("--encoding", help="Encoding of a table.  [default: UTF-8, or UTF-16 with its mark]"),
)  # fmt: skip

#: Adds the argument ``files`` and the options READING, which say how these are read.
data_options = _options(
    click.argument("files", metavar="FILE...", type=click.Path(), nargs=-1, required=True),
    click.option("--format", type=click.Choice(FORMAT_NAMES), metavar="FORMAT",
                 help=f"{', '.join(FORMAT_NAMES)}.  [default: from the name of FILE]"),
    label_option,
    click.option("--zero-based/--one-based", default=None, help="LIBSVM text: features count from 0 or 1.  "
                 "[default: as the model's; inferred]"),
    click.option("--max-bytes", type=Number(1, whole=True), help="Bytes that a file and its table may take each.  "
                 "[default: a quarter of the memory]"),
    form_options,
)  # fmt: skip

#: Adds the options STEPS: the number of features, and the steps before the machine.
preparing_options = _options(
    features_option,
    click.option("--scale", type=click.Choice(["none", "standard", "minmax"]), default="none",
                 help="Scale the features."),
    click.option("--categorical", type=click.Choice(["auto"]),
                 help="Encode columns of text, a feature for each category."),
    click.option("--impute", type=click.Choice(IMPUTE), metavar="METHOD",
                 help=f"{', '.join(IMPUTE)}: fill missing values; of text with the most frequent."),
)  # fmt: skip

#: Adds options about what is printed.
printing_options = _options(
    json_option,
    click.option("--quiet", is_flag=True, help="No progress, and nothing but the result."),
    click.option("--no-progress", is_flag=True, help="No progress."),
)

_KINDS = sorted({svm for table in (TASKS, INCREMENTAL) for kinds in table.values() for svm in kinds})
#: Adds the options that say which machine is fitted.
task_options = _options(
    click.option("--task", type=click.Choice(list(TASKS)), metavar="TASK",
                 help=f"{', '.join(TASKS)}.  [default: {TASK}]"),
    click.option("--svm", "--machine", "svm", type=click.Choice(_KINDS),
                 help="With C (C-SVC, epsilon-SVR), with nu, or a ball.  [default: c; novelty: nu]"),
)  # fmt: skip


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
    click.option("--probability/--no-probability", default=None, help="Also fit probabilities of the classes.  "
                 "[default: no]"),
    _option("--bias", click.Choice(["explicit", "augmented", "none"]), "How the bias enters.", "explicit"),
    _option("--solver", click.Choice(SOLVER_NAMES), "One that `info --solvers` lists.", "auto", metavar="NAME"),
    _option("--n-jobs", Number(whole=True, but=0), "Threads; -1: all.", "the cores this process may use"),
    device_option,
    _option("--random-state", Number(0, LARGEST_SEED, whole=True), "Seed of the shuffle for --probability and --cv."),
)  # fmt: skip
PARAMETER_NAMES: tuple[str, ...] = tuple(option(lambda: None).__click_params__[0].name for option in _MACHINE_OPTIONS)


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


def parameter_options(command: Any, names: tuple[str, ...] = PARAMETER_NAMES) -> Any:
    """Add an option for each of these parameters of the machines, in the order of the table."""
    chosen = [option for name, option in zip(PARAMETER_NAMES, _MACHINE_OPTIONS, strict=True) if name in names]
    rare = click.option("--set", multiple=True, metavar="NAME=VALUE", callback=_set, expose_value=False,
                        help="Another parameter of the machine, such as cache_size=500.")  # fmt: skip
    return _options(*chosen, rare)(command)


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


_LIMITS = ("tol", "gap_tol", "max_time", "n_jobs", "device")
_OUTPUT = ("target", "plot", "save_partial", "wants_json", "quiet", "no_progress", "_click_default_help")
GROUPS = {"Data": (*READING, "test", *STEPS), "Model": (), "Limits": _LIMITS, "Output": _OUTPUT}
WIDEST = 36  # Columns of an option; one that is wider has its words on the next line.


class GroupedCommand(click.Command):
    """A command whose options are listed as data, model, output and limits."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        options = [one for one in self.get_params(ctx) if isinstance(one, click.Option)]
        others = {name for names in GROUPS.values() for name in names}
        for group, names in GROUPS.items():
            chosen = [one for one in options if one.name in names or (not names and one.name not in others)]
            with formatter.section(group):
                formatter.write_dl([row for one in chosen if (row := one.get_help_record(ctx))], WIDEST)
