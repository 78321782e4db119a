"""Nu-support vector classification with scikit-learn's interface."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..docstrings import documented
from ..fitting.formulation import Formulation
from ..fitting.layout import pairs
from ..problems import feasible_nu, nusvc
from ..problems.dual import Vector
from .base.classifier import Classifier
from .base.parameters import NU

INFEASIBLE = "specified nu is infeasible"
NO_MARGIN = (
    "Two classes have no margin: nu = {:g} is less than the fraction of errors that this kernel cannot avoid, so any "
    "function is as good as any other. Raise nu, or use another kernel."
)


def infeasible(nu: float, got: str) -> str:
    """Return the error of a nu that is too large for the weights of two classes."""
    return (
        f"{INFEASIBLE}: with nu = {nu:g} each of two classes needs at least {50 * nu:g} % of their weight. Got {got}."
    )


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

    def formulation(self, augment: float) -> Formulation:
        nu, bias = self.nu, self.bias
        return Formulation(
            lambda y, weight: nusvc(y, weight, nu, bias, augment),
            joined=lambda y, weight, first: nusvc(y, weight, nu, bias, augment, first),
            in_units=True,
            check=partial(_check_weights, nu, self.multi_class == "ovr"),
            divisors=_margins,
            doubt=lambda widths: "" if (widths < 0).all() else NO_MARGIN.format(nu),
        )


def _check_weights(nu: float, each: bool, classes: NDArray[Any], weights: Vector, unit: float) -> None:
    """Refuse a nu that is too large for the weights of two classes, or of each class and the rest."""
    known = np.flatnonzero(weights)
    classes, weights = classes[known], weights[known]
    if each and len(classes) > 2:
        i, j = np.arange(len(classes)), None
        others = np.where(np.eye(len(classes)) > 0, 0.0, weights).sum(axis=1)
    else:
        i, j = pairs(len(classes))
        others = weights[j]
    wrong = np.flatnonzero(~feasible_nu(nu, weights[i], others))
    if len(wrong):
        first = wrong[0]
        other = "all other classes" if j is None else f"class {classes[j[first]].tolist()!r}"
        own, left = unit * weights[i[first]], unit * others[first]
        got = f"weight {own:g} in class {classes[i[first]].tolist()!r} and {left:g} in {other}"
        raise ValueError(infeasible(nu, got))


def _margins(half_widths: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the margins; 1 for those of 0, by which nothing can be divided: the function stays 0 within tol."""
    return np.where(half_widths < 0, -half_widths, 1.0)
