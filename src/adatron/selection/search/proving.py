"""Unproven labels of left-out samples, and the candidates that must be solved more closely to prove them.

If all labels of a candidate are proven, its scores are those of the optimum. If the accuracy alone chooses the best
candidate, a candidate whose accuracy cannot reach that of another one needs no proof.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import is_regressor

from .candidates import machine_of
from .scoring import accuracy_alone, by_labels
from .theirs import decisive
from .watch import some_of

NEARER = 1e-6, 1e-9, 1e-11, 1e-13  # Relative gaps to try, one after the other, until the scores are proven.
ACCURACY_ROUNDING = 1e-12  # Difference of two mean accuracies that may be rounding.
UNPROVEN_NAMED = 3  # Most candidates that a warning names.
NO_LABELS = (
    "prove=True proves labels, of SVC, NuSVC and OneClassSVM, alone or last in a Pipeline. Nothing can be proven about "
    "the scores of {}: use prove=False."
)
NO_SCORES = (
    "prove=True proves scores of labels, such as scoring='accuracy' or 'balanced_accuracy'. Scores of decision values "
    "are never proven: use prove=False. Got scoring={!r}."
)
NO_SHARING = "prove=True needs fits that share kernel matrices, and {} prevent that: use prove=False."
NOT_PROVEN = (
    "prove=True proves nothing about {} of {} candidates: {}. Their fits failed, did not converge, have a kernel that "
    "may be indefinite, or cannot share kernel matrices; see cv_results_['proven']."
)


def refuse_unprovable(search: Any) -> None:
    """Raise a ValueError if the estimator or the scores of a search with ``prove=True`` cannot be proven."""
    machine = machine_of(search.estimator)
    if machine is None or is_regressor(machine):
        raise ValueError(NO_LABELS.format(type(machine or search.estimator).__name__))
    if not by_labels(search._get_scorers()[0]):
        raise ValueError(NO_SCORES.format(search.scoring))


class Doubts:
    """The rows of each cell (candidate, fold) whose labels are not proven.

    scorer, refit : those of the search
    weighted : whether scores take parameters, such as weights
    tests : the test rows of each fold
    """

    def __init__(self, scorer: Any, refit: Any, weighted: bool, tests: list[Any]) -> None:
        chooses = decisive(scorer, refit)
        self._prunes = chooses is not None and accuracy_alone(chooses) and not weighted
        self._sizes = [len(test) for test in tests]
        self._rows: dict[tuple[int, int], Any] = {}
        self._right: dict[tuple[int, int], int] = {}

    def keep(self, key: tuple[int, int], rows: Any, right: int | None) -> None:
        """Keep a cell's rows in doubt; ``right``: how many of its other labels are right, if that is known."""
        self._rows[key] = rows
        if right is None:
            self._prunes = False
        else:
            self._right[key] = right

    def of(self, number: int) -> Any:
        """Return a candidate's rows whose labels are not proven in the fold that leaves them out, or None."""
        keys = self._keys(number)
        if not all(key in self._rows for key in keys):
            return None
        return np.unique(np.concatenate([self._rows[key] for key in keys]))

    def open_cells(self) -> set[tuple[int, int]]:
        """Return the unproven cells of the candidates that may be best."""
        numbers = {number for number, _ in self._rows}
        numbers = {number for number in numbers if all(key in self._rows for key in self._keys(number))}
        if self._prunes and numbers:
            bounds = {number: [self._accuracy(number, doubt) for doubt in (0, 1)] for number in numbers}
            best = max(low for low, _ in bounds.values())
            numbers = {number for number in numbers if bounds[number][1] >= best - ACCURACY_ROUNDING}
        return {key for number in numbers for key in self._keys(number) if len(self._rows[key])}

    def _keys(self, number: int) -> list[tuple[int, int]]:
        return [(number, fold) for fold in range(len(self._sizes))]

    def _accuracy(self, number: int, doubt: int) -> float:
        """Return the lowest (0) or the highest (1) mean accuracy of a candidate at the optimum."""
        right = [self._right[key] + doubt * len(self._rows[key]) for key in self._keys(number)]
        return float(np.mean(np.array(right) / self._sizes))


def warn_of_unproven(found: list[Any], params: list[Any]) -> None:
    """Warn of the candidates without any proof; ``found``: the result of ``Doubts.of`` for each candidate."""
    left = [number for number, rows in enumerate(found) if rows is None]
    if left:
        named = some_of(params, left, UNPROVEN_NAMED)
        warnings.warn(NOT_PROVEN.format(len(left), len(params), named), UserWarning, stacklevel=2)
