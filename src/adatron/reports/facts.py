"""What the panels of a report ask for, computed once each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import KFold, StratifiedKFold, check_cv
from sklearn.pipeline import Pipeline

from ..estimators.model.way import is_search, way_to
from ..insight.deletion import Influence, influence_of
from ..insight.labels import Issues, issues_of
from ..insight.leave_one_out import AlongC, LeftOut, along_C, asked, left_out_of
from ..insight.sensitivity import Sensitivity, sensitivity
from ..insight.subject import Subject, Vector, names_of, rows_of, taken
from ..insight.twin import Twin, twin_of
from .figure import Gallery

FOLDS = 5
Found = TypeVar("Found")


@dataclass(frozen=True)
class Missing:
    """An answer that does not exist for this model; ``reason`` is a sentence."""

    reason: str


@dataclass(frozen=True)
class OutOfFold:
    """Predictions for samples that were left out, a fold at a time.

    values : (n, n_problems) of the binary problems, or the prediction, or the decision value
    """

    predicted: NDArray[Any]
    values: Vector
    folds: int


@dataclass
class Facts:
    """A model with its samples, and all that is known of it.

    Parameters
    ----------
    subject : the model and the samples of the fit
    X_test, y_test : other samples, or None
    search : a search over parameters, or None
    rows : whether rows of data may be shown
    given_names : names of the features as the user gave them, or None
    weight : the user's weights, or None
    cv : folds
    """

    subject: Subject
    X_test: Any
    y_test: Any
    search: Any
    rows: bool
    given_names: Any
    image_shape: tuple[int, int] | None
    weight: Any
    cv: Any
    gallery: Gallery = field(default_factory=Gallery)

    @property
    def machine(self) -> Any:
        """The machine at the end of the model."""
        return self.subject.machine

    @property
    def task(self) -> str:
        """The task of the model."""
        return self.subject.task

    @property
    def y(self) -> NDArray[Any]:
        """Classes or targets of the samples."""
        return self.subject.y

    @property
    def n(self) -> int:
        """The number of samples."""
        return self.subject.rows.shape[0]

    @cached_property
    def twin(self) -> Twin | Missing:
        """The exact solution that samples can leave."""
        return known(lambda: twin_of(self.subject))

    @cached_property
    def left_out(self) -> LeftOut | Missing:
        """Exact leave-one-out."""
        return self._of_twin(lambda twin: left_out_of(self.subject, twin, asked(twin)))

    @cached_property
    def issues(self) -> Issues | Missing:
        """Suspicious labels."""
        left_out = self.left_out
        if isinstance(left_out, Missing):
            return left_out
        return self._of_twin(lambda twin: issues_of(self.subject, twin, left_out))

    @cached_property
    def influence(self) -> Influence | Missing:
        """Exact influence."""
        return self._of_twin(lambda twin: influence_of(self.subject, twin, self.X_test, self.y_test))

    @cached_property
    def along_C(self) -> AlongC | Missing:
        """Exact leave-one-out errors over C."""
        return self._of_twin(lambda twin: along_C(self.subject, twin))

    @cached_property
    def sensitivity(self) -> Sensitivity | Missing:
        """Slopes at the boundary."""
        return known(lambda: sensitivity(self.subject.model, self.subject.X))

    @cached_property
    def names(self) -> list[str]:
        """Names of the features that ``sensitivity`` speaks of."""
        found = self.sensitivity
        width = int(self.subject.X.shape[1]) if isinstance(found, Missing) else len(found.slope)
        original = isinstance(found, Missing) or found.space == "original"
        return names_of(self.subject.way, width, self.given_names if original else None)

    def _of_twin(self, ask: Callable[[Twin], Found]) -> Found | Missing:
        twin = self.twin
        return twin if isinstance(twin, Missing) else known(lambda: ask(twin))

    @cached_property
    def values(self) -> Vector:
        """Values of the machine at the samples, (n, n_problems)."""
        return self.machine._decision(self.subject.rows)

    @cached_property
    def test_values(self) -> Vector:
        """Values of the machine at the test samples, (n_test, n_problems)."""
        return self.machine._decision(rows_of(self.subject.way, self.X_test))

    def predicted(self, values: Vector, machine: Any = None) -> NDArray[Any]:
        """Return what values of the problems predict."""
        machine = machine or self.machine
        if self.task == "classification":
            return machine.classes_[machine._codes(values)]
        return values[:, 0] if self.task == "regression" else np.where(values[:, 0] >= 0.0, 1, -1)

    @cached_property
    def out_of_fold(self) -> OutOfFold | Missing:
        """Predictions for samples that were left out, a fold at a time."""
        return known(self._out_of_fold)

    def _out_of_fold(self) -> OutOfFold:
        model = self.subject.model
        model = model.best_estimator_ if is_search(model) else model
        splits = list(self._folds().split(self.subject.X, self.y))
        predicted, values = np.empty(self.n, self.y.dtype if self.task != "novelty" else np.int64), None
        for train, test in splits:
            one: Any = clone(model)
            weights = None if self.weight is None else np.asarray(self.weight)[train]
            one.fit(taken(self.subject.X, train), self.y[train], **_weighted(one, weights))
            way = way_to(one)
            part = way.machine._decision(rows_of(way, taken(self.subject.X, test)))
            values = np.zeros((self.n, part.shape[1])) if values is None else values
            values[test] = part
            predicted[test] = self.predicted(part, way.machine)
        assert values is not None  # noqa: S101 (there are two folds at least)
        return OutOfFold(predicted, values, len(splits))

    def _folds(self) -> Any:
        if self.cv is not None and not isinstance(self.cv, int):
            return check_cv(self.cv, self.y, classifier=self.task == "classification")
        folds = FOLDS if self.cv is None else self.cv
        if self.task != "classification":
            return KFold(folds, shuffle=True, random_state=0)
        least = int(np.unique(self.y, return_counts=True)[1].min())
        if least < 2:
            raise ValueError("A class has one sample only, so no fold can leave it out.")
        return StratifiedKFold(min(folds, least), shuffle=True, random_state=0)


def known(ask: Callable[[], Found]) -> Found | Missing:
    """Return an answer, or the reason why there is none."""
    try:
        return ask()
    except (ValueError, TypeError, ArithmeticError, TimeoutError) as error:
        return Missing(" ".join(str(error).split()))


def _weighted(model: Any, weights: Any) -> dict[str, Any]:
    """Return the argument of ``fit`` that passes weights on to the machine."""
    if weights is None:
        return {}
    name = f"{model.steps[-1][0]}__sample_weight" if isinstance(model, Pipeline) else "sample_weight"
    return {name: weights}
