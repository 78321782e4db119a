"""Training: the machine and the steps before it, the data, a fit with its progress, and cross-validation.

Ctrl-C stops a fit, which keeps what there is. The bar of a fit shows how far the duality gap has fallen, on a
logarithmic scale.
"""

from __future__ import annotations

import math
import signal
import sys
import threading
import time
import warnings
from types import FrameType
from typing import TYPE_CHECKING, Any

import click
import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, OneHotEncoder, StandardScaler
from sklearn.utils._param_validation import InvalidParameterError
from sklearn.utils.metaestimators import _safe_split  # pyright: ignore[reportPrivateUsage]

import adatron

from ..extras import needed
from ..files.source import room
from ..files.table import check_size
from ..files.tables.columns import LABEL_NAMES
from ..pipelines import way_to
from ..progress import ProgressDisplay, part_done
from ..solvers.table import choose
from .data import SPARSE, DataFiles
from .labels import check_classes_of, has_sides, label_text, labelled_for
from .options import RARE, TASK, TASKS
from .outputs import InputError, warnings_as_lines
from .parts import check_device, framed, machine_of, named_in, task_of

if TYPE_CHECKING:
    from ..solvers.base import Progress

SCALE_NUMBERS = 6  # Most numbers of a scaling for each feature, used or not.
ROWS_OF_NAMES = 20  # Number of rows from which on columns of names are looked for.
DISTINCT = 0.5  # Share of distinct texts above which a column of text holds names rather than categories.


def machine(
    task: str | None, svm: str | None, parameters: dict[str, Any], table: dict[str, dict[str, str]] = TASKS
) -> Any:
    """Return the unfitted machine with these parameters; those that are None keep their defaults."""
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
    kind = getattr(adatron, table[task][svm])
    given = {name: value for name, value in parameters.items() if value is not None}
    for name in [name for name in given if name not in kind().get_params()]:
        others = [
            f"{other} (--task {task} --svm {svm})"
            for task, kinds in table.items()
            for svm, other in kinds.items()
            if name in getattr(adatron, other)().get_params()
        ]
        option = f"--set {name}" if name in RARE else f"--{name.replace('_', '-')}"
        raise click.UsageError(f"{option} is no parameter of {kind.__name__}, but of {', '.join(others)}")
    made = kind(**given)
    _check(made)
    return made


def _check(made: Any) -> None:
    """Fail if the parameters of a machine are wrong, or do not go together; without this, a fit would find out."""
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


def check_steps(preparing: dict[str, Any], kernel: str | None, target: str | None) -> None:
    """Fail if there can be no steps before the machine, or if skops is missing, which the file of a pipeline takes."""
    requested = {name: value for name, value in preparing.items() if name != "features" and value not in (None, "none")}
    for name, value in requested.items() if kernel == "precomputed" else ():
        raise click.UsageError(f"--{name} {value} is for features, and --kernel precomputed has none")
    if requested and target is not None:
        try:
            needed("skops.io", "cli", "--scale, --categorical and --impute make a pipeline, whose file takes")
        except ImportError as error:
            raise click.UsageError(str(error)) from error


def prepared(machine: Any, table: Any, preparing: dict[str, Any]) -> Any:
    """Return the machine after the steps that its data need.

    Each category of a text becomes a feature that is 1 or 0; these are not scaled. A text that the training data lack
    is 0 in all of them. A scaling gives mean 0 and variance 1 (sparse data: variance 1), or the range from 0 to 1
    (sparse data: from -1 to 1). Missing texts become the most frequent one.
    """
    scale, impute = preparing["scale"], preparing["impute"]
    steps: list[tuple[str, Any]] = [] if impute is None else [("impute", SimpleImputer(strategy=impute))]
    if scale != "none":
        zeros = sparse.issparse(table.X)  # which are kept
        check_size("--scale", "scales of the features", 8 * SCALE_NUMBERS * table.shape[1], room())
        minmax = MaxAbsScaler() if zeros else MinMaxScaler()
        steps.append(("scale", StandardScaler(with_mean=not zeros) if scale == "standard" else minmax))
    if table.categorical:
        texts, encoder = list(table.categorical), OneHotEncoder(handle_unknown="ignore")
        if impute is not None:
            encoder = Pipeline([("impute", SimpleImputer(strategy="most_frequent")), ("encode", encoder)])
        parts: list[Any] = [("texts", encoder, texts)]
        numbers = sorted({*range(table.shape[1])} - {*texts})
        if numbers:
            parts.insert(0, ("numbers", Pipeline(steps) if steps else "passthrough", numbers))
        steps = [("columns", ColumnTransformer(parts, sparse_threshold=SPARSE))]
    return Pipeline([*steps, (type(machine).__name__.lower(), machine)]) if steps else machine


