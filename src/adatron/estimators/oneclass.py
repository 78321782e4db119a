"""One-class support vector machine with scikit-learn's interface."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import OutlierMixin

from ..fitting.formulation import Formulation
from ..model.heads import Inlier
from ..problems import oneclass
from .base.attributes import Attribute
from .base.callbacks import fitting
from .base.machine import KernelMachine
from .base.one_program import measured, solved
from .base.parameters import NU
from .checks import inputs


class OneClassSVM(OutlierMixin, KernelMachine):
    r"""Novelty detection: the region that holds most samples, found exactly, with a proof of optimality.

    A drop-in replacement of :class:`sklearn.svm.OneClassSVM`. It has no ``bias``: all three forms are one program.

    Parameters
    ----------
    kernel, degree, gamma, coef0 :
        As in :class:`SVC`.
    tol : float, default=1e-3
        Largest violation of the optimality (KKT) conditions, as in scikit-learn. The program is first divided by a
        power of two, so that the mean of its weights is about 1. If a small nu leaves little of the gradient, the
        divisor makes the gradient vary by about 16.
    nu : float, default=0.5
        In (0, 1]: at most this fraction of the weight is outside, and at least this fraction belongs to support
        vectors.
    shrinking, cache_size, verbose, max_iter, solver, n_jobs, precision, gap_tol, max_time, callback, device :
        As in :class:`SVC`; any solver except 'svmseq'.

    Attributes
    ----------
    dual_coef_, intercept_, support_, support_vectors_, n_support_, coef_, n_iter_, fit_status_, shape_fit_ :
        As in scikit-learn.
    offset_ : ndarray of shape (1,)
        ``-intercept_``; ``decision_function`` is ``score_samples`` minus this offset. If no sample is on the margin,
        the optimum leaves an interval, and the offset is its middle.
    duality_gap_, kkt_violation_, dual_objective_, primal_objective_ : float
        The certificate, as in :class:`SVC`.
    trace_ : dict of ndarray
        As in :class:`SVC`.

    References
    ----------
    Schoelkopf, Platt, Shawe-Taylor, Smola and Williamson, Estimating the support of a high-dimensional distribution,
    Neural Computation 13 (2001) 1443-1471.

    Examples
    --------
    >>> from adatron import OneClassSVM
    >>> X = [[0], [0.44], [0.45], [0.46], [1]]
    >>> OneClassSVM(gamma="auto").fit(X).predict(X)
    array([-1,  1,  1,  1, -1])
    """

    nu: float

    reads = Inlier()
    offset_: Attribute[NDArray[np.float64]] = Attribute("offset")
    _theirs = "OneClassSVM"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {**KernelMachine._parameter_constraints, **NU}

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        nu: float = 0.5,
        shrinking: bool = True,
        cache_size: float = 1000,
        verbose: bool = False,
        max_iter: int = -1,
        solver: Any = "auto",
        n_jobs: int | None = None,
        precision: str = "auto",
        gap_tol: float | None = 1e-3,
        max_time: float | None = None,
        callback: Callable[[Any], object] | None = None,
        device: Any = None,
    ) -> None:
        self._keep(locals())

    def formulation(self, augment: float) -> Formulation:
        nu = self.nu
        return Formulation(lambda y, weight: oneclass(weight, nu), in_units=True)

    @fitting
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Solve the problem and certify the solution.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
            Training samples, or their kernel matrix for ``kernel='precomputed'``.
        y : ignored
            Not used; there for pipelines and searches.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples. A sample of weight 2 counts as two, one of weight 0 is left out.

        Returns
        -------
        self : the estimator

        Raises
        ------
        ValueError
            Bad parameters or data: NaN or infinity, unequal lengths, no positive weight.
        """
        from ..threads import Clock

        clock = Clock.starting(self.max_time)
        data = measured(inputs.training_rows(self, X), None, sample_weight, self._mergeable)
        form, resolved = self.formulation(1.0), self._resolved(data.X, data.repeated)
        model, further = solved(self, data, form, resolved, self.settings(resolved.serving, clock, form.sized, X))
        return self._take(model, **further)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the signed distance to the boundary times the norm of the normal, (n_samples,): positive inside.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples, as many features as in ``fit``.
        """
        return self.problem_values(X).ravel()

    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """Return decision values without the offset, (n_samples,).

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples, as many features as in ``fit``.
        """
        model = self.model_
        return self._decision(model, X).ravel() - model.intercepts

    def predict(self, X: Any) -> NDArray[np.intp]:
        """Return 1 for samples inside, -1 for those outside, (n_samples,).

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples, as many features as in ``fit``.
        """
        return self._decision(self.model_, X, self.reads.predictions, self.reads.decided)
