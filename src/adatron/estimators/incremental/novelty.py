"""The base of the incremental novelty detectors."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from ...arrays import Vector
from ..base.callbacks import fitting
from ..base.novelty import Novelty
from ..checks import inputs
from .leave_out import loo_values
from .machine import Incremental


class IncrementalNovelty(Incremental, Novelty):
    """Base of the novelty detectors that learn and unlearn."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, ids: Any = None) -> Self:
        """Solve the problem from nothing; the model forgets all samples that it had.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training samples; with ``window`` only the last ones are kept.
        y : array-like of shape (n_samples,), default=None
            For an SVDD, -1 marks negatives. A one-class SVM ignores it; it is there for pipelines and searches.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples; a sample of weight 0 is left out.
        ids : array-like of int of shape (n_samples,), default=None
            As in :meth:`IncrementalSVC.fit`.

        Returns
        -------
        self : the estimator

        Raises
        ------
        ValueError
            Bad parameters or data.
        ArithmeticError
            Rounding leaves no way to the solution.
        """
        with self.turn:
            return self._fit(X, y, sample_weight, ids)

    @fitting
    def _fit(self, X: Any, y: Any, sample_weight: Any, ids: Any) -> Self:
        X, _ = self._checked(X, True)
        weight = inputs.weights(X, sample_weight)
        return self._begin(X, self._targets(X, y), weight, ids, None if sample_weight is None else weight, self.reads)

    def partial_fit(self, X: Any, y: Any = None, ids: Any = None, sample_weight: Any = None) -> Self:
        """Learn more samples: the solution becomes that of all samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            New samples.
        y : array-like of shape (n_samples,), default=None
            For an SVDD, -1 marks negatives. A one-class SVM ignores it; it is there for pipelines and searches.
        ids, sample_weight :
            As in :meth:`IncrementalSVC.partial_fit`, which also lists the errors.

        Returns
        -------
        self : the estimator
        """
        with self.turn:
            if self._is_new:
                return self._fit(X, y, sample_weight, ids)
            X, _ = self._checked(X, False)
            self.for_step().learn(X, self._targets(X, y), inputs.weights(X, sample_weight), ids)
        return self

    def _targets(self, X: Any, y: Any) -> Vector:
        marks = self.marks(X, y)
        return np.zeros(X.shape[0]) if marks is None else marks

    def loo_decision(self) -> Vector:
        """Return each sample's decision value by the model of all others, (n_samples,), in the order of ``ids_``."""
        with self.turn:
            return loo_values(self.learner)[:, 0]

    def loo_error(self) -> float:
        """Return the exact fraction of samples that are on the wrong side by the model of all others."""
        with self.turn:  # no step may come between
            inside = self.loo_decision() >= 0.0
            return float(np.mean(inside == (self.store.y == -1.0)))
