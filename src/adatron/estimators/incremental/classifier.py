"""The common base of IncrementalSVC and IncrementalNuSVC: classes, and a path for each pair of them or each class."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils.multiclass import check_classification_targets

from ...arrays import Ids, Vector
from ...quoted import quoted
from ..base.callbacks import fitting, named
from ..base.classifier import Classifier
from ..checks import inputs
from .leave_out import loo_values
from .machine import Incremental


class IncrementalClassifier(Incremental, Classifier):
    """Base of the incremental classifiers."""

    takes_labels = False

    @named
    def fit(self, X: Any, y: Any, sample_weight: Any = None, ids: Any = None) -> Self:
        """Solve the problem from nothing; the model forgets all samples that it had.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training samples; with ``window`` only the last ones are kept.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples, multiplied by those of the classes. A sample of weight 2 counts as two, one of
            weight 0 is left out.
        ids : array-like of int of shape (n_samples,), default=None
            An id for each sample, for ``forget``; by default its arrival number 0, 1, 2, ...

        Returns
        -------
        self : the estimator

        Raises
        ------
        ValueError
            Bad parameters or data: NaN or infinity, fewer than two classes, unequal lengths, no positive weight, an id
            that comes twice.
        ArithmeticError
            Rounding leaves no way to the solution.
        """
        with self.turn:
            return self._fit(X, y, sample_weight, ids, None)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, ids: Any = None, sample_weight: Any = None) -> Self:
        """Learn more samples: the solution becomes that of all samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            New samples.
        y : array-like of shape (n_samples,)
            Class labels.
        classes : array-like of shape (n_classes,), default=None
            All labels that will ever come. The first call needs them if its ``y`` lacks some; later calls may repeat
            them.
        ids : array-like of int of shape (n_samples,), default=None
            An id for each sample, for ``forget``; by default its arrival number, or the number after the largest id so
            far, if that is larger.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples, as in ``fit``.

        Returns
        -------
        self : the estimator

        Raises
        ------
        ValueError
            Bad data, another number of features, a label that is not among the classes, an id that is taken, or a
            parameter that was changed since ``fit``. The estimator is then as it was.
        ArithmeticError
            Rounding leaves no way to the solution; the estimator is then as it was.
        """
        with self.turn:
            if self._is_new:
                return self._fit(X, y, sample_weight, ids, classes)
            if classes is not None and not np.array_equal(np.unique(classes), self.classes_):
                raise ValueError(f"classes must be those of the first call, {self.classes_}. Got {quoted(classes)}.")
            X, y = self._checked(X, False, y=y)
            weight = inputs.weights(X, sample_weight)
            codes = _codes(y, self.classes_)
            self.for_step().learn(X, codes.astype(np.float64), weight * self.class_weight_[codes], ids)
        return self

    @fitting
    def _fit(self, X: Any, y: Any, sample_weight: Any, ids: Any, classes: Any) -> Self:
        X, y = self._checked(X, True, y=y)
        check_classification_targets(y)
        found = np.unique(y if classes is None else classes)
        codes = _codes(y, found)
        weights = inputs.weights_of_classes(self.class_weight, found, np.arange(len(found)))
        weight = inputs.weights(X, sample_weight)
        repeated, weight = None if sample_weight is None else weight, weight * weights[codes]
        if classes is None and len(np.unique(codes[weight > 0])) < 2:
            raise ValueError(self._one_sided)
        y, head = codes.astype(np.float64), self._head_for(found)
        return self._begin(X, y, weight, ids, repeated, head, class_weight_=weights)

    def loo_decision(self) -> Vector:
        """Return each sample's decision values by the model of all other samples.

        Returns
        -------
        values : ndarray of shape (n_samples,), (n_samples, n_classes) or (n_samples, n_pairs)
            They have the form of ``decision_function``, in the order of ``ids_``.
        """
        with self.turn:  # all is read of one solution
            return self.head.shaped(loo_values(self.learner))

    def loo_error(self) -> float:
        """Return the leave-one-out error: the fraction of samples that the model of all others puts into another class.

        It is exact: each support vector leaves the solution, step by step, and comes back; other samples cost nothing.
        """
        with self.turn:
            self.head.check()
            found = self.head.codes(loo_values(self.learner, signs=len(self.classes_) == 2))
            return float(np.mean(found != self.store.y))


def _codes(y: Any, classes: Any) -> Ids:
    """Return the numbers of the classes."""
    unknown = y[~np.isin(y, classes)]
    if len(unknown):
        raise ValueError(
            f"y must hold labels among the classes {classes}. Got {unknown[:1].tolist()[0]!r}; pass all classes "
            "that will ever come as 'classes' to the first call of partial_fit."
        )
    return np.searchsorted(classes, y)
