"""The base of SVR and NuSVR."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin

from ...model.heads import Target
from ..checks import inputs
from .callbacks import fitting
from .machine import KernelMachine
from .one_program import measured, solved
from .parameters import BIAS, PENALTY

if TYPE_CHECKING:
    from ...problems import Bias


class Regressor(RegressorMixin, KernelMachine):
    """Base of the regressors, which have one program."""

    reads = Target()

    C: float
    bias: Bias = "explicit"
    augment: float | str = 1.0

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KernelMachine._parameter_constraints,
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
        data = measured(rows, y, sample_weight, self._mergeable)
        form = self.formulation(inputs.augment(self.augment, data.X, data.repeated))
        resolved = self._resolved(data.X, data.repeated)
        model, further = solved(self, data, form, resolved, self.settings(resolved.serving, clock, form.sized, X))
        return self._take(model, **further)

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Predict targets of samples, (n_samples,).

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples, as many features as in ``fit``.
        """
        return self._decision(self.model_, X, self.reads.predictions)
