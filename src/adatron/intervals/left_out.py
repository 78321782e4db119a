"""The models without each sample, or without each part of the samples, and what they say of any rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone, is_classifier, is_regressor

from ..arrays import Ids, Vector
from ..estimators.base.machine import KernelMachine
from ..insight.subject import Subject, Unavailable, taken
from ..insight.twin import INCREMENTAL_KINDS, Twin, twin_of
from ..learning.leave_out import Optimum, without
from ..model.model import Model
from ..model.readout import Target
from ..pipelines import way_to
from ..solvers.path import Stalled
from .conformity import rounding

HELD_NUMBERS = 2**23  # Numbers that are held for some rows at a time.


@dataclass(frozen=True)
class LeftOutModels(ABC):
    """Models that each lack some of the samples.

    how : 'path' or 'fits', see ``JackknifePlus``
    number : (n,) number of the model that lacks each sample
    violation : the largest violation of the optimality conditions by one of them
    error : bound of the errors by which decision values of equal samples may differ
    """

    how: ClassVar[str]
    number: Ids
    violation: float
    error: float

    @abstractmethod
    def values(self, X: Any) -> Vector:
        """Return the predictions or decision values of the models, (n_rows, n_models[, n_classes])."""

    @abstractmethod
    def own(self, X: Any) -> Vector:
        """Return the value of each training sample by the model that lacks it, (n[, n_classes])."""

    def blocks(self, X: Any, each: int = 1) -> Iterator[Vector]:
        """Yield ``values`` of some rows after the other; ``each`` numbers are held for a row and a model."""
        shape = getattr(X, "shape", ())
        n = shape[0] if shape else len(X) if isinstance(X, (list, tuple)) else 0
        step = max(1, HELD_NUMBERS // (len(self.number) * each))
        if n <= step:  # or there are no rows: the machine says what is wrong
            yield self.values(X)
        else:
            yield from (self.values(taken(X, np.arange(k, min(n, k + step)))) for k in range(0, n, step))


def machine_in(model: Any) -> KernelMachine:
    """Return the machine of a model that need not be fitted.

    Raise a ValueError unless the model is a classifier or regressor of this library, or a pipeline that ends with one.
    """
    machine = way_to(model).machine
    if not isinstance(machine, KernelMachine) or not (is_classifier(machine) or is_regressor(machine)):
        raise ValueError(
            "The 'estimator' parameter must be a classifier or regressor of adatron, alone or as the last step of a "
            f"pipeline. Got {model!r} instead."
        )
    return machine


def independent_of_samples(machine: Any) -> bool:
    """Return whether nothing but the solution depends on which samples are there, and a path may follow it."""
    known = machine.get_params(deep=False)
    scaled = known["gamma"] == "scale" and isinstance(machine.kernel, str) and machine.kernel != "linear"
    balanced = known.get("class_weight") == "balanced"
    moved = known.get("bias") == "augmented" and known["augment"] == "auto"
    return not (scaled or balanced or moved) and bool(np.isfinite(known.get("C", 1.0)))


@dataclass(frozen=True)
class Followed(LeftOutModels):
    """Models along exact paths from the model of all samples. They are one model with many problems.

    machine : the machine of all samples, which reads the decision functions of a model
    model : has a problem for each different decision function
    columns : (n_models, n_problems) the functions of each model
    """

    machine: Any
    model: Model
    columns: Ids
    how = "path"

    @classmethod
    def of(cls, machine: Any, X: Any, y: Any, done: Callable[[int, int], None]) -> Self:
        """Let each sample leave a fitted machine, which was fitted without weights.

        Raise Unavailable if there is no exact path, or rounding leaves no way along it, and a ValueError if the models
        need too much memory.

        done : is told how many deletions there are, and of each when it is done
        """
        twin = twin_of(Subject.of(machine, X, y))
        try:
            found = _Models.of(twin, machine, done)
        except Stalled as error:
            raise Unavailable("Rounding leaves no way along the exact path.") from error
        order = np.argsort(twin.numbers)
        columns, number = np.unique(found.columns[order], axis=0, return_inverse=True)
        return cls(np.ravel(number), found.worst, found.error, machine, found.model(machine.model_), columns)

    def values(self, X: Any) -> Vector:
        functions = self.machine.with_model(self.model).problem_values(X)
        many, problems = self.columns.shape
        each = self.machine.readout.shaped(functions[:, self.columns.ravel()].reshape(-1, problems))
        return each.reshape(len(functions), many, *each.shape[1:])

    def own(self, X: Any) -> Vector:
        out, begun = list[Vector](), 0
        for values in self.blocks(X, self.columns.shape[1]):
            numbers = self.number[begun : begun + len(values)]
            out.append(values[np.arange(len(values)), numbers])
            begun += len(values)
        return np.concatenate(out)


class _Models:
    """Different decision functions, one row of coefficients for each.

    rows : coefficients of the samples
    offsets : intercepts
    columns : (n, n_problems) the functions of the model without each sample
    worst : the largest violation of the optimality conditions
    error : the largest bound of such a violation and of rounding, in units of decision values
    """

    def __init__(self, twin: Twin, most: int) -> None:
        self.twin, self.worst, self.error, self.count = twin, 0.0, 0.0, 0
        self.rows, self.offsets = np.zeros((most, twin.n)), np.zeros(most)
        self.columns = np.tile(np.arange(len(twin.learner.tracks)), (twin.n, 1))

    @classmethod
    def of(cls, twin: Twin, machine: Any, done: Callable[[int, int], None]) -> Self:
        """Find the functions of the model and of all models that lack a sample."""
        optima = Optimum.of(twin.learner)
        wanted = [np.flatnonzero(own.deciding()) for own in optima]
        total = sum(map(len, wanted))
        most = len(optima) + total
        _refuse_large(machine, 2 * most * twin.n)  # ``model`` makes a copy
        out = cls(twin, most)
        for own in optima:
            out._add(own)
        for problem, (own, which) in enumerate(zip(optima, wanted, strict=True)):
            for one, left in without(own, which):
                out.columns[own.track.numbers[one], problem] = out.count
                out._add(left)
                done(1, total)
        return out

    def _add(self, one: Optimum) -> None:
        """Keep the decision function of a solution."""
        track, beta, divisor, violation = one.track, one.beta, one.divisor, one.kkt_violation
        self.rows[self.count, track.numbers] = beta / divisor
        b = self.offsets[self.count] = (one.intercept - track.missing(beta)) / divisor
        self.worst = float(np.maximum(self.worst, violation))  # NaN stays
        bound = rounding(int(np.count_nonzero(beta)), float(track.diagonal().max()), beta / divisor, b)
        self.error = max(self.error, violation / divisor + bound)
        self.count += 1

    def model(self, like: Model) -> Model:
        """Return the model of all functions, with the kernel of another one."""
        support = np.flatnonzero(self.rows.any(axis=0))
        return replace(
            like, vectors=self.twin.learner.store.X[support], dual=self.rows[:, support], intercepts=self.offsets,
            support=self.twin.numbers[support].astype(np.int32), counts=np.array([len(support)], np.int32),
            readout=Target(self.count),
        )  # fmt: skip


@dataclass(frozen=True)
class Refitted(LeftOutModels):
    """Models that were fitted without some samples, each with its own proof."""

    models: list[Any]
    how = "fits"

    @classmethod
    def of(cls, model: Any, X: Any, y: Vector, parts: list[Ids], done: Callable[[int, int], None]) -> Self:
        """Fit a model without each of some parts, in which each sample is once."""
        number, models = np.empty(len(y), np.int64), list[Any]()
        for k, part in enumerate(parts):
            number[part] = k
            kept = np.setdiff1d(np.arange(len(y)), part)
            one: Any = clone(model)
            models.append(one.fit(taken(X, kept), y[kept]))
            done(1, len(parts))
        worst = np.max([np.max(way_to(one).machine.kkt_violation_) for one in models])
        return cls(number, float(worst), 0.0, models)  # equal samples have the same bits

    def values(self, X: Any) -> Vector:
        return np.stack([values_of(one, X) for one in self.models], axis=1)

    def own(self, X: Any) -> Vector:
        order = np.argsort(self.number, kind="stable")
        parts = np.split(order, np.cumsum(np.bincount(self.number, minlength=len(self.models)))[:-1])
        found = [values_of(one, taken(X, part)) for one, part in zip(self.models, parts, strict=True) if len(part)]
        return np.concatenate(found)[np.argsort(order)]


def values_of(model: Any, X: Any) -> Vector:
    """Return predictions of a regression, or decision values."""
    return (model.decision_function if hasattr(model, "classes_") else model.predict)(X)


def _refuse_large(machine: Any, numbers: int) -> None:
    """Fail if models of so many numbers need more memory than the machine may use."""
    if (needed := 8 * numbers / 2**20) > machine.cache_size:
        raise ValueError(
            f"The models without each sample need about {needed:,.1f} MB. The 'cache_size' parameter of "
            f"{type(machine).__name__} allows {machine.cache_size:,g} MB: raise it, or use CVPlus with fewer parts."
        )


def left_out_of(
    model: Any, fitted: Any, X: Any, y: Vector, parts: list[Ids], done: Callable[[int, int], None]
) -> LeftOutModels:
    """Return the models without each part: along the path if the parts are samples and it is exact, else by fits.

    A search, which shares kernel values between folds, takes no less time for a single candidate than these fits do.

    Raise a ValueError if the models without each sample need too much memory.

    model, fitted : the model, and its fit to all samples
    """
    single = len(parts) == len(y)
    if single and type(model) in INCREMENTAL_KINDS and independent_of_samples(model):
        with suppress(Unavailable):
            return Followed.of(fitted, X, y, done)
    if single:
        machine = machine_in(fitted)
        _refuse_large(machine, len(parts) * (machine.model_.vectors.size + machine.model_.dual.size))
    return Refitted.of(model, X, y, parts, done)
