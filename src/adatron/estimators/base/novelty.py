"""The base of OneClassSVM and SVDD."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import OutlierMixin
from sklearn.utils import check_consistent_length

from ...arrays import Vector
from ...docstrings import documented, predicting, training
from ...door import inputs
from ...door.columns import refuse_masked
from .attributes import Attribute
from .machine import KernelMachine
from .methods import fitting


@documented
class Novelty(OutlierMixin, KernelMachine):
    """Base of the novelty detectors, which have one program and say 1 or -1.

    Attributes
    ----------
    offset_ : ndarray of shape (1,)
        What ``decision_function`` subtracts from ``score_samples``.
    """

    negatives: ClassVar[bool] = False  # whether y marks negatives
    offset_ = Attribute("offset")

    def marks(self, X: Any, y: Any) -> Vector | None:
        """Return -1 for negatives and 1 for other samples; None if the machine has no negatives."""
        if not self.negatives:
            return None
        if y is None:
            return np.ones(X.shape[0])
        refuse_masked(y, "y")
        y = np.asarray(inputs.to_numpy(y)).ravel()
        check_consistent_length(X, y)
        return np.where(y == -1, -1.0, 1.0)

    @fitting
    @training
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Solve the problem and certify the solution.

        Parameters
        ----------
        y : array-like of shape (n_samples,), default=None
            For an SVDD, -1 marks negatives. OneClassSVM ignores it; it is there for pipelines and searches.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples. A sample of weight 2 counts as two, one of weight 0 is left out.
        """
        from ...fitting.fit import fit
        from ...threads import Clock

        clock = Clock.starting(self.max_time)
        rows = inputs.training_rows(self, X)
        data = self._measured(rows, [self.marks(rows, y)], sample_weight, self.fixed_readout)
        problem = self.problem(1.0)
        return self._take(fit(data, [problem], self.settings(data[0].serving, clock, problem.sized, X)))

    @predicting
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the signed distance to the boundary times the norm of the normal, (n_samples,): positive inside."""
        return self.problem_values(X).ravel()

    @predicting
    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """Return decision values without the offset, (n_samples,)."""
        model = self.model_
        return self._decision(model, X).ravel() + model.offset

    @predicting
    def predict(self, X: Any) -> NDArray[np.intp]:
        """Return 1 for samples inside, -1 for those outside, (n_samples,)."""
        return self._decision(self.model_, X, self.fixed_readout.predictions, self.fixed_readout.decided)
