"""A fitted model with the samples that it was fitted to, checked."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_consistent_length, get_tags
from sklearn.utils.validation import check_is_fitted

from ..estimators.base.machine import KernelMachine
from ..estimators.input_space.affine import Affine, linear_map
from ..estimators.model.way import Way, way_to
from ..quoted import quoted

TASKS = {"classifier": "classification", "regressor": "regression", "outlier_detector": "novelty"}
OTHER_SAMPLES = (
    "X and y must be the samples that the model was fitted to, in their order: {}. Pass other samples as X_test and "
    "y_test."
)
CLOSE = 1e-9  # Largest relative difference between a support vector and its sample: steps before may round anew.

Ids = NDArray[np.int64]
Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Subject:
    """A model and its training samples.

    Parameters
    ----------
    model : the model as it was given
    way : the steps before the machine, and the machine
    X : the samples as they were given
    rows : what the machine sees of them, an array or a CSR matrix
    y : classes or targets; zeros of a novelty detector
    weight : weights of the samples, those of the classes included
    """

    model: Any
    way: Way
    X: Any
    rows: Any
    y: NDArray[Any]
    weight: Vector

    @classmethod
    def of(cls, model: Any, X: Any, y: Any = None, sample_weight: Any = None) -> Subject:
        """Check a model and its training samples.

        Raises
        ------
        TypeError
            The model does not end with a machine of this library.
        ValueError
            The samples are not those of the fit, or the model is compact.
        """
        way = way_to(model)
        machine = machine_of(way)
        if machine.compact_:
            raise ValueError("A compact model does not know its samples. Take the one before compact().")
        rows = rows_of(way, X)
        n = rows.shape[0]
        if task_of(machine) == "novelty":
            y = np.zeros(n)
        elif y is None:
            raise ValueError(f"y must hold the targets of the {n} samples. Got None.")
        y = np.asarray(y).ravel()
        weight = np.ones(n) if sample_weight is None else np.asarray(sample_weight, np.float64)
        check_consistent_length(rows, y, weight)
        _refuse_others(machine, rows, y)
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

    def given(self, some: Any) -> Any:
        """Return some of the samples as they were given."""
        return taken(self.X, some)


def machine_of(way: Way) -> Any:
    """Return the fitted machine at the end of a way."""
    if not isinstance(way.machine, KernelMachine):
        raise TypeError(
            f"A machine of adatron is needed, alone or as the last step. Got {quoted(way.machine)} instead."
        )
    check_is_fitted(way.machine)
    return way.machine


def task_of(machine: Any) -> str:
    """Return what a machine is for."""
    return TASKS[str(get_tags(machine).estimator_type)]


def rows_of(way: Way, X: Any) -> Any:
    """Return what the machine sees of some samples; what are no rows of numbers stays as it is."""
    if way.machine.given_objects is not None:
        return np.asarray(X, object)
    rows = way.taken(X)
    if sparse.issparse(rows):
        return sparse.csr_matrix(rows, dtype=np.float64)
    rows = np.asarray(rows, np.float64)
    if rows.ndim != 2:
        raise ValueError(f"X must be a table of samples by features. Got {rows.ndim} dimensions.")
    return rows


def taken(X: Any, some: Any) -> Any:
    """Return some rows of a table, of any kind."""
    from sklearn.utils import _safe_indexing  # pyright: ignore[reportPrivateUsage]

    return _safe_indexing(X, np.asarray(some))


def dense(rows: Any) -> Vector:
    """Return rows as an array."""
    return np.ascontiguousarray(rows.toarray() if sparse.issparse(rows) else rows, np.float64)


@contextmanager
def unnamed() -> Iterator[None]:
    """Let models with named features take points without names, in silence."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        yield


def map_of(way: Way, X: Any) -> Affine | None:
    """Return the linear map of the steps before the machine; None if there is none, or a step is not linear."""
    try:
        return linear_map(way, int(X.shape[1])) if way.steps else None
    except (ValueError, AttributeError, IndexError):
        return None


def drawn(n: int, most: int, seed: int = 0) -> Ids:
    """Return the numbers of at most ``most`` of n samples, sorted: all, or some that chance draws, always the same."""
    if n <= most:
        return np.arange(n)
    return np.sort(np.random.default_rng(seed).choice(n, most, replace=False))


def names_of(way: Way, width: int, given: Any = None) -> list[str]:
    """Return the names of the features that a model was given; 'feature 0', ... if it knows none."""
    if given is not None and len(given) != width:
        raise ValueError(f"feature_names must have {width} names. Got {len(given)}.")
    found = given if given is not None else getattr(way.estimators[0], "feature_names_in_", None)
    if found is None or len(found) != width:
        return [f"feature {j}" for j in range(width)]
    return [str(name) for name in found]


def _refuse_others(machine: Any, rows: Any, y: NDArray[Any]) -> None:
    """Fail if the samples are not those of the fit, as far as the model tells."""
    n = rows.shape[0]
    if n != machine.shape_fit_[0]:
        raise ValueError(OTHER_SAMPLES.format(f"the model has seen {machine.shape_fit_[0]} samples, not {n}"))
    if hasattr(machine, "classes_") and not np.isin(y, machine.classes_).all():
        strange = quoted(y[~np.isin(y, machine.classes_)][0])
        raise ValueError(OTHER_SAMPLES.format(f"{strange} is not one of its classes"))
    vectors, tilted = machine.support_vectors_, getattr(machine, "tilts_", None) is not None
    if tilted or not vectors.shape[1] or rows.dtype == object:
        return  # projections, or kernel values
    own = rows[machine.support_]
    off = abs(own - vectors)
    size = abs(vectors).max() if vectors.shape[0] else 0.0
    if off.shape[0] and off.max() > CLOSE * (1.0 + size):
        first = int(machine.support_[int(np.argmax(dense(off.max(axis=1)).ravel()))])
        raise ValueError(OTHER_SAMPLES.format(f"row {first} is not the sample that is a support vector"))
