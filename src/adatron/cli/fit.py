"""A fit with its progress, which Ctrl-C stops and which keeps what there is; and cross-validation.

The bar of a fit shows how far the duality gap has fallen, on a logarithmic scale.
"""

from __future__ import annotations

import math
import signal
import sys
import threading
import time
from types import FrameType
from typing import TYPE_CHECKING, Any

import click

from ..progress import ProgressDisplay, part_done
from .parts import machine_of, task_of
from .preparing.target import has_sides
from .status import InputError, warnings_as_lines

if TYPE_CHECKING:
    from ..solvers.watch import Progress

FOLLOWED = 1000  # Number of problems above which the progress within one of them is not followed.


class Interrupt:
    """While active, a first Ctrl-C sets ``asked``; a second one acts as Ctrl-C did before.

    wanted : if False, or on another thread than the main one, Ctrl-C stays as it is
    begun : whether there is something to keep; before that, the first one acts as the second one
    """

    def __init__(self, wanted: bool, begun: bool = True) -> None:
        self.asked, self.begun = False, begun
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
        if (self.asked or not self.begun) and callable(self._before):
            self._before(number, frame)
        self.asked = True
        click.echo("\nstopping; Ctrl-C again ends at once", err=True)


class ProgressBar(ProgressDisplay):
    """A callback of a fit that shows its progress.

    target : the relative duality gap that counts as done
    interrupt : says whether the fit is to stop
    name : what is fitted
    """

    def __init__(self, target: float, quiet: bool, interrupt: Interrupt, name: str = "fit") -> None:
        super().__init__(name, visible=not quiet)
        self._target, self._interrupt = target, interrupt
        self._first: dict[int, float] = {}

    def __call__(self, state: Progress) -> bool:
        """Move the bar; True asks for a stop."""
        self._interrupt.begun = True
        first = self._first.setdefault(state.problem, state.duality_gap)
        if not math.isfinite(first) or state.n_problems > FOLLOWED:
            del self._first[state.problem]
        done = (state.n_finished + part_done(first, state.duality_gap, self._target)) / state.n_problems
        # Problems run side by side, so their reports interleave: never step back.
        self.done = max(self.done, min(done, 1.0))
        self.note = f"duality gap {state.duality_gap:.1e}, KKT {state.kkt_violation:.1e}"
        return self._interrupt.asked


def fit(model: Any, X: Any, y: Any, save_partial: bool, silent: bool) -> tuple[float, bool]:
    """Fit a model; return the seconds it took, and whether Ctrl-C cut the fit short."""
    machine = machine_of(model)
    start = time.perf_counter()
    wanted = save_partial or (sys.stdin.isatty() and sys.stderr.isatty())
    with (
        Interrupt(wanted, begun=save_partial) as interrupt,
        warnings_as_lines(lambda text: text.replace("the callback asked to stop", "interrupted")),
    ):
        _with_progress(model, X, y, interrupt, silent)
    return time.perf_counter() - start, interrupt.asked and machine.fit_status_ != 0


def cross_validated(model: Any, X: Any, y: Any, folds: int, seed: int, silent: bool) -> Any:
    """Return the prediction of each sample by a model of the other folds; classes have the same share in each fold.

    Novelty detection learns from samples with label 1.
    """
    import numpy as np
    from sklearn.base import clone
    from sklearn.model_selection import KFold, StratifiedKFold
    from sklearn.utils.metaestimators import _safe_split  # pyright: ignore[reportPrivateUsage]

    task = task_of(model)
    sides = task == "novelty" and has_sides(y)
    kind = StratifiedKFold if sides or task == "classification" else KFold
    splits: Any = kind(folds, shuffle=True, random_state=seed).split(X, y)
    predicted: Any = None
    for number, (all_others, test) in enumerate(splits, 1):
        train = all_others[y[all_others] == 1] if sides else all_others
        one: Any = clone(model)
        X_train, y_train = _safe_split(one, X, y, train)
        _with_progress(one, X_train, y_train, Interrupt(False), silent, f"fold {number} of {folds}")
        part = one.predict(_safe_split(one, X, y, test, train)[0])
        predicted = np.empty((X.shape[0], *part.shape[1:]), part.dtype) if predicted is None else predicted
        predicted[test] = part
    return predicted


def check_folds(file: str, y: Any, samples: int, folds: int, task: str) -> None:
    """Fail if there are fewer samples than folds, or fewer of each class."""
    import numpy as np

    if folds > samples:
        raise InputError(f"{file}: --cv {folds:,} needs a sample for each fold, and there are {samples:,}")
    if task == "classification" or (task == "novelty" and has_sides(y)):
        most = int(np.unique(y, return_counts=True)[1].max())
        if folds > most:
            raise InputError(
                f"{file}: --cv {folds:,} needs as many samples of a class, and no class has more than {most:,}"
            )


def _with_progress(model: Any, X: Any, y: Any, interrupt: Interrupt, silent: bool, name: str = "fit") -> None:
    machine = machine_of(model)
    with ProgressBar(machine.gap_tol or machine.tol, silent, interrupt, name) as bar:
        machine.set_params(callback=bar)
        try:
            model.fit(X, y)
        finally:
            machine.set_params(callback=None)
