"""Linear classification and regression with scikit-learn's interface: a weight for each feature, no kernel matrix."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from ..arrays import is_sparse
from ..docstrings import documented
from ..problems import (
    Bias,
    CClassification,
    EpsilonRegression,
    Problem,
    SquaredClassification,
    SquaredRegression,
)
from .base.attributes import Rows
from .base.classifier import Classifier
from .base.machine import KernelMachine
from .base.parameters import LARGEST_AUGMENT, PENALTY
from .base.regressor import Regressor

OTHERS = {
    ("penalty", "l1"): "scikit-learn's LinearSVC has it, and for many features the package skglm.",
    ("multi_class", "crammer_singer"): "scikit-learn's LinearSVC has it.",
}


class LinearMachine(KernelMachine):
    """Base of the linear machines.

    Parameters
    ----------
    C : float, default=1.0
        Penalty of errors, > 0; ``inf`` allows none. Multiplied by class and sample weights.
    tol : float, default=1e-4
        Largest violation of the optimality (KKT) conditions, in margins or in units of the target.
    dual : bool or 'auto', default='auto'
        Accepted for compatibility, without effect: the sizes of the data decide.
    fit_intercept : bool, default=True
        Whether to fit a bias.
    intercept_scaling : float, default=1.0
        The constant feature whose weight is the bias, and is penalised with the others; without effect for
        ``bias='explicit'``.
    bias : {'augmented', 'explicit'}, default='augmented'
        'augmented' penalises the bias, as scikit-learn does. 'explicit' does not: then a translation of the samples
        changes nothing.
    max_iter : int, default=-1
        Most iterations, in the unit of the solver; -1 is a finite limit that is hardly ever reached. scikit-learn's
        limit of 1,000 ends many fits far from the optimum; here a proof ends them.
    verbose : int, default=0
        Print a line for each report of progress, unless it is 0.
    random_state : int, RandomState instance or None, default=None
        Shuffles the samples before they are left out for ``probability=True``; a fit itself draws nothing.

    Attributes
    ----------
    coef_ : ndarray
        Weights of the features, in float64, also for sparse X.
    """

    kernel: Any = "linear"
    bias: Bias = "augmented"
    fit_intercept: bool = True
    intercept_scaling: float = 1.0
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KernelMachine._parameter_constraints,
        **PENALTY,
        "dual": ["boolean", StrOptions({"auto"})],
        "fit_intercept": ["boolean"],
        "intercept_scaling": [Interval(Real, 0.0, LARGEST_AUGMENT, closed="right")],
        "bias": [StrOptions({"augmented", "explicit"})],
        "random_state": ["random_state"],
    }
    del _parameter_constraints["kernel"]

    @property
    def augment(self) -> float:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The constant feature of a penalised bias."""
        return float(self.intercept_scaling)

    @property
    def _form(self) -> Bias:
        """The form of the bias, see ``problems``."""
        return self.bias if self.fit_intercept else "none"

    def _weights(self) -> Any:
        """Return the weights of the features, (n_problems, n_features), as an array that may be changed."""
        weights: Any = KernelMachine.coef_.fget(self)  # pyright: ignore[reportOptionalCall]
        return weights.toarray() if is_sparse(weights) else np.array(weights, np.float64)


