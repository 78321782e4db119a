"""Incremental support vector data description."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

from ...arrays import Vector
from ...docstrings import documented
from ...fitting.formulation import Formulation
from ...problems import Dual
from ..svdd import SVDD, check_feasible
from .novelty import IncrementalNovelty


@documented
class IncrementalSVDD(IncrementalNovelty, SVDD):
    r"""The ball around most samples that learns and unlearns: after each step the exact solution.

    Parameters
    ----------
    C : float, default=None
        Bound of a coefficient for a sample of weight 1, in place of nu: at least 1 / W. Samples cannot leave if C is
        too small for those that are left.

    References
    ----------
    Laskov, Gehl, Krueger and Mueller, Incremental support vector learning, JMLR 7 (2006) 1909-1936.
    Tax and Duin, Support vector data description, Machine Learning 54 (2004) 45-66.

    Examples
    --------
    >>> from adatron import IncrementalSVDD
    >>> model = IncrementalSVDD(kernel="linear", C=float("inf")).fit([[0.0], [1.0], [4.0]])
    >>> model.radius_, model.forget(2).radius_
    (2.0, 0.5)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SVDD._parameter_constraints,
        **IncrementalNovelty._parameter_constraints,
    }

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        nu: float = 0.5,
        C: float | None = None,
        window: int | None = None,
        n_jobs: int | None = None,
        max_time: float | None = None,
    ) -> None:
        self._keep(locals())

    def formulation(self, augment: float) -> Formulation:
        form, C = super().formulation(augment), self.C

        def program(y: Vector, weight: Vector, diagonal: Vector) -> Dual:
            check_feasible(C, y, weight)
            return form.program(y, weight, diagonal)

        return replace(form, program=program)