def read_training(source: DataFiles, made: Any, preparing: dict[str, Any], chosen: bool, labelled: bool) -> Any:
    """Read the data to train on, and give the machine its class weights.

    chosen : whether the user named the task
    labelled : whether there must be a label; otherwise novelty detection makes use of one that is there
    """
    task, given = task_of(made), source.given
    reading = {
        "n_features": preparing["features"],
        "categorical": preparing["categorical"],
        "allow_missing": preparing["impute"] is not None,
    }
    source = source if labelled else source.rewindable()
    table = source.to_train(labelled=labelled, **reading)
    if not labelled and table.y is None and not given and table.shape[1] > 1 and _has_label(source.name, table):
        table = source.to_train(**reading)
    for at in table.categorical if table.shape[0] >= ROWS_OF_NAMES else ():
        distinct, n = len(set(table.X[:, at].tolist())), table.shape[0]
        if distinct > DISTINCT * n:
            what = f"{named_in(table, at)} holds {distinct:,} different texts in {n:,} rows, as names do"
            warnings.warn(f"{source.name}: {what}: --drop leaves it out", stacklevel=2)
    table = labelled_for(made, task, source.name, table, chosen)
    if task == "classification":
        check_classes_of(source.name, table)
    return table


def _has_label(file: str, table: Any) -> bool:
    """Tell whether a column has the name of a label, or else the last column holds 1 and -1 alone."""
    if any(name.lower() in LABEL_NAMES for name in table.feature_names or ()):
        return True
    last = table.X[:, [-1]]
    values: Any = last.toarray() if sparse.issparse(last) else last
    found = set(np.unique(values.astype(str)).tolist()) in ({"-1.0", "1.0"}, {"-1", "1"})
    if found:
        text = "the last column holds 1 and -1 alone, so it is the label, and samples with -1 are left out of the fit"
        warnings.warn(f"{file}: {text}: --label names another column", stacklevel=2)
    return found


class Interrupt:
    """While active, a first Ctrl-C sets ``requested``; a second one acts as Ctrl-C did before.

    wanted : if False, or on another thread than the main one, Ctrl-C stays as it is
    begun : whether there is something to keep; before that, the first one acts as the second one
    """

    def __init__(self, wanted: bool, begun: bool = True) -> None:
        self.requested, self.begun = False, begun
        self._wanted = wanted and threading.current_thread() is threading.main_thread()
        self._before: Any = None

    def __enter__(self) -> Interrupt:
        if self._wanted:
            self._before = signal.signal(signal.SIGINT, self._ask)
        return self

    def __exit__(self, *error: object) -> None:
        if self._wanted:
            signal.signal(signal.SIGINT, self._before)

    def _ask(self, number: int, frame: FrameType | None) -> None:
        if (self.requested or not self.begun) and callable(self._before):
            self._before(number, frame)
        self.requested = True
        click.echo("\nstopping; Ctrl-C again ends at once", err=True)


