"""Incremental epsilon-support vector regression."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from ...arrays import Vector
from ...docstrings import documented
from ..base.callbacks import fitting, named
from ..checks import inputs
from ..svr import SVR
from . import c_path
from .leave_out import loo_values
from .machine import Incremental


@documented
class IncrementalSVR(Incremental, SVR):
    r"""Epsilon-support vector regression that learns and unlearns: after each step the exact solution.

    References
    ----------
    Ma, Theiler and Perkins, Accurate on-line support vector regression, Neural Computation 15 (2003) 2683-2703.

    Examples
    --------
    >>> from adatron import IncrementalSVR
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = IncrementalSVR(C=100, epsilon=10).fit(X[:400], y[:400]).partial_fit(X[400:], y[400:])
    >>> model.kkt_violation_ < 1e-6
    True
    """

    takes_targets = False
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SVR._parameter_constraints,
        **Incremental._parameter_constraints,
    }

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        C: float = 1.0,
        epsilon: float = 0.1,
        bias: str = "explicit",
        augment: float = 1.0,
        window: int | None = None,
        n_jobs: int | None = None,
        max_time: float | None = None,
    ) -> None:
        self._keep(locals())

    set_C, C_path = c_path.set_C, c_path.C_path

    @named
    def fit(self, X: Any, y: Any, sample_weight: Any = None, ids: Any = None) -> Self:
        """Solve the problem from nothing; the model forgets all samples that it had.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training samples; with ``window`` only the last ones are kept.
        y : array-like of shape (n_samples,)
            Targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights that multiply C; a sample of weight 0 is left out.
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
        X, y = self._checked(X, True, y=y, y_numeric=True)
        weight = inputs.weights(X, sample_weight)
        return self._begin(X, y, weight, ids, None if sample_weight is None else weight, self.reads)

    def partial_fit(self, X: Any, y: Any, ids: Any = None, sample_weight: Any = None) -> Self:
        """Learn more samples: the solution becomes that of all samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            New samples.
        y : array-like of shape (n_samples,)
            Targets.
        ids, sample_weight :
            As in :meth:`IncrementalSVC.partial_fit`, which also lists the errors.

        Returns
        -------
        self : the estimator
        """
        with self.turn:
            if self._is_new:
                return self._fit(X, y, sample_weight, ids)
            X, y = self._checked(X, False, y=y, y_numeric=True)
            self.for_step().learn(X, y, inputs.weights(X, sample_weight), ids)
        return self

    def loo_prediction(self) -> Vector:
        """Return the prediction for each sample by the model of all others, (n_samples,), in the order of ``ids_``."""
        with self.turn:
            return loo_values(self.learner)[:, 0]

    def loo_error(self) -> float:
        """Return the exact leave-one-out error, the mean squared error of ``loo_prediction``."""
        with self.turn:  # no step may come between
            return float(np.mean((self.loo_prediction() - self.store.y) ** 2))