@documented
class LinearSVC(LinearMachine, Classifier):  # pyright: ignore[reportIncompatibleVariableOverride] (augment)
    r"""Linear support vector classification, solved exactly, with a proof of optimality.

    A drop-in replacement of :class:`sklearn.svm.LinearSVC`: the same program, solved to its optimum also with a large
    ``C`` or features that are not scaled. With more than two classes there is a problem for each class against the
    rest, in which each sample has the weight of its own class (LIBLINEAR gives the rest the weight 1).

    Parameters
    ----------
    penalty : {'l2'}, default='l2'
        The norm of the weights that is penalised, squared.
    loss : {'squared_hinge', 'hinge'}, default='squared_hinge'
        The square of what a margin lacks, or that itself.
    multi_class : {'ovr'}, default='ovr'
        One classifier for each class against the rest.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights of the features, in float64, also for sparse X.

    References
    ----------
    Fan, Chang, Hsieh, Wang and Lin, LIBLINEAR: a library for large linear classification, JMLR 9 (2008) 1871-1874.
    Mangasarian, A finite Newton method for classification, Optimization Methods and Software 17 (2002) 913-929.
    Ferris and Munson, Interior-point methods for massive support vector machines, SIAM J. Optim. 13 (2002) 783-804.

    Examples
    --------
    >>> from adatron import LinearSVC
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = LinearSVC(C=10).fit(X, y)
    >>> model.coef_.shape, bool(model.duality_gap_ <= 1e-3)
    ((1, 30), True)
    """

    C: float
    loss: str
    multi_class: str = "ovr"

    takes_labels = True
    _theirs = "LinearSVC"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Classifier._parameter_constraints,
        **LinearMachine._parameter_constraints,
        "penalty": [StrOptions({"l1", "l2"})],
        "loss": [StrOptions({"hinge", "squared_hinge"})],
        "multi_class": [StrOptions({"ovr", "crammer_singer"})],
    }

    def __init__(
        self,
        penalty: str = "l2",
        loss: str = "squared_hinge",
        *,
        dual: bool | str = "auto",
        tol: float = 1e-4,
        C: float = 1.0,
        multi_class: str = "ovr",
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        class_weight: dict[Any, float] | str | None = None,
        verbose: int = 0,
        random_state: Any = None,
        max_iter: int = -1,
        bias: str = "augmented",
        probability: bool | str = "deprecated",
        cache_size: float = 1000,
        n_jobs: int | None = None,
        gap_tol: float | None = 1e-3,
        max_time: float | None = None,
        callback: Callable[[Any], object] | None = None,
    ) -> None:
        self._keep(locals())

    def problem(self, augment: float) -> Problem:
        for (name, value), who in OTHERS.items():
            if getattr(self, name) == value:
                raise ValueError(f"{name}={value!r} is another program. {who}")
        kind = SquaredClassification if self.loss == "squared_hinge" and isfinite(self.C) else CClassification
        return kind(self.C, self._form, augment)

    @property
    def coef_(self) -> Rows:
        return self._weights()


@documented
class LinearSVR(LinearMachine, Regressor):  # pyright: ignore[reportIncompatibleVariableOverride] (augment)
    r"""Linear support vector regression, solved exactly, with a proof of optimality.

    A drop-in replacement of :class:`sklearn.svm.LinearSVR`: the same program, solved to its optimum.

    Parameters
    ----------
    epsilon : float, default=0.0
        Half the width of the tube in which an error costs nothing, in units of the target.
    loss : {'epsilon_insensitive', 'squared_epsilon_insensitive'}, default='epsilon_insensitive'
        What an error is beyond the tube, or the square of that.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
        Weights of the features, in float64, also for sparse X.

    References
    ----------
    Ho and Lin, Large-scale linear support vector regression, JMLR 13 (2012) 3323-3348.

    Examples
    --------
    >>> from adatron import LinearSVR
    >>> from sklearn.datasets import load_diabetes
    >>> model = LinearSVR(C=100).fit(*load_diabetes(return_X_y=True))
    >>> model.coef_.shape, model.duality_gap_ <= 1e-3
    ((10,), True)
    """

    C: float
    epsilon: float
    loss: str

    _theirs = "LinearSVR"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Regressor._parameter_constraints,
        **LinearMachine._parameter_constraints,
        "epsilon": [Interval(Real, 0.0, None, closed="left")],
        "loss": [StrOptions({"epsilon_insensitive", "squared_epsilon_insensitive"})],
    }

    def __init__(
        self,
        *,
        epsilon: float = 0.0,
        tol: float = 1e-4,
        C: float = 1.0,
        loss: str = "epsilon_insensitive",
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        dual: bool | str = "auto",
        verbose: int = 0,
        random_state: Any = None,
        max_iter: int = -1,
        bias: str = "augmented",
        cache_size: float = 1000,
        n_jobs: int | None = None,
        gap_tol: float | None = 1e-3,
        max_time: float | None = None,
        callback: Callable[[Any], object] | None = None,
    ) -> None:
        self._keep(locals())

    def problem(self, augment: float) -> Problem:
        squared = self.loss == "squared_epsilon_insensitive" and isfinite(self.C)
        kind = SquaredRegression if squared else EpsilonRegression
        return kind(self.C, float(self.epsilon), self._form, augment)

    @property
    def coef_(self) -> Rows:
        weights = self._weights()
        return weights[0] if len(weights) == 1 and self.readout.columns is None else weights
