"""Incremental one-class support vector machine."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from ...arrays import Vector
from ..base.callbacks import fitting
from ..checks import inputs
from ..oneclass import OneClassSVM
from .leave_out import loo_values
from .machine import Incremental


class IncrementalOneClassSVM(Incremental, OneClassSVM):
    r"""Novelty detection that learns and unlearns: after each step the exact solution.

    Parameters
    ----------
    kernel, degree, gamma, coef0 :
        As in :class:`IncrementalSVC`.
    nu : float, default=0.5
        As in :class:`adatron.OneClassSVM`.
    window, n_jobs, max_time :
        As in :class:`IncrementalSVC`.

    Attributes
    ----------
    dual_coef_, intercept_, offset_, support_, support_vectors_, n_support_, coef_, shape_fit_ :
        As in :class:`adatron.OneClassSVM`; ``support_`` numbers the samples in the order of ``ids_``.
    ids_, n_iter_, n_refactor_, n_refit_ :
        As in :class:`IncrementalSVC`.
    duality_gap_, kkt_violation_, dual_objective_, primal_objective_ : float
        By the gradient that the path follows, after every call; ``deletion_report`` has the bounds.

    References
    ----------
    Laskov, Gehl, Krueger and Mueller, Incremental support vector learning, JMLR 7 (2006) 1909-1936.

    Examples
    --------
    >>> from adatron import IncrementalOneClassSVM
    >>> model = IncrementalOneClassSVM(gamma=1.0, window=5).fit([[0], [0.44], [0.45], [0.46], [1]])
    >>> model.partial_fit([[0.43]]).ids_.tolist()
    [5, 1, 2, 3, 4]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **OneClassSVM._parameter_constraints,
        **Incremental._parameter_constraints,
    }

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        nu: float = 0.5,
        window: int | None = None,
        n_jobs: int | None = None,
        max_time: float | None = None,
    ) -> None:
        self._keep(locals())

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, ids: Any = None) -> Self:
        """Solve the problem from nothing; the model forgets all samples that it had.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training samples; with ``window`` only the last ones are kept.
        y : ignored
            Not used; there for pipelines and searches.
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
        return self._begin(X, np.zeros(X.shape[0]), weight, ids, None if sample_weight is None else weight, self.reads)

    def partial_fit(self, X: Any, y: Any = None, ids: Any = None, sample_weight: Any = None) -> Self:
        """Learn more samples: the solution becomes that of all samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            New samples.
        y : ignored
            Not used; there for pipelines and searches.
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
            self.for_step().learn(X, np.zeros(X.shape[0]), inputs.weights(X, sample_weight), ids)
        return self

    def loo_decision(self) -> Vector:
        """Return each sample's decision value by the model of all others, (n_samples,), in the order of ``ids_``."""
        return loo_values(self.learner)[:, 0]

    def loo_error(self) -> float:
        """Return the exact fraction of samples that are outside by the model of all others."""
        return float(np.mean(self.loo_decision() < 0.0))
