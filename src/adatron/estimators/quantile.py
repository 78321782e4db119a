"""Kernel quantile regression."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from ..docstrings import documented
from ..model.readout import Target
from ..problems import Problem, QuantileRegression
from .base.convergence import warn
from .base.regressor import Regressor

if TYPE_CHECKING:
    from ..model.model import Model

BETWEEN = Real, 0.0, 1.0  # A quantile, without the ends.


class Levels(Interval):
    """Different numbers in an interval."""

    def is_satisfied_by(self, val: Any) -> bool:
        if not isinstance(val, (list, tuple, np.ndarray)) or getattr(val, "ndim", 1) != 1:
            return False
        if not all(map(super().is_satisfied_by, val)):
            return False
        return 0 < len(val) == len({float(one) for one in val})

    def __str__(self) -> str:
        return f"a list of different numbers, each {super().__str__()}"


@documented
class QuantileSVR(Regressor):
    r"""Kernel quantile regression, solved exactly, with a proof of optimality: one quantile, or several at once.

    It minimises ½‖w‖² + Σ Cᵢ ρ(yᵢ − f(xᵢ)) with the pinball loss ρ(e) = max(τ e, (τ − 1) e) of the quantile τ. The
    names follow :class:`sklearn.linear_model.QuantileRegressor`, which has another penalty.

    Parameters
    ----------
    quantile : float or list of float, default=0.5
        In (0, 1): at most this fraction of the weight lies below the curve, and at most the rest lies above it. For a
        list of T different quantiles there are T curves, and ``predict`` returns (n_samples, T) numbers in the order of
        the list. The coefficients of each are, to the last bit, those of a fit of its quantile alone.
    C : float, default=1.0
        Penalty of errors, > 0 and finite. Multiplied by sample weights.
    rearrange : bool, default=False
        Whether ``predict`` sorts the values of each sample, so that no curves cross. It is read at each prediction.

    Attributes
    ----------
    n_crossed_ : int
        Training samples at which curves are not in the order of their quantiles, by more than ``tol``.

    References
    ----------
    Takeuchi, Le, Sears and Smola, Nonparametric quantile estimation, Journal of Machine Learning Research 7 (2006)
    1231-1264.

    Chernozhukov, Fernández-Val and Galichon, Quantile and probability curves without crossing, Econometrica 78 (2010)
    1093-1125.

    Examples
    --------
    >>> from adatron import QuantileSVR
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = QuantileSVR(quantile=[0.1, 0.5, 0.9], C=10).fit(X, y)
    >>> model.predict(X[:2]).shape
    (2, 3)
    >>> [bool((y < curve - 1e-2).mean() <= tau) for tau, curve in zip(model.quantile, model.predict(X).T)]
    [True, True, True]
    """

    quantile: Any
    rearrange: bool
    n_crossed_: int

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Regressor._parameter_constraints,
        "C": [Interval(Real, 0.0, None, closed="neither")],
        "quantile": [Interval(*BETWEEN, closed="neither"), Levels(*BETWEEN, closed="neither")],
        "rearrange": ["boolean"],
    }

    def __init__(
        self,
        *,
        quantile: Any = 0.5,
        C: float = 1.0,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        rearrange: bool = False,
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

    @property
    def columns(self) -> int | None:
        """How many quantiles there are; None if the parameter is a number."""
        return None if isinstance(self.quantile, Real) else len(self.quantile)

    def problem(self, augment: float) -> Problem:
        return self.problems(augment)[0]

    def problems(self, augment: float) -> list[Problem]:
        return [QuantileRegression(self.C, float(tau), self.bias, augment) for tau in np.atleast_1d(self.quantile)]

    def _with_parameters(self, readout: Target) -> Target:
        if not self.rearrange or readout.columns is None:
            return readout
        if readout.columns != self.columns:
            raise ValueError(f"The model has {readout.columns} curves, and quantile={self.quantile!r}. Fit it again.")
        return replace(readout, order=tuple(np.argsort(self.quantile).tolist()))

    def reviewed(self, model: Model, X: Any) -> dict[str, Any]:
        """Count the samples at which curves cross, and warn if they do."""
        if model.readout.n_problems == 1:
            return {"n_crossed_": 0}
        values = model.function(self.n_jobs, self.precision).values(X, np.asarray, None, None)
        falls = np.diff(values[:, np.argsort(self.quantile)], axis=1) < -self.tol
        crossed = int(np.count_nonzero(falls.any(axis=1)))
        if crossed and not self.rearrange:
            warn(
                f"Curves of quantiles cross at {crossed} of {len(values)} training samples. rearrange=True sorts the "
                "values of each sample.",
                UserWarning,
            )
        return {"n_crossed_": crossed}

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return D², the fraction of the pinball loss of constants that the curves save; the mean over the quantiles.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Their targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Their weights.
        """
        from sklearn.metrics import d2_pinball_score

        found, many = self.predict(X), self.columns is not None
        curves = list(zip(np.atleast_1d(self.quantile), found.T if many else [found], strict=True))
        scores = [d2_pinball_score(y, one, sample_weight=sample_weight, alpha=float(tau)) for tau, one in curves]
        return float(np.mean(scores))
