"""Scores of fits from their decision values, in the form that scikit-learn keeps.

A scorer gets a light estimator instead of the fitted one: its predictions are known.
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score
from sklearn.utils import _safe_indexing, get_tags  # pyright: ignore[reportPrivateUsage]

from ...model.readout import Classes, Inlier, Readout
from .cells import Cell
from .solve import Solved
from .theirs import BaseScorer, FitScores, PassthroughScorer, method_of, part_of, plain_function, score_of, scorers_of

KNOWN_METHODS = {"predict", "decision_function"}  # Methods whose values are known without a fitted machine.


class FoldSide(NamedTuple):
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
        self._parts: dict[int, list[FoldSide]] = {}

    def of(self, cell: Cell, found: Solved, seconds: float) -> FitScores:
        """Return the scores of a fit as scikit-learn keeps them; its time is its part of that of a shared matrix."""
        begun = time.perf_counter()
        scores: FitScores = {"fit_error": None}
        values, names = (found.test, found.train), ("test_scores", "train_scores")
        for name, some, part in zip(names, values, self.parts(cell.fold.number), strict=True):
            if some is not None:
                scores[name] = self._score(cell, some, part)
            if name == "test_scores":
                scores["score_time"] = time.perf_counter() - begun
        return {**scores, "n_test_samples": len(found.test), "fit_time": seconds}

    def parts(self, fold: int) -> list[FoldSide]:
        """Return the test and the training part of a fold."""
        if fold not in self._parts:
            self._parts[fold] = [self._part(rows) for rows in reversed(self._splits[fold])]
        return self._parts[fold]

    def _part(self, rows: Any) -> FoldSide:
        y = None if self._y is None else _safe_indexing(self._y, rows)
        plain = isinstance(y, np.ndarray) and y.ndim == 1 and y.dtype.kind in "biuU" and len(y)
        params = part_of(self._X, params=self._params, indices=rows)
        return FoldSide(rows, y, params, y if plain else None)

    def _score(self, cell: Cell, values: Any, part: FoldSide) -> Any:
        """Return the scores of some samples; accuracy alone is computed without scikit-learn's slow checks."""
        if self._accuracy and isinstance(cell.readout, Classes) and part.labels is not None and not part.params:
            return float(np.mean(cell.readout.predictions(values) == part.labels))
        one = StandIn(cell.model, cell.readout, values)
        return score_of(one, part.rows, part.y, self._scorer, part.params, self._error_score)


class StandIn:
    """Answers a scorer in place of a fitted machine, for the samples of one part of a fold.

    Its methods ignore their argument, which stands for these samples. Classifiers and one-class machines have decision
    values, and classifiers have classes.

    values : (n, n_problems) values of the problems of the machine
    """

    def __init__(self, model: Any, readout: Readout, values: NDArray[np.float64]) -> None:
        self._model, self._predicted = model, readout.predictions(values)

        def decision_function(X: Any) -> NDArray[np.float64]:
            return readout.shaped(values)

        if isinstance(readout, (Classes, Inlier)):
            self.decision_function = decision_function  # scikit-learn also reads the name of the function
        if isinstance(readout, Classes):
            self.classes_ = readout.labels

    def __getattr__(self, name: str) -> Any:
        """Return a parameter of the machine, which its score may read."""
        model = vars(self).get("_model")
        if name.startswith("_") or model is None or name not in type(model)._get_param_names():
            raise AttributeError(name)
        return getattr(model, name)

    @property
    def columns(self) -> Any:
        """How many numbers a regressor's parameters ask for at once."""
        return self._model.columns

    def __sklearn_tags__(self) -> Any:
        return get_tags(self._model)

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def fit(self, X: Any, y: Any = None) -> Any:
        """Refuse to be fitted; scikit-learn only checks that the method exists."""
        raise NotImplementedError

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the predictions."""
        return self._predicted

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the score of the machine's class."""
        return type(self._model).score(self, X, y, sample_weight)


def suit(scorer: Any) -> bool:
    """Return whether the scorers of a search take nothing but predictions or decision values."""
    return all(_methods(one) & KNOWN_METHODS for one in scorers_of(scorer))


def accuracy_alone(scorer: Any) -> bool:
    """Return whether the only score is the fraction of right predictions, as a classifier's own score is."""
    if isinstance(scorer, PassthroughScorer):
        return True
    return isinstance(scorer, BaseScorer) and plain_function(scorer) is accuracy_score


def by_labels(scorer: Any) -> bool:
    """Return whether nothing but predictions enters the scores."""
    return all(_methods(one) == {"predict"} for one in scorers_of(scorer))


def _methods(scorer: Any) -> set[str]:
    """Return the methods any of which has the values that a scorer takes; none if nobody knows."""
    if isinstance(scorer, PassthroughScorer):
        return {"predict"}
    if not isinstance(scorer, BaseScorer):
        return set()
    method = method_of(scorer)
    return {method} if isinstance(method, str) else set(method)
