"""The base of SVR and NuSVR."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin, _fit_context  # pyright: ignore[reportPrivateUsage]

from ...problems import Dual
from ..checks import inputs
from .convergence import warn_unless_converged
from .machine import KernelMachine
from .parameters import BIAS, PENALTY


class Regressor(RegressorMixin, KernelMachine):
    """Base of the regressors: one program."""

    C: float
    bias: str
    augment: float | str

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KernelMachine._parameter_constraints,
        **BIAS,
        **PENALTY,
    }
    sized_programs: ClassVar[bool] = True
    _copies: ClassVar[int] = 1  # variables of a sample

    @abstractmethod
    def _program(self, y: NDArray[np.float64], bound: NDArray[np.float64], augment: float) -> Dual:
        """Return the program of targets and bounds."""

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Solve the problem and certify the solution.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
            Training samples, or their kernel matrix for ``kernel='precomputed'``.
        y : array-like of shape (n_samples,)
            Targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights that multiply C; a sample of weight 2 counts as two, one of weight 0 is left out.

        Returns
        -------
        self : the estimator

        Raises
        ------
        ValueError
            Bad parameters or data: NaN or infinity, unequal lengths, no positive weight.
        """
        from ...fitting import samples
        from ...fitting.problems import Listed, Problem

        clock = self._started()
        X, y = inputs.training_data(self, X, y)
        weight = inputs.weights(X, sample_weight)
        repeated = None if sample_weight is None else weight
        # Equal rows are one sample only if their targets are equal, too.
        values, codes = np.unique(y, return_inverse=True)
        distinct = samples.canonical(X, codes, len(values), weight, mergeable=self._mergeable).together()
        augment = inputs.augment(self.augment, X, repeated)

        def program(ids: NDArray[np.int64]) -> Dual:
            return self._program(y[distinct.rows[ids]], self.C * distinct.weight[ids], augment)

        fitted = self._solve(X, distinct, Listed([Problem([0], program, self._copies)]), clock, repeated)
        self._store_one(X, self._spread(distinct, fitted, self.C), fitted)
        warn_unless_converged(fitted, X, self.max_iter, values=self._values)
        return self

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Predict targets of samples, (n_samples,).

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        """
        return self._decision(X).ravel()
