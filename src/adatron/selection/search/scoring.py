"""Scores of fits from their decision values, as scikit-learn keeps them: each part of a fold is indexed once."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import _safe_indexing  # pyright: ignore[reportPrivateUsage]

from ...model.heads import Classes
from .cells import Cell
from .solve import Solved
from .standin import accuracy_alone, stand_in
from .theirs import Scores, part_of, score_of


class Part(NamedTuple):
    """One side of a fold.

    rows, y : its rows and targets
    params : parameters of scores
    labels : its targets as an array, if they are plain labels
    """

    rows: Any
    y: Any
    params: Any
    labels: Any


class Scoring:
    """Scores the cells of a search.

    splits : the training and the test rows of each fold
    params : the parameters of the scorer
    error_score : as in scikit-learn's searches
    """

    def __init__(self, X: Any, y: Any, splits: list[Any], scorer: Any, params: Any, error_score: Any) -> None:
        self._X, self._y, self._splits, self._scorer, self._params = X, y, splits, scorer, params
        self._error_score, self._accuracy = error_score, accuracy_alone(scorer)
        self._parts: dict[int, list[Part]] = {}

    def of(self, cell: Cell, found: Solved, seconds: float) -> Scores:
        """Return what scikit-learn keeps of a fit; its time is a part of that of all that shared a matrix."""
        begun = time.perf_counter()
        scores: Scores = {"fit_error": None}
        values, names = (found.test, found.train), ("test_scores", "train_scores")
        for name, some, part in zip(names, values, self.parts(cell.fold.number), strict=True):
            if some is not None:
                scores[name] = self._score(cell, some, part)
            if name == "test_scores":
                scores["score_time"] = time.perf_counter() - begun
        return {**scores, "n_test_samples": len(found.test), "fit_time": seconds}

    def parts(self, fold: int) -> list[Part]:
        """Return the test and the training part of a fold."""
        if fold not in self._parts:
            self._parts[fold] = [self._part(rows) for rows in reversed(self._splits[fold])]
        return self._parts[fold]

    def _part(self, rows: Any) -> Part:
        y = None if self._y is None else _safe_indexing(self._y, rows)
        plain = isinstance(y, np.ndarray) and y.ndim == 1 and y.dtype.kind in "biuU" and len(y)
        params = part_of(self._X, params=self._params, indices=rows)
        return Part(rows, y, params, y if plain else None)

    def _score(self, cell: Cell, values: Any, part: Part) -> Any:
        """Return the scores of some samples; accuracy alone needs none of scikit-learn's checks."""
        if self._accuracy and isinstance(cell.head, Classes) and part.labels is not None and not part.params:
            return float(np.mean(cell.head.predictions(values) == part.labels))
        one = stand_in(cell.model, cell.head, values)
        return score_of(one, part.rows, part.y, self._scorer, part.params, self._error_score)
