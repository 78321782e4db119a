"""Epsilon-support vector regression with scikit-learn's interface."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin, _fit_context  # pyright: ignore[reportPrivateUsage]
from sklearn.utils._param_validation import Interval

from . import inputs
from .machine import KernelMachine


class SVR(RegressorMixin, KernelMachine):
    r"""Epsilon-support vector regression, solved exactly, on all cores, with a proof of optimality.

    A drop-in replacement of :class:`sklearn.svm.SVR`, and a certificate on every fit.

    Parameters
    ----------
    kernel, degree, gamma, coef0 :
        As in :class:`SVC`.
    tol : float, default=1e-3
        Largest violation of the optimality (KKT) conditions, in units of the target.
    C : float, default=1.0
        Penalty of errors beyond the tube, > 0. Multiplied by sample weights. With ``inf`` no error beyond the tube is
        allowed, and the primal objective is infinite as long as there is one, however small.
    epsilon : float, default=0.1
        Half the width of the tube in which an error costs nothing, in units of the target.
    shrinking, cache_size, verbose, max_iter, bias, augment, solver, n_jobs, precision, gap_tol, max_time, callback :
        As in :class:`SVC`.

    Attributes
    ----------
    dual_coef_, intercept_, support_, support_vectors_, n_support_, coef_, n_iter_, fit_status_, shape_fit_ :
        As in scikit-learn.
    duality_gap_, kkt_violation_, dual_objective_, primal_objective_ : float
        The certificate, as in :class:`SVC`.
    trace_ : dict of ndarray
        As in :class:`SVC`.

    References
    ----------
    Vapnik, Golowich and Smola, Support vector method for function approximation, regression estimation and signal
    processing (1997).

    Examples
    --------
    >>> from adatron import SVR
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = SVR(C=100, epsilon=10).fit(X, y)
    >>> model.duality_gap_ < 1e-3
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KernelMachine._parameter_constraints,
        "epsilon": [Interval(Real, 0.0, None, closed="left")],
    }

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        C: float = 1.0,
        epsilon: float = 0.1,
        shrinking: bool = True,
        cache_size: float = 500,
        verbose: bool = False,
        max_iter: int = -1,
        bias: str = "explicit",
        augment: float | str = 1.0,
        solver: Any = "auto",
        n_jobs: int | None = None,
        precision: str = "auto",
        gap_tol: float | None = None,
        max_time: float | None = None,
        callback: Callable[[Any], object] | None = None,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.C = C
        self.epsilon = epsilon
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.bias = bias
        self.augment = augment
        self.solver = solver
        self.n_jobs = n_jobs
        self.precision = precision
        self.gap_tol = gap_tol
        self.max_time = max_time
        self.callback = callback

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> SVR:
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
        self : SVR

        Raises
        ------
        ValueError
            Bad parameters or data: NaN or infinity, unequal lengths, no positive weight.
        """
        from ..problems import svr
        from . import samples
        from .engine import Problem

        X, y = inputs.training_data(self, X, y, self._given)
        weight = inputs.weights(X, sample_weight)
        # Equal rows are one sample only if their targets are equal, too.
        values, codes = np.unique(y, return_inverse=True)
        distinct = samples.canonical(X, codes, len(values), weight, mergeable=not self._given).together()
        augment = inputs.augment(self.augment, X)

        def program(ids: NDArray[np.int64]) -> Any:
            rows, bound = distinct.rows[ids], self.C * distinct.weight[ids]
            return svr(y[rows], bound, float(self.epsilon), self.bias, augment)  # pyright: ignore[reportArgumentType]

        fitted = self._solve(X, distinct, [Problem([0], program)])
        coefficients = self._spread(distinct, fitted, X.shape[0])
        support = np.flatnonzero(coefficients[0])
        self._n_support = np.array([len(support)], np.int32)
        self._store_support(X, support, coefficients[:, support], fitted)
        self._store_certificates(fitted, alone=True)
        self.n_iter_ = int(np.max(self.n_iter_))
        inputs.warn_unless_converged(fitted, X)
        return self

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Targets of samples, (n_samples,).

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        """
        return self._decision(X).ravel()