class ProgressBar(ProgressDisplay):
    """A callback of a fit that shows its progress; ``target`` is the relative duality gap that counts as done."""

    def __init__(self, target: float, quiet: bool, interrupt: Interrupt, name: str = "fit") -> None:
        super().__init__(name, visible=not quiet)
        self._target, self._interrupt = target, interrupt
        self._first: dict[int, float] = {}

    def __call__(self, state: Progress) -> bool:
        """Move the bar; True asks for a stop."""
        self._interrupt.begun = True
        first = self._first.setdefault(state.problem, state.duality_gap)
        if not math.isfinite(first):
            del self._first[state.problem]
        done = (state.n_finished + part_done(first, state.duality_gap, self._target)) / state.n_problems
        # Problems run side by side, so their reports interleave: never step back.
        self.done = max(self.done, min(done, 1.0))
        self.note = f"duality gap {state.duality_gap:.1e}, KKT {state.kkt_violation:.1e}"
        return self._interrupt.requested


def fit(model: Any, table: Any, save_partial: bool, silent: bool) -> tuple[float, bool]:
    """Fit a model, which then knows the names and numbers of its features, and where its label was.

    Return the seconds that the fit took, and whether Ctrl-C cut it short.
    """
    machine, start = machine_of(model), time.perf_counter()
    names = table.feature_names if machine.kernel != "precomputed" else None
    wanted = save_partial or (sys.stdin.isatty() and sys.stderr.isatty())
    with (
        Interrupt(wanted, begun=save_partial) as interrupt,
        warnings_as_lines(lambda text: text.replace("the callback asked to stop", "interrupted")),
    ):
        _with_progress(model, framed(table.X, names), table.y, interrupt, silent)
    seconds = time.perf_counter() - start
    if names is not None and sparse.issparse(table.X):
        way_to(model).estimators[0].feature_names_in_ = np.array(names, dtype=object)
    remember(machine, table)
    return seconds, interrupt.requested and machine.fit_status_ != 0


def remember(machine: Any, table: Any) -> None:
    """Tell a fitted machine from which number on its features counted, and where its labels came from."""
    if table.first_index is not None and machine.kernel != "precomputed":
        machine.first_index_ = table.first_index
    if task_of(machine) != "novelty" and table.y is not None:
        machine.label_ = label_text(table)


def splits_of(file: str, task: str, table: Any, folds: int, seed: int) -> list[tuple[Any, Any]]:
    """Return the samples to learn from and to test on, fold by fold; classes have the same share in each fold.

    Novelty detection learns from samples with label 1. Fewer samples than folds, also of each class, are an error.
    """
    y, sides = table.y, task == "novelty" and has_sides(table.y)
    kind = StratifiedKFold if sides or task == "classification" else KFold
    splits: Any = kind(folds, shuffle=True, random_state=seed).split(table.X, y)
    try:
        return [(train[y[train] == 1] if sides else train, test) for train, test in splits]
    except ValueError as error:
        raise InputError(f"{file}: --cv {folds:,} needs more samples: {error}") from error


def cross_validated(file: str, model: Any, table: Any, folds: int, seed: int, silent: bool) -> Any:
    """Return the prediction of each sample by a model of the other folds."""
    X, y, predicted = table.X, table.y, None
    for number, (train, test) in enumerate(splits_of(file, task_of(model), table, folds, seed), 1):
        one: Any = clone(model)
        X_train, y_train = _safe_split(one, X, y, train)
        _with_progress(one, X_train, y_train, Interrupt(False), silent, f"fold {number} of {folds}")
        part = one.predict(_safe_split(one, X, y, test, train)[0])
        predicted = np.empty((X.shape[0], *part.shape[1:]), part.dtype) if predicted is None else predicted
        predicted[test] = part
    return predicted


def _with_progress(model: Any, X: Any, y: Any, interrupt: Interrupt, silent: bool, name: str = "fit") -> None:
    machine = machine_of(model)
    with ProgressBar(machine.gap_tol or machine.tol, silent, interrupt, name) as bar:
        machine.set_params(callback=bar)
        try:
            model.fit(X, y)
        finally:
            machine.set_params(callback=None)
