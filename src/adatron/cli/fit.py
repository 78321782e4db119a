"""A fit with its progress, which Ctrl-C stops; and cross-validation."""

from __future__ import annotations

import sys
import time
from typing import Any

from .parts import machine_of, task_of
from .preparing.target import has_sides
from .progress import Interrupt, ProgressBar
from .status import InputError, warnings_as_lines


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
