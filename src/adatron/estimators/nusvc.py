"""Nu-support vector classification with scikit-learn's interface."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from ..docstrings import documented
from ..problems import NuClassification, Problem
from ..problems.nusvc import INFEASIBLE
from .base.classifier import Classifier
from .base.parameters import NU


@documented
class NuSVC(Classifier):
    r"""Nu-support vector classification, solved exactly, on all cores, with a proof of optimality.

    A drop-in replacement of :class:`sklearn.svm.NuSVC`. Class weights also count, which LIBSVM ignores here.

    Parameters
    ----------
    nu : float, default=0.5
        In (0, 1]: at most this fraction of the weight is on the wrong side of the margin, and at least this fraction
        belongs to support vectors. nu is too large for a pair of classes if the smaller class has less than nu / 2 of
        their weight.
    tol : float, default=1e-3
        Largest violation of the optimality (KKT) conditions of the program with nu, before the division by the margin,
        which the other numbers of the certificate are of, too. The program is first divided by a power of two, so that
        the mean of its weights is about 1. If the margin, or what a small nu leaves of the gradient, is below 1, the
        divisor brings that number to about 1.

    References
    ----------
    Schoelkopf, Smola, Williamson and Bartlett, New support vector algorithms, Neural Computation 12 (2000) 1207-1245.

    Examples
    --------
    >>> from adatron import NuSVC
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> float(NuSVC(nu=0.1).fit(X, y).score(X, y)) > 0.95
    True
    """

    nu: float
    _one_sided = INFEASIBLE

    _theirs = "NuSVC"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {**Classifier._parameter_constraints, **NU}

    def __init__(
        self,
        *,
        nu: float = 0.5,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        probability: bool | str = "deprecated",
        tol: float = 1e-3,
        cache_size: float = 1000,
        class_weight: dict[Any, float] | str | None = None,
        verbose: bool = False,
        max_iter: int = -1,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        random_state: Any = None,
        bias: str = "explicit",
        augment: float | str = 1.0,
        solver: Any = "auto",
        n_jobs: int | None = None,
        precision: str = "auto",
        multi_class: str = "ovo",
        gap_tol: float | None = 1e-3,
        max_time: float | None = None,
        callback: Callable[[Any], object] | None = None,
        device: Any = None,
    ) -> None:
        self._keep(locals())

    def problem(self, augment: float) -> Problem:
        return NuClassification(self.nu, self.bias, augment, self.multi_class == "ovr")
