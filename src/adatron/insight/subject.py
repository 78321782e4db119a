"""A fitted model with the samples that it was fitted to, checked; and as many of them as there is time for."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from math import inf
from numbers import Integral
from time import monotonic
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_array, check_consistent_length, get_tags
from sklearn.utils.validation import check_is_fitted

from ..arrays import Ids, Vector
from ..door import inputs
from ..door.columns import as_numbers, refuse_masked
from ..estimators.base.attributes import TASK_NAMES
from ..estimators.base.machine import KernelMachine
from ..kernels.derivatives import jet
from ..margins import InputMargins
from ..pipelines import PipelineParts, way_to
from ..quoted import quoted
from ..threads import Clock
from .affine import Affine, linear_map
from .distance import classifier_of, input_margin

OTHER_SAMPLES = (
    "X and y must be the samples that the model was fitted to, in their order: {}. Pass other samples as X_test and "
    "y_test."
)
OTHER_ROWS = (
    "The step {!r} ({}) of the pipeline changes which samples the fit gets, so X and y are not those of the machine. "
    "Resample first, fit the pipeline without this step to the result, and pass the result."
)
# Largest difference between a support vector and its sample, which steps before may round anew: fractions of the spread
# of the vectors, and of their size.
SAME_SAMPLE, SAME_NUMBER = 1e-9, 1e-13
PREDICTED = 500  # Most support vectors of a regression whose targets are compared with predictions.
FLOAT32_SPREAD = 1e-3  # Fraction of the spread of the targets that rounding of predictions in float32 may explain.

_check: Any = check_array


class Unavailable(ValueError):
    """The answer does not exist for this model; the text says why."""


class NoDerivative(Unavailable, TypeError):
    """The decision function has no derivative with respect to features."""


@dataclass(frozen=True)
class Subject:
    """A model and its training samples.

    model : the model as it was given
    way : the steps before the machine, and the machine
    X : the samples as they were given; a list is an array
    rows : what the machine sees of them, an array or a CSR matrix
    y : classes or targets; zeros of a novelty detector, or the marks of an SVDD
    weight : weights of the samples, those of the classes included
    """

    model: Any
    way: PipelineParts
    X: Any
    rows: Any
    y: NDArray[Any]
    weight: Vector

    @classmethod
    def of(cls, model: Any, X: Any, y: Any = None, sample_weight: Any = None) -> Subject:
        """Check a model and its training samples.

        Raise a TypeError if the model does not end with a machine of this library. Raise a ValueError if the samples
        are not those of the fit, a step of the model has resampled them, or the model is compact.
        """
        way = way_to(model)
        machine = machine_of(way)
        if way.resamplers:
            name, step = way.resamplers[0]
            raise ValueError(OTHER_ROWS.format(name, type(step).__name__))
        if machine.compact_:
            raise ValueError("A compact model does not know its samples. Take the model from which it was made.")
        machine.readout.refuse_several()
        X = table_of(machine, X)
        rows = rows_of(way, X)
        n = rows.shape[0]
        if task_of(machine) == "novelty":
            y = machine.marks(rows, y) if getattr(machine, "negatives", False) else np.zeros(n)
        elif y is None:
            raise ValueError(f"y must hold the targets of the {n} samples. Got None.")
        y = targets_of(machine, y)
        check_consistent_length(rows, y)
        weight = inputs.weights(rows, sample_weight)
        _refuse_others(machine, rows, y)
        _refuse_other_targets(machine, rows, y)
        if hasattr(machine, "class_weight_"):
            weight = weight * machine.class_weight_[np.searchsorted(machine.classes_, y)]
        return cls(model, way, X, rows, y, weight)

    @property
    def machine(self) -> Any:
        """The machine at the end of the model."""
        return self.way.machine

    @property
    def task(self) -> str:
        """The task: 'classification', 'regression' or 'novelty'."""
        return task_of(self.machine)

    @property
    def wanted(self) -> NDArray[Any]:
        """The right predictions: classes or targets; 1, but -1 for negatives, of a novelty detector."""
        return np.where(self.y == -1, -1, 1) if self.task == "novelty" else self.y

    @property
    def columns(self) -> int:
        """The number of features of the samples as they were given."""
        return int(self.X.shape[1]) if len(self.X.shape) == 2 else 1

    def tests(self, X_test: Any, y_test: Any) -> tuple[Any, Any]:
        """Return other samples and their targets, checked; None stays None."""
        if X_test is None:
            if y_test is not None:
                raise ValueError("y_test needs X_test.")
            return None, None
        X_test = table_of(self.machine, X_test)
        rows = rows_of(self.way, X_test, "X_test")
        if y_test is None:
            return X_test, None
        y_test = targets_of(self.machine, y_test, "y_test")
        check_consistent_length(rows, y_test)
        return X_test, y_test


def machine_of(way: PipelineParts) -> Any:
    """Return the fitted machine at the end of a way."""
    if not isinstance(way.machine, KernelMachine):
        if hasattr(way.machine, "cv_results_"):
            raise ValueError(
                f"The search has no best estimator, as it was fitted with refit = {quoted(way.machine.refit)}. Fit it "
                "with refit = True, or pass a model of its own beside the search."
            )
        raise TypeError(
            f"A machine of adatron is needed, alone or as the last step. Got {quoted(way.machine)} instead."
        )
    check_is_fitted(way.machine)
    return way.machine


def task_of(machine: Any) -> str:
    """Return the task of a machine."""
    return TASK_NAMES[str(get_tags(machine).estimator_type)]


def measurable(model: Any, X: Any) -> tuple[PipelineParts, Any, Any]:
    """Return the way to a machine, samples as a table, and what the machine sees of them, see ``refuse_unmeasured``."""
    way = way_to(model)
    refuse_unmeasured(machine_of(way))
    X = table_of(way.machine, X)
    return way, X, rows_of(way, X)


def table_of(machine: Any, X: Any) -> Any:
    """Return samples as something with rows; lists become arrays."""
    if hasattr(X, "shape"):
        return X
    return np.asarray(X) if machine.model_.samples is None else np.asarray(X, object)


def rows_of(way: PipelineParts, X: Any, name: str = "X") -> Any:
    """Return the checked samples that the machine sees; samples that are not rows of numbers stay as they are."""
    machine = way.machine
    if machine.model_.samples is not None:
        return np.asarray(X, object)
    rows = way.taken(X)
    rows = sparse.csr_matrix(rows, dtype=np.float64) if sparse.issparse(rows) else rows
    rows = _check(as_numbers(rows), accept_sparse="csr", dtype=np.float64, input_name=name)
    if rows.shape[1] != machine.n_features_in_:
        raise ValueError(
            f"{name} has {rows.shape[1]} features, but {type(machine).__name__} is expecting {machine.n_features_in_} "
            "features as input."
        )
    return rows


def targets_of(machine: Any, y: Any, name: str = "y") -> NDArray[Any]:
    """Return targets as an array: finite numbers in a regression, otherwise labels of the type of the classes."""
    refuse_masked(y, name)
    y, task = np.asarray(y).ravel(), task_of(machine)
    if task == "regression":
        return _check(y, ensure_2d=False, dtype=np.float64, input_name=name)
    texts = [labels.dtype.kind in "OUS" for labels in (y, machine.classes_)] if task == "classification" else []
    if len(set(texts)) > 1:
        label, one = quoted(machine.classes_[0]), quoted(y[0]) if len(y) else "none"
        raise ValueError(f"{name} must hold classes such as {label}. Got {one}.")
    return y


def codes_of(classes: NDArray[Any], y: Any, n: int) -> Ids:
    """Return the number of the class of each of n samples.

    Raise a ValueError if there are not n of them, or one is not a class of the model.
    """
    if y is None:
        raise ValueError(f"y must hold the classes of the {n} samples. Got None.")
    y = np.asarray(y).ravel()
    if len(y) != n:
        raise ValueError(f"y must hold a target for each of the {n} samples. Got an array of shape {y.shape}.")
    known = np.isin(y, classes)
    if not known.all():
        strange = quoted(y[~known][0])
        raise ValueError(f"y must hold classes of the model, which are {quoted(list(classes))}. Got {strange}.")
    return np.searchsorted(classes, y)


def counted(name: str, value: Any, least: int, beyond: int | None = None) -> int:
    """Return a whole number from ``least`` on, below ``beyond`` if it is given."""
    number = int(value) if isinstance(value, Integral) and not isinstance(value, (bool, np.bool_)) else least - 1
    if number < least or (beyond is not None and number >= beyond):
        end = "inf" if beyond is None else beyond
        raise ValueError(f"The {name!r} parameter must be an int in the range [{least}, {end}). Got {quoted(value)}.")
    return number


def refuse_unmeasured(machine: Any) -> None:
    """Raise NoDerivative if the decision function has no derivative, or no boundary among rows of numbers."""
    if machine.model_.samples is not None:
        raise NoDerivative("This answer needs samples that are rows of numbers; this kernel function takes others.")
    try:
        jet(machine.kernel_) if task_of(machine) == "regression" else classifier_of(machine)
    except TypeError as error:
        raise NoDerivative(str(error)) from error


def taken(X: Any, some: Any) -> Any:
    """Return some rows of a table, of any kind."""
    from sklearn.utils import _safe_indexing  # pyright: ignore[reportPrivateUsage]

    return _safe_indexing(X, np.asarray(some))


def stored_as(samples: Any, rows: Any) -> Any:
    """Return rows as the samples are stored: CSR or an array."""
    if not sparse.issparse(samples):
        return dense(rows)
    return sparse.csr_matrix(rows, dtype=np.float64)


def dense(rows: Any) -> Vector:
    """Return rows as an array."""
    return np.ascontiguousarray(rows.toarray() if sparse.issparse(rows) else rows, np.float64)


@contextmanager
def unnamed() -> Iterator[None]:
    """Let models with named features take points without names, in silence; a decorator, too."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X (does not have valid|has) feature names")
        yield


