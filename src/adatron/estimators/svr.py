"""Epsilon-support vector regression with scikit-learn's interface."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any, ClassVar

from sklearn.utils._param_validation import Interval

from ..docstrings import documented
from ..problems import EpsilonRegression, Problem
from .base.regressor import Regressor


@documented
class SVR(Regressor):
    r"""Epsilon-support vector regression, solved exactly, on all cores, with a proof of optimality.

    A drop-in replacement of :class:`sklearn.svm.SVR`, with a certificate on every fit.

    Parameters
    ----------
    C : float, default=1.0
        Penalty of errors beyond the tube, > 0. Multiplied by sample weights. With ``inf`` no error beyond the tube is
        allowed, and the primal objective is infinite while there is one, however small.
    epsilon : float, default=0.1
        Half the width of the tube in which an error costs nothing, in units of the target.

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

    epsilon: float

    _theirs = "SVR"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Regressor._parameter_constraints,
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
        cache_size: float = 1000,
        verbose: bool = False,
        max_iter: int = -1,
        bias: str = "explicit",
        augment: float | str = 1.0,
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
        return EpsilonRegression(self.C, float(self.epsilon), self.bias, augment)
