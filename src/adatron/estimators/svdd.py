"""Support vector data description with scikit-learn's interface."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval

from ..docstrings import documented, predicting
from ..door import inputs
from ..model.readout import Sphere
from ..problems import Ball, Problem
from .base.attributes import Attribute
from .base.novelty import Novelty
from .base.parameters import NU


@documented
class SVDD(Novelty):
    r"""Support vector data description: the smallest ball in feature space around most samples, with a proof.

    The decision value is :math:`R^2 - \|\phi(x) - a\|^2`, the squared radius minus the squared distance from the
    centre. With a kernel for which k(x, x) is the same for all x, such as 'rbf', it is that of :class:`OneClassSVM`
    times a number; with others, such as 'linear' and 'poly', the two differ. The centre is
    :math:`a = \sum_i \beta_i \phi(x_i)`.

    Parameters
    ----------
    nu : float, default=0.5
        In (0, 1]: at most this fraction of the weight is outside, if there are no negatives. It stands for the bound
        1 / (nu W) of each coefficient, where W is the weight of all samples that are no negatives.
    C : float, default=None
        Bound of a coefficient for a sample of weight 1, in place of nu: at least 1 / W. ``inf`` is the ball around all
        samples.
    tol : float, default=1e-3
        Largest violation of the optimality (KKT) conditions. The program is first divided by a power of two, so that
        its gradient varies by about 16.

    Attributes
    ----------
    radius_ : float
        The radius R. If no sample lies on the sphere, the optimum leaves an interval of decision values, of which the
        middle is taken.
    center_norm_ : float
        The distance of the centre from the origin of feature space.
    dual_coef_ : ndarray of shape (1, n_support)
        Twice the coefficients of the centre, so they sum to 2; those of negatives are below 0.
    intercept_ : ndarray of shape (1,)
        ``radius_**2 - center_norm_**2``; ``decision_function`` is the sum of ``dual_coef_`` times kernel values, plus
        this number, minus k(x, x).
    offset_ : ndarray of shape (1,)
        ``-radius_**2``; ``score_samples`` is minus the squared distance from the centre.
    dual_objective_, primal_objective_ : float
        Ends of half of the radius squared, plus the errors, for k(x, x) as it is rounded.

    References
    ----------
    Tax and Duin, Support vector data description, Machine Learning 54 (2004) 45-66.

    Examples
    --------
    >>> from adatron import SVDD
    >>> model = SVDD(kernel="linear", C=float("inf"), tol=1e-6).fit([[0, 0], [2, 0], [1, 0.5]])
    >>> round(model.radius_, 6), model.predict([[1, 0.9], [1, 1.1]])
    (1.0, array([ 1, -1]))
    """

    nu: float
    C: float | None

    fixed_readout = Sphere()
    negatives = True
    center_norm_ = Attribute("center_norm")
    radius_ = Attribute("radius")
    _radius = Attribute("own_radius")
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Novelty._parameter_constraints,
        **NU,
        "C": [Interval(Real, 0.0, None, closed="right"), None],
    }

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        nu: float = 0.5,
        C: float | None = None,
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
        return Ball(self.nu, self.C)

    @predicting
    def decision_function(self, X: Any, diagonal: Any = None) -> NDArray[np.float64]:
        """Return the squared radius minus the squared distance from the centre, (n_samples,): positive inside.

        Parameters
        ----------
        diagonal : array-like of shape (n_samples,), default=None
            k(x, x) of the samples. It is needed if kernel='precomputed', and not used otherwise.

        Raises
        ------
        ValueError
            Bad data: NaN or infinity, or another number of features than in ``fit``; kernel='precomputed' without
            ``diagonal``.
        """
        return self._decision(self.model_, X, diagonal=diagonal).ravel()

    def score_samples(self, X: Any, diagonal: Any = None) -> NDArray[np.float64]:
        """Return minus the squared distance from the centre, (n_samples,).

        Parameters and errors are those of ``decision_function``.
        """
        model = self.model_
        return self._decision(model, X, diagonal=diagonal).ravel() + model.offset

    def predict(self, X: Any, diagonal: Any = None) -> NDArray[np.intp]:
        """Return 1 inside the ball, -1 outside, (n_samples,).

        Parameters and errors are those of ``decision_function``.
        """
        return self._decision(
            self.model_, X, self.fixed_readout.predictions, self.fixed_readout.decided, diagonal=diagonal
        )

    def fit_predict(self, X: Any, y: Any = None, **params: Any) -> NDArray[np.intp]:
        """Fit, and return 1 for training samples inside the ball, -1 for those outside; parameters as of ``fit``."""
        self.fit(X, y, **params)
        return self.predict(X, np.diagonal(np.asarray(inputs.to_numpy(X))) if self._given else None)