def map_of(way: PipelineParts, X: Any) -> Affine | None:
    """Return the linear map of the steps before the machine; None without steps, or if a step is not linear."""
    try:
        return linear_map(way, int(X.shape[1])) if way.steps else None
    except (ValueError, AttributeError, IndexError):
        return None


def drawn(n: int, most: int, seed: int = 0) -> Ids:
    """Return the numbers of at most ``most`` of n samples, sorted: all, or some that chance draws, always the same."""
    if n <= most:
        return np.arange(n)
    return np.sort(np.random.default_rng(seed).choice(n, most, replace=False))


def _refuse_others(machine: Any, rows: Any, y: NDArray[Any]) -> None:
    """Fail if the samples are not those of the fit, as far as the model tells."""
    n = rows.shape[0]
    if n != machine.shape_fit_[0]:
        raise _other(machine, f"the model has seen {machine.shape_fit_[0]} samples, not {n}")
    if hasattr(machine, "classes_") and not np.isin(y, machine.classes_).all():
        strange = quoted(y[~np.isin(y, machine.classes_)][0])
        raise _other(machine, f"{strange} is not one of its classes")
    vectors, tilted = machine.support_vectors_, getattr(machine, "tilts_", None) is not None
    if tilted or not vectors.shape[1] or rows.dtype == object:
        return  # projections, or kernel values
    own = rows[machine.support_]
    off = abs(own - vectors)
    if not off.shape[0]:
        return
    spread = (vectors.max(axis=0) - vectors.min(axis=0)).max()
    if off.max() > SAME_SAMPLE * spread + SAME_NUMBER * abs(vectors).max():
        first = int(machine.support_[int(np.argmax(dense(off.max(axis=1)).ravel()))])
        raise _other(machine, f"row {first} is not the sample that is a support vector")


