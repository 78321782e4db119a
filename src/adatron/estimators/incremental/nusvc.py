"""Incremental nu-support vector classification."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

from ...arrays import Vector
from ...fitting.formulation import Formulation
from ...problems import Dual, feasible_nu
from ..nusvc import NuSVC, infeasible
from .classifier import IncrementalClassifier
from .machine import Incremental


class IncrementalNuSVC(IncrementalClassifier, NuSVC):
    r"""Nu-support vector classification that learns and unlearns: after each step the exact solution.

    Parameters
    ----------
    nu : float, default=0.5
        As in :class:`adatron.NuSVC`. A step after which nu would be infeasible is an error, and changes nothing.
    kernel : str, adatron.kernels.Kernel or callable, default='rbf'
        As in :class:`IncrementalSVC`.
    degree : int, default=3
        As in :class:`IncrementalSVC`.
    gamma : {'scale', 'auto'} or float, default='scale'
        As in :class:`IncrementalSVC`.
    coef0 : float, default=0.0
        As in :class:`IncrementalSVC`.
    class_weight : dict, default=None
        As in :class:`IncrementalSVC`.
    decision_function_shape : {'ovr', 'ovo'}, default='ovr'
        As in :class:`IncrementalSVC`.
    break_ties : bool, default=False
        As in :class:`IncrementalSVC`.
    bias : {'explicit', 'augmented', 'none'}, default='explicit'
        As in :class:`IncrementalSVC`.
    augment : float, default=1.0
        As in :class:`IncrementalSVC`.
    multi_class : {'ovo', 'ovr'}, default='ovo'
        As in :class:`IncrementalSVC`.
    window : int, default=None
        As in :class:`IncrementalSVC`.
    n_jobs : int, default=None
        As in :class:`IncrementalSVC`.
    max_time : float, default=None
        As in :class:`IncrementalSVC`.

    Attributes
    ----------
    classes_, class_weight_, dual_coef_, intercept_, support_, support_vectors_, n_support_, coef_, shape_fit_ :
        As in :class:`adatron.NuSVC`; ``support_`` numbers the samples in the order of ``ids_``.
    ids_, n_iter_, n_refactor_, n_refit_, certificate_, compact_, files_, fit_status_, kernel_, model_, objects_ :
        As in :class:`IncrementalSVC`.
    route_, stream_, trace_ :
        As in :class:`IncrementalSVC`.
    duality_gap_, kkt_violation_, dual_objective_, primal_objective_ : float, or ndarray of one for each binary problem
        Of the program with nu, before division by the margin, by the gradient that the path follows;
        ``deletion_report`` has the bounds.

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

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **NuSVC._parameter_constraints,
        **Incremental._parameter_constraints,
    }

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

    def formulation(self, augment: float) -> Formulation:
        form, nu = super().formulation(augment), self.nu

        def program(y: Vector, weight: Vector) -> Dual:
            one, other = float(weight[y < 0].sum()), float(weight[y > 0].sum())
            if not feasible_nu(nu, one, other):
                raise ValueError(infeasible(nu, f"classes of weight {one:g} and {other:g}"))
            return form.program(y, weight)

        return replace(form, program=program)
