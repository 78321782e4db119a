"""Incremental classification: a path for each pair of classes, or for each class against the rest."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils.multiclass import check_classification_targets

from ...arrays import Ids, Vector
from ...docstrings import documented
from ...door import inputs
from ...learning.leave_out import loo_values
from ...problems import Dual, NuClassification, Problem, feasible_nu
from ...problems.nusvc import infeasible
from ...problems.problem import Diagonal
from ...quoted import quoted
from ..base.classifier import Classifier
from ..nusvc import NuSVC
from ..svc import SVC
from .machine import FollowsC, Incremental

#: What the docstring of ``partial_fit`` says besides.
CLASSES = """\
        classes : array-like of shape (n_classes,), default=None
            All labels that will ever come. The first call needs them if its ``y`` lacks some; later calls may repeat
            them.
"""


class IncrementalClassifier(Incremental, Classifier):
    """Base of the incremental classifiers."""

    takes_labels = False

    def partial_fit(  # pyright: ignore[reportIncompatibleMethodOverride] (classes come third, as in scikit-learn)
        self, X: Any, y: Any, classes: Any = None, ids: Any = None, sample_weight: Any = None
    ) -> Self:
        return self._learn(X, y, ids, sample_weight, classes)

    partial_fit.__doc__ = (Incremental.partial_fit.__doc__ or "").replace("        ids :", CLASSES + "        ids :", 1)

    def _meaning(self, X: Any, y: Any, weight: Vector, classes: Any, first: bool) -> Any:
        if first:
            check_classification_targets(y)
            labels = np.unique(y if classes is None else classes)
            factors = inputs.weights_of_classes(self.class_weight, labels, np.arange(len(labels)))
        else:
            labels, factors = self.classes_, self.class_weight_
            if classes is not None and not np.array_equal(np.unique(classes), labels):
                raise ValueError(f"classes must be those of the first call, {labels}. Got {quoted(classes)}.")
        codes = _codes(y, labels)
        weight = weight * factors[codes]
        if first and classes is None and len(np.unique(codes[weight > 0])) < 2:
            raise ValueError(self._one_sided)
        return codes.astype(np.float64), weight, self._readout_for(labels), {"class_weight_": factors}

    def loo_decision(self) -> Vector:
        """Return each sample's decision values by the model of all other samples.

        Returns
        -------
        values : ndarray of shape (n_samples,), (n_samples, n_classes) or (n_samples, n_pairs)
            They have the form of ``decision_function``, in the order of ``ids_``.
        """
        with self.lock:  # all is read of one solution
            return self.readout.shaped(loo_values(self.learner))

    def loo_error(self) -> float:
        """Return the leave-one-out error: the fraction of samples that the model of all others puts into another class.

        It is exact: each support vector leaves the solution, step by step, and comes back; other samples cost nothing.
        """
        with self.lock:
            self.readout.check()
            found = self.readout.codes(loo_values(self.learner, signs=len(self.classes_) == 2))
            return float(np.mean(found != self.store.y))


def _codes(y: Any, classes: Any) -> Ids:
    """Return the numbers of the classes."""
    unknown = y[~np.isin(y, classes)]
    if len(unknown):
        raise ValueError(
            f"y must hold labels among the classes {classes}. Got {unknown[:1].tolist()[0]!r}; pass all classes "
            "that will ever come as 'classes' to the first call of partial_fit."
        )
    return np.searchsorted(classes, y)


@documented
class IncrementalSVC(FollowsC, IncrementalClassifier, SVC):
    r"""C-support vector classification that learns and unlearns: after each step the exact solution.

    ``partial_fit`` adds samples, ``forget`` takes them away, ``set_C`` changes C. The solution follows its exact path.
    It equals a fit to the samples that are then in the model, with the same kernel.

    Notes
    -----
    Memory grows as the free support vectors times all samples. A class whose samples have all gone stays in
    ``classes_``. Its programs then have one side, and always predict the other one.

    References
    ----------
    Cauwenberghs and Poggio, Incremental and decremental support vector machine learning, NIPS 13 (2001).

    Examples
    --------
    >>> from adatron import IncrementalSVC
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = IncrementalSVC().fit(X[:-1], y[:-1]).partial_fit(X[-1:], y[-1:])
    >>> model.forget([0, 1]).ids_.size
    148
    >>> bool(model.kkt_violation_.max() < 1e-9)
    True
    """

    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        class_weight: dict[Any, float] | None = None,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        bias: str = "explicit",
        augment: float = 1.0,
        multi_class: str = "ovo",
        window: int | None = None,
        n_jobs: int | None = None,
        max_time: float | None = None,
    ) -> None:
        self._keep(locals())


@documented
class IncrementalNuSVC(IncrementalClassifier, NuSVC):
    r"""Nu-support vector classification that learns and unlearns: after each step the exact solution.

    Parameters
    ----------
    nu : float, default=0.5
        In (0, 1]: at most this fraction of the weight is on the wrong side of the margin, and at least this fraction
        belongs to support vectors. A step after which nu would be infeasible is an error, and changes nothing.

    References
    ----------
    Gu, Wang, Yu and Ho, Incremental learning for nu-support vector classification, Neural Networks 67 (2015): the sums
    change with the samples. Here the sums change along a straight line.

    Examples
    --------
    >>> from adatron import IncrementalNuSVC
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = IncrementalNuSVC(nu=0.1).fit(X[:-1], y[:-1]).partial_fit(X[-1:], y[-1:])
    >>> model.ids_.size
    150
    """

    def __init__(
        self,
        *,
        nu: float = 0.5,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        class_weight: dict[Any, float] | None = None,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        bias: str = "explicit",
        augment: float = 1.0,
        multi_class: str = "ovo",
        window: int | None = None,
        n_jobs: int | None = None,
        max_time: float | None = None,
    ) -> None:
        self._keep(locals())

    def problem(self, augment: float) -> Problem:
        return _Checked(self.nu, self.bias, augment, self.multi_class == "ovr")


class _Checked(NuClassification):
    """The problem of nu, which checks the samples that are left after each step."""

    def dual(self, y: Vector, weight: Vector, diagonal: Diagonal) -> Dual:
        one, other = float(weight[y < 0].sum()), float(weight[y > 0].sum())
        if not feasible_nu(self.nu, one, other):
            raise ValueError(infeasible(self.nu, f"classes of weight {one:g} and {other:g}"))
        return super().dual(y, weight, diagonal)
