"""The samples of a search: they are checked, sorted and merged once, and each fold gives them weights."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import is_classifier, is_regressor

from ...arrays import Ids, Vector
from ...devices import Device
from ...door import inputs
from ...door.arrays import device_of, device_X_of
from ...fitting.programs import ranges
from ...fitting.samples import Samples, canonical

# Distance of the mean from 0, as a multiple of the spread, from which on a fit must centre rows of a linear kernel.
REMOTE = 1e3


class Unshared(Exception):
    """A fold or a setting that is fitted alone: its error says what is wrong, or such a fit centres the rows."""


@contextmanager
def checking() -> Iterator[None]:
    """Raise Unshared if a check of the user's input fails. Nothing but checks belongs inside."""
    try:
        yield
    except (ValueError, TypeError) as error:
        raise Unshared from error


@dataclass
class SharedRows:
    """Distinct samples of all folds, class by class; a regression and novelty detection have one class.

    X : (n, d) checked rows
    y : (n,) targets, or labels; None for novelties
    codes, classes : (n,) class of each row, and all labels; one class without labels
    distinct : the distinct samples, each of weight 1 for each row
    group : (n,) the distinct sample of each row
    of_class : (m,) class of each distinct sample
    weight : (n,) weights of the rows; ``weighted`` says whether the user gave them
    device : the device that the machine asks for, or that X came on; None is the processor
    tensor : X as it came, if it is a tensor on the device
    """

    X: Any
    y: Any
    codes: Ids
    classes: NDArray[Any]
    distinct: Samples
    group: Ids
    weight: Vector
    weighted: bool
    device: Device | None = None
    tensor: Any = None

    @classmethod
    def of(cls, model: Any, X: Any, y: Any, sample_weight: Any) -> SharedRows:
        """Check the samples as a fit of the machine does; raise Unshared if a fit would refuse them."""
        with checking():
            device = device_of(model, X)
            tensor = None if device is None else device_X_of(device, X)
            if is_classifier(model) or is_regressor(model):
                X, y = inputs.training_data(model, X, y)
            else:
                X, y = inputs.training_rows(model, X), None
            classes, codes = np.zeros(1), np.zeros(X.shape[0], np.int64)
            if is_classifier(model):
                classes, codes = inputs.classes(y)
            weight = np.maximum(inputs.weights(X, sample_weight), 0.0)
        values, kinds = classes, codes
        if y is not None and is_regressor(model):
            values, kinds = np.unique(y, return_inverse=True)
        X = inputs.as_dense_if_small(X, model.kernel)
        distinct = canonical(X, kinds, len(values), np.ones(X.shape[0]), mergeable=True)
        group = np.empty(X.shape[0], np.int64)
        group[distinct.members] = distinct.group
        if not is_classifier(model):
            distinct = distinct.together()
        weighted = sample_weight is not None
        return cls(X, y, codes, classes, distinct, group, weight, weighted, device, tensor)

    @property
    def size(self) -> int:
        """Number of distinct samples."""
        return len(self.distinct.rows)

    @cached_property
    def device_X(self) -> Any:
        """X on the device, moved once for all problems; None without a device, or without room beside their rows."""
        if self.tensor is not None or self.device is None or not isinstance(self.X, np.ndarray):
            return self.tensor
        from ...devices.rows import moved_once

        return moved_once(self.device, self.X)

    @cached_property
    def remote(self) -> bool:
        """Whether the mean of the rows is far from 0 compared with their spread."""
        mean, X = np.asarray(self.X.mean(axis=0)).ravel(), self.X
        squares = X.multiply(X).mean(axis=0) - mean**2 if sparse.issparse(X) else X.var(axis=0, dtype=np.float64)
        return bool(mean @ mean > REMOTE**2 * np.sum(squares))

    @cached_property
    def of_class(self) -> Ids:
        """The class of each distinct sample."""
        return np.repeat(np.arange(len(self.distinct.sizes)), self.distinct.sizes)

    def ids(self, segments: list[int]) -> Ids:
        """Return the distinct samples of some classes, one class after the other."""
        ends = np.cumsum(self.distinct.sizes)
        some = np.array(segments)
        return ranges(ends[some] - self.distinct.sizes[some], ends[some])


@dataclass
class Fold:
    """The training rows of one fold, and the numbers behind parameters that depend on them.

    number : of the fold; -1: all rows are training rows
    train, test : rows of ``rows``
    """

    rows: SharedRows
    number: int
    train: Ids
    test: Ids

    def __post_init__(self) -> None:
        self._known: dict[str, Any] = {}
        if not (self.rows.weight[self.train] > 0.0).any():
            raise Unshared

    @property
    def repeated(self) -> Vector | None:
        """The user's weights of the training rows; None is 1."""
        return self.rows.weight[self.train] if self.rows.weighted else None

    def present(self) -> Ids:
        """Return the numbers of the classes in the training rows."""
        return self._once("present", lambda: np.unique(self.rows.codes[self.train]))

    def weights(self, model: Any) -> Vector:
        """Return the weight of each distinct sample in this fold; 0 for samples that are left out."""
        rows, train = self.rows, self.train
        class_weight = getattr(model, "class_weight", None) if is_classifier(model) else None
        weight = rows.weight[train]
        if class_weight is None:
            return self._once("weights", lambda: _counted(rows, train, weight))
        present, codes = np.unique(rows.codes[train], return_inverse=True)
        with checking():
            own = inputs.weights_of_classes(class_weight, rows.classes[present], codes, self.repeated)
        return _counted(rows, train, weight * own[codes])

    def _once(self, name: str, make: Callable[[], Any]) -> Any:
        if name not in self._known:
            self._known[name] = make()
        return self._known[name]

    def gamma(self, model: Any) -> float:
        """Return the number behind the machine's gamma, which may depend on the training rows."""
        with checking():
            if model.gamma != "scale":
                return inputs.gamma(model.gamma, self.rows.X, model.kernel)
            own = self.train
            return self._once("scale", lambda: inputs.gamma("scale", self.rows.X[own], model.kernel, self.repeated))

    def augment(self, model: Any) -> float:
        """Return the augmenting factor; 0 if the bias has none."""
        if getattr(model, "bias", "explicit") != "augmented":
            return 0.0
        if model.augment != "auto":
            return float(model.augment)
        return self._once("auto", lambda: inputs.augment("auto", self.rows.X[self.train], self.repeated))


def _counted(rows: SharedRows, train: Ids, weight: Vector) -> Vector:
    """Return the sum of the weights of training rows for each distinct sample."""
    return np.bincount(rows.group[train], weight, minlength=rows.size).astype(np.float64, copy=False)
