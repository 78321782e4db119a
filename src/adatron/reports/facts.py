"""The facts that the panels of a report ask for, each computed once."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import KFold, StratifiedKFold

from ..insight.deletion import Influence, influence_of
from ..insight.labels import Issues, issues_of
from ..insight.leave_one_out import AlongC, LeftOut, along_C, left_out_of, requested
from ..insight.names import UNNAMED, names_of, unit_of
from ..insight.sensitivity import Sensitivity, sensitivity_of
from ..insight.subject import (
    Ids,
    Subject,
    Unavailable,
    Vector,
    drawn,
    margins_in_time,
    refuse_unmeasured,
    rows_of,
    taken,
)
from ..insight.twin import Twin, twin_of
from ..margins import InputMargins
from ..pipelines import is_search, way_to
from ..quoted import quoted
from ..solvers.path import Stalled
from ..threads import Clock, OutOfTime
from .page import Gallery, digits

CV_FOLDS = 5  # Folds without a cv of the user, as scikit-learn has them.
ONE_OUT = 0.3  # Part of the time for scores that leave-one-out may take; folds have the rest.
MARGINS = 0.6  # Part of the time for the boundary that distances may take; planes have the rest.
SAMPLES_MEASURED = 500  # Most samples whose distances from the boundary are computed.
LATE = "Give the report more time."
Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Missing:
    """An answer that does not exist for this model; ``reason`` is a sentence."""

    reason: str


def known(ask: Callable[[], Answer]) -> Answer | Missing:
    """Return an answer, or the reason why the model has none; any other error is a fault, and is raised."""
    try:
        return ask()
    except (TimeoutError, OutOfTime):
        return Missing(f"There was no time for this answer. {LATE}")
    except (Unavailable, Stalled) as error:
        return Missing(" ".join(str(error).split()))


def needed(found: Answer | Missing) -> Answer:
    """Return an answer on which another one rests; raise Unavailable with the reason if it is missing."""
    if isinstance(found, Missing):
        raise Unavailable(found.reason)
    return found


def answer(ask: Callable[[Any], Answer]) -> cached_property[Answer | Missing]:
    """Return the property of facts that is found once: what a method returns, or the reason why it has nothing."""
    return cached_property(lambda facts: known(lambda: ask(facts)))


@dataclass(frozen=True)
class OutOfFold:
    """Predictions for samples that were left out, a fold at a time.

    numbers : the samples; all, or those of the folds that there was time for
    predicted : a prediction for each of them
    values : (n_numbers, n_problems) of the binary problems, or the prediction, or the decision value
    folds, of : the number of folds that were fitted, and of all folds
    """

    numbers: Ids
    predicted: NDArray[Any]
    values: Vector
    folds: int
    of: int

    @property
    def name(self) -> str:
        """The measured quantity, in words."""
        all_of = f"{self.folds}" if self.folds == self.of else f"{self.folds} of {self.of}"
        return f"out of fold ({all_of} folds)"


@dataclass
class Facts:
    """A model with its samples, and all that is known of it.

    subject : the model and the samples of the fit
    X_test, y_test : other samples, or None
    search : a search over parameters, or None
    rows : whether rows of data may be shown
    given_names : names of the features as the user gave them, or None
    weight : the user's weights, or None
    cv : a splitter, a number of folds, or None
    clock : when the answers that a panel asks for end
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
    clock: Clock = field(default_factory=Clock)
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

    @answer
    def twin(self) -> Twin:
        """Find the exact solution that samples can leave."""
        return twin_of(self.subject, self.clock.left())

    @answer
    def left_out(self) -> LeftOut:
        """Leave each sample out, exactly."""
        twin = self._twin_in_time()
        return left_out_of(self.subject, twin, requested(twin), self.clock.part(ONE_OUT))

    @answer
    def issues(self) -> Issues:
        """Find suspicious labels."""
        left_out = needed(self.left_out)
        return issues_of(self.subject, self._twin_in_time(), left_out)

    @answer
    def influence(self) -> Influence:
        """Find the exact influence of samples."""
        return influence_of(self.subject, self._twin_in_time(), self.X_test, self.y_test, clock=self.clock)

    @answer
    def along_C(self) -> AlongC:
        """Find exact leave-one-out errors over C."""
        own = None if isinstance(self.left_out, Missing) else self.left_out
        return along_C(self.subject, self._twin_in_time(), clock=self.clock, known=own)

    @answer
    def margins(self) -> tuple[Ids, InputMargins]:
        """Measure distances from the boundary, in the space of the machine; return the samples that have them, too."""
        refuse_unmeasured(self.machine)
        self.clock.check()
        some = drawn(self.n, SAMPLES_MEASURED)
        return margins_in_time(self.machine, self.subject.rows, some, self.clock.part(MARGINS))

    @answer
    def sensitivity(self) -> Sensitivity:
        """Measure slopes at the boundary."""
        self.clock.check()
        return sensitivity_of(self.subject.model, self.subject.X, clock=self.clock)

    def _twin_in_time(self) -> Twin:
        twin = needed(self.twin)
        self.clock.check()
        return twin

    @cached_property
    def names(self) -> list[str]:
        """Names of the features that ``sensitivity`` speaks of."""
        found = self.sensitivity
        space = "original" if isinstance(found, Missing) else found.space
        return names_of(self.subject.way, self.subject.columns, space, self.given_names)

    @cached_property
    def unit(self) -> str:
        """The unit of distances from the boundary, as an axis names it."""
        way = self.subject.way
        return unit_of(way, names_of(way, self.subject.columns, "original", self.given_names))

    def length(self, value: Any) -> str:
        """Return a distance from the boundary, in words."""
        unit = "" if self.unit == UNNAMED else f" ({self.unit})" if self.subject.way.steps else f" {self.unit}"
        return f"{digits(value)}{unit}"

    @cached_property
    def values(self) -> Vector:
        """Values of the machine at the samples, (n, n_problems)."""
        return self.machine.problem_values(self.subject.rows)

    @cached_property
    def test_values(self) -> Vector:
        """Values of the machine at the test samples, (n_test, n_problems)."""
        return self.machine.problem_values(rows_of(self.subject.way, self.X_test))

    def predicted(self, values: Vector) -> NDArray[Any]:
        """Return the predictions that follow from values of the problems."""
        return self.machine.readout.predictions(values)

    @answer
    def out_of_fold(self) -> OutOfFold:
        """Predict samples that are left out, a fold at a time."""
        splits = list(self._folds().split(self.subject.X, self.y))
        self._refuse_splits(splits)
        clock = self.clock
        values, done = np.zeros((self.n, self.values.shape[1])), 0
        for train, test in splits:
            try:
                way = way_to(self._without(train, clock))
            except OutOfTime:
                break
            values[test] = way.machine.problem_values(rows_of(way, taken(self.subject.X, test)))
            done += 1
        if not done:
            raise Unavailable(f"The model of a fold takes too long. {LATE}")
        numbers = np.sort(np.concatenate([test for _, test in splits[:done]]))
        return OutOfFold(numbers, self.predicted(values[numbers]), values[numbers], done, len(splits))

    def _refuse_splits(self, splits: list[Any]) -> None:
        """Fail unless every sample is tested once, by a model that knows all classes."""
        tested = np.bincount(np.concatenate([test for _, test in splits]), minlength=self.n)
        if (tested != 1).any():
            raise Unavailable(
                "Out-of-fold predictions need a cv that tests every sample once. This cv tests "
                f"{np.count_nonzero(tested):,} of {self.n:,} samples, {tested.max()} times at most."
            )
        if self.task == "classification":
            for number, (train, _) in enumerate(splits, 1):
                if len(gone := np.setdiff1d(self.machine.classes_, self.y[train])):
                    raise Unavailable(f"Fold {number} of this cv trains with no sample of the class {quoted(gone[0])}.")

    def _without(self, train: Any, clock: Clock) -> Any:
        """Return the model, fitted anew to some samples; raise OutOfTime if the clock ends the fit."""
        model = self.subject.model
        one: Any = clone(model.best_estimator_ if is_search(model) else model)
        way = way_to(one)
        machine = way.machine
        seconds, own = clock.left(), machine.get_params(deep=False).get("max_time")
        if seconds is not None:
            machine.set_params(max_time=seconds if own is None else min(own, seconds))
        weights: dict[str, Any] = {}
        if self.weight is not None:
            weights[f"{way.prefix}sample_weight"] = np.asarray(self.weight)[train]
        with warnings.catch_warnings(record=True) as caught:
            try:
                one.fit(taken(self.subject.X, train), self.y[train], **weights)
            except TimeoutError as error:
                raise OutOfTime from error
            except (ValueError, ArithmeticError) as error:
                raise Unavailable(f"The model cannot be fitted to the samples of a fold: {error}") from error
        clock.check()  # a fit that the clock ended is not the model
        for one in caught:
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
        return one

    def _folds(self) -> Any:
        if self.cv is not None and not isinstance(self.cv, int):
            return self.cv
        folds = min(CV_FOLDS, self.n) if self.cv is None else self.cv
        if self.task != "classification":
            return KFold(folds, shuffle=True, random_state=0)
        least = int(np.unique(self.y, return_counts=True)[1].min())
        if least < 2:
            raise Unavailable("A class has one sample only, so no fold can leave it out.")
        return StratifiedKFold(min(folds, least), shuffle=True, random_state=0)
