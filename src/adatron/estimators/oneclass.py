"""One-class support vector machine with scikit-learn's interface."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from ..docstrings import documented
from ..model.readout import Inlier
from ..problems import OneClass, Problem
from .base.novelty import Novelty
from .base.parameters import NU


@documented
class OneClassSVM(Novelty):
    r"""Novelty detection: the region that holds most samples, found exactly, with a proof of optimality.

    A drop-in replacement of :class:`sklearn.svm.OneClassSVM`. It has no ``bias``: all three forms are one program.

    Parameters
    ----------
    tol : float, default=1e-3
        Largest violation of the optimality (KKT) conditions, as in scikit-learn. The program is first divided by a
        power of two, so that the mean of its weights is about 1. If a small nu leaves little of the gradient, the
        divisor makes the gradient vary by about 16.
    nu : float, default=0.5
        In (0, 1]: at most this fraction of the weight is outside, and at least this fraction belongs to support
        vectors.

    Attributes
    ----------
    offset_ : ndarray of shape (1,)
        ``-intercept_``; ``decision_function`` is ``score_samples`` minus this offset. If no sample is on the margin,
        the optimum leaves an interval, and the offset is its middle.

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

    fixed_readout = Inlier()
    _theirs = "OneClassSVM"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {**Novelty._parameter_constraints, **NU}

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

    def problem(self, augment: float) -> Problem:
        return OneClass(self.nu)
