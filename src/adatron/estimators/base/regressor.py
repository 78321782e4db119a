"""The base of SVR and NuSVR."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin

from ...model.heads import Target
from ..checks import inputs
from .callbacks import fitting
from .one_program import OneProgram
from .parameters import BIAS, PENALTY

if TYPE_CHECKING:
    from ...problems import Bias


class Regressor(RegressorMixin, OneProgram):
    """Base of the regressors: one program."""

    C: float
    bias: Bias
    augment: float | str

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **OneProgram._parameter_constraints,
        **BIAS,
        **PENALTY,
    }

    @fitting
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
        from ...threads import Clock

        clock = Clock.starting(self.max_time)
        rows, y = inputs.training_data(self, X, y)
        self._fit(rows, y, sample_weight, clock, X)
        return self

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Predict targets of samples, (n_samples,).

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples, as many features as in ``fit``.
        """
        return self._decision(self.model_, X, Target().predictions)

    @property
    def head(self) -> Target:
        return Target()

    def _head_of(self, parts: dict[str, Any]) -> Target:
        return self.head
