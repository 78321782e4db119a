"""Incremental nu-support vector classification."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

from ...arrays import Vector
from ...docstrings import documented
from ...fitting.formulation import Formulation
from ...problems import Dual, feasible_nu
from ..nusvc import NuSVC, infeasible
from .classifier import IncrementalClassifier
from .machine import Incremental


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
