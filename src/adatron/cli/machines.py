"""The machine that the options of a command ask for."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import click

from .parameters import RARE
from .parts import check_device

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

MachineTable = dict[str, dict[str, str]]


def task_options(command: Any) -> Any:
    """Add the options that say which machine is fitted."""
    machine = "With C (C-SVC, epsilon-SVR), with nu, or a ball.  [default: c; novelty: nu]"
    kinds = sorted({svm for table in (TASKS, INCREMENTAL) for kinds in table.values() for svm in kinds})
    command = click.option("--svm", "--machine", "svm", type=click.Choice(kinds), help=machine)(command)
    kinds = f"{', '.join(TASKS)}.  [default: {TASK}]"
    return click.option("--task", type=click.Choice(list(TASKS)), metavar="TASK", help=kinds)(command)


def machine(task: str | None, svm: str | None, parameters: dict[str, Any], table: MachineTable = TASKS) -> Any:
    """Return the unfitted machine with these parameters; those that are None keep their defaults.

    Raises
    ------
    click.UsageError
        There is no such machine, it has no such parameter, or its parameters do not go together.
    """
    task = task or TASK
    if task not in table:
        raise click.UsageError(f"--task {task} has no machine here; there are {', '.join(table)}")
    svm = svm or next(iter(table[task]))
    if svm not in table[task]:
        tasks = [f"--task {one}" for one, machines in table.items() if svm in machines]
        raise click.UsageError(
            f"--task {task} has no machine with --svm {svm}: leave it out, give --svm {next(iter(table[task]))}"
            + (f", or {' or '.join(tasks)}" if tasks else "")
        )
    kind = _kind(table[task][svm])
    given = {name: value for name, value in parameters.items() if value is not None}
    unknown = [name for name in given if name not in kind().get_params()]
    if unknown:
        raise click.UsageError(_misplaced(unknown[0], kind.__name__, table))
    made = kind(**given)
    _check(made)
    return made


def _kind(name: str) -> Any:
    return getattr(import_module("adatron"), name)


def _misplaced(name: str, kind: str, table: MachineTable) -> str:
    """Return the error for a parameter that another machine has."""
    others = [
        f"{other} (--task {task} --svm {svm})"
        for task, kinds in table.items()
        for svm, other in kinds.items()
        if name in _kind(other)().get_params()
    ]
    option = f"--set {name}" if name in RARE else f"--{name.replace('_', '-')}"
    return f"{option} is no parameter of {kind}, but of {', '.join(others)}"


def _check(made: Any) -> None:
    """Fail if the parameters of a machine are wrong, or do not go together; without this, a fit would find out."""
    import numpy as np
    from sklearn.utils._param_validation import InvalidParameterError

    from ..solvers.table import choose

    try:
        made._validate_params()
    except InvalidParameterError as error:
        raise click.UsageError(str(error)) from error
    found = made.get_params()
    if found.get("break_ties") and found["decision_function_shape"] == "ovo":
        raise click.UsageError("break_ties=True needs decision_function_shape='ovr'")
    if found.get("device") is not None:
        check_device(made.device)
    if "solver" not in found:  # the incremental machines have their own
        return
    two = np.array([1.0, -1.0])
    try:
        choose(made.solver, made.problem(1.0).dual(two, np.ones(2), lambda: np.ones(2)))
    except ValueError as error:
        raise click.UsageError(f"--solver {made.solver}: {error}") from error