def _refuse_other_targets(machine: Any, rows: Any, y: NDArray[Any]) -> None:
    """Fail if the targets of the support vectors are not those of the fit, as far as the coefficients tell.

    The support vectors stand class by class. In a regression the sign of a coefficient says on which side of the tube
    its target lies.
    """
    task, support = task_of(machine), machine.support_
    if task == "classification":
        counts = machine.n_support_
        of_classes = np.repeat(machine.classes_, counts) if len(counts) == len(machine.classes_) else y[support]
        wrong = np.flatnonzero(of_classes != y[support])
        what = "has another class"
    elif task == "regression" and np.isfinite(machine.kkt_violation_):
        support = support[drawn(len(support), PREDICTED)]
        signs = np.sign(machine.model_.coefficients()[0])[drawn(len(machine.support_), PREDICTED)]
        off = signs * (y[support] - machine.problem_values(rows[support])[:, 0]) if len(support) else np.zeros(0)
        least = float(machine.get_params(deep=False).get("epsilon", 0.0))
        slack = 2.0 * float(machine.kkt_violation_) + FLOAT32_SPREAD * float(np.ptp(y))
        wrong = np.flatnonzero(off < least - slack)
        what = "has another target"
    else:
        return
    if len(wrong):
        raise _other(machine, f"row {support[wrong[0]]} {what} than in the fit")


def _other(machine: Any, what: str) -> ValueError:
    """Return the error for samples that are not those of the fit."""
    order = " An incremental model keeps them in the order of its ids_." if hasattr(machine, "ids_") else ""
    return ValueError(OTHER_SAMPLES.format(what) + order)


GROWTH = 3  # Times that a part is as large as all before it, at most.
Answer = TypeVar("Answer")


def in_time(some: Ids, clock: Clock, ask: Callable[[Ids], Answer]) -> tuple[Ids, list[Answer]]:
    """Return the samples that there was time for, and what was found of them, part by part.

    Without a limit all samples are one part. With a limit, chance orders the samples, and the first part is one sample.
    Each further part is as large as the time that is left allows, if it takes as long as those before.
    """
    if clock.deadline == inf or not len(some):
        return some, [ask(some)]
    order = np.random.default_rng(0).permutation(some)
    begun, done, size = monotonic(), 0, 1
    found: list[Answer] = []
    while size > 0:
        found.append(ask(order[done : done + size]))
        done += size
        now = monotonic()
        size = min(GROWTH * done, len(order) - done)
        if now > begun:
            size = min(size, int(done * (clock.deadline - now) / (now - begun)))
    return order[:done], found


def margins_in_time(model: Any, rows: Any, some: Ids, clock: Clock) -> tuple[Ids, InputMargins]:
    """Return the samples that there was time for, sorted, and their distances from the boundary."""
    done, found = in_time(some, clock, lambda part: input_margin(model, taken(rows, part)))
    order = np.argsort(done, kind="stable")
    columns = (np.concatenate([getattr(one, field.name) for one in found])[order] for field in fields(InputMargins))
    return done[order], InputMargins(*columns)
