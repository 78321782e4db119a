"""A light estimator that returns predictions which are known: scorers take it for the fitted one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score
from sklearn.utils import get_tags

from ...model.heads import Classes, Head, Inlier
from .theirs import BaseScorer, PassthroughScorer, method_of, plain_function, scorers_of

METHODS = {"predict", "decision_function"}


class StandIn:
    """What a scorer asks of a fitted machine, for the samples of one part of a fold.

    The argument of its methods stands for these samples; nobody looks at it.
    """

    def __init__(self, model: Any, predicted: NDArray[Any]) -> None:
        self._model, self._predicted = model, predicted

    def __sklearn_tags__(self) -> Any:
        return get_tags(self._model)

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def fit(self, X: Any, y: Any = None) -> Any:
        """Refuse to be fitted; scikit-learn only looks whether the method is there."""
        raise NotImplementedError

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the predictions."""
        return self._predicted

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the score of the machine's class."""
        return type(self._model).score(self, X, y, sample_weight)


class Deciding(StandIn):
    """The same with decision values, of classifiers and one-class machines."""

    def __init__(self, model: Any, predicted: NDArray[Any], values: NDArray[np.float64]) -> None:
        super().__init__(model, predicted)
        self._values = values

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the decision values."""
        return self._values


class Labelling(Deciding):
    """The same with classes."""

    def __init__(self, model: Any, predicted: Any, values: NDArray[np.float64], classes: NDArray[Any]) -> None:
        super().__init__(model, predicted, values)
        self.classes_ = classes


def stand_in(model: Any, head: Head, values: NDArray[np.float64]) -> StandIn:
    """Return the stand-in of a machine for some samples, given the values of its problems, (n, n_problems)."""
    if isinstance(head, Classes):
        return Labelling(model, head.predictions(values), head.shaped(values), head.labels)
    if isinstance(head, Inlier):
        return Deciding(model, head.predictions(values), head.shaped(values))
    return StandIn(model, head.predictions(values))


def suit(scorer: Any) -> bool:
    """Return whether the scorers of a search take nothing but predictions or decision values."""
    return all(map(_suits, scorers_of(scorer)))


def accuracy_alone(scorer: Any) -> bool:
    """Return whether the only score is the fraction of right predictions, as a classifier's own score is."""
    if isinstance(scorer, PassthroughScorer):
        return True
    return isinstance(scorer, BaseScorer) and plain_function(scorer) is accuracy_score


def by_labels(scorer: Any) -> bool:
    """Return whether nothing but predictions enters the scores."""
    return all(
        isinstance(one, PassthroughScorer) or (isinstance(one, BaseScorer) and method_of(one) == "predict")
        for one in scorers_of(scorer)
    )


def _suits(scorer: Any) -> bool:
    if isinstance(scorer, PassthroughScorer):
        return True
    if not isinstance(scorer, BaseScorer):
        return False
    method = method_of(scorer)
    names = {method} if isinstance(method, str) else set(method)
    return bool(names & METHODS)
