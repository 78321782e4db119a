"""Nu-support vector regression with scikit-learn's interface."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any, ClassVar

from sklearn.utils._param_validation import Interval

from ..docstrings import documented
from ..problems import NuRegression, Problem
from .base.parameters import NU
from .base.regressor import Regressor


@documented
class NuSVR(Regressor):
    r"""Nu-support vector regression: the width of the tube is found; solved exactly, with a proof of optimality.

    A drop-in replacement of :class:`sklearn.svm.NuSVR`.

    Parameters
    ----------
    nu : float, default=0.5
        In (0, 1]: at most this fraction of the weight is outside the tube, and at least this fraction belongs to
        support vectors.
    C : float, default=1.0
        Penalty of errors beyond the tube, > 0 and finite. Multiplied by sample weights.
    tol : float, default=1e-3
        Largest violation of the optimality (KKT) conditions, in units of the target.

    Attributes
    ----------
    epsilon_ : float, or ndarray of shape (n_targets,)
        Half the width of the tube that was found, for each target.

    References
    ----------
    Schoelkopf, Smola, Williamson and Bartlett, New support vector algorithms, Neural Computation 12 (2000) 1207-1245.

    Examples
    --------
    >>> from adatron import NuSVR
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = NuSVR(C=100, nu=0.3).fit(X, y)
    >>> bool((abs(model.predict(X) - y) > model.epsilon_ + 1e-2).mean() <= 0.3)
    True
    """

    nu: float

    _theirs = "NuSVR"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Regressor._parameter_constraints,
        **NU,
        "C": [Interval(Real, 0.0, None, closed="neither")],
    }

    def __init__(
        self,
        *,
        nu: float = 0.5,
        C: float = 1.0,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        tol: float = 1e-3,
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
        return NuRegression(self.C, self.nu, self.bias, augment)
