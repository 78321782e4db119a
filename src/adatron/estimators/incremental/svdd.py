"""Incremental support vector data description."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

from ...arrays import Vector
from ...fitting.formulation import Formulation
from ...problems import Dual
from ..svdd import SVDD, check_feasible
from .novelty import IncrementalNovelty


class IncrementalSVDD(IncrementalNovelty, SVDD):
    r"""The ball around most samples that learns and unlearns: after each step the exact solution.

    Parameters
    ----------
    kernel : str, adatron.kernels.Kernel or callable, default='rbf'
        As in :class:`IncrementalSVC`.
    degree : int, default=3
        As in :class:`IncrementalSVC`.
    gamma : {'scale', 'auto'} or float, default='scale'
        As in :class:`IncrementalSVC`.
    coef0 : float, default=0.0
        As in :class:`IncrementalSVC`.
    nu : float, default=0.5
        As in :class:`adatron.SVDD`.
    C : float, default=None
        As in :class:`adatron.SVDD`. Samples cannot leave if C is too small for those that are left.
    window : int, default=None
        As in :class:`IncrementalSVC`.
    n_jobs : int, default=None
        As in :class:`IncrementalSVC`.
    max_time : float, default=None
        As in :class:`IncrementalSVC`.

    Attributes
    ----------
    radius_, center_norm_, dual_coef_, intercept_, offset_, support_, support_vectors_, n_support_, coef_, shape_fit_ :
        As in :class:`adatron.SVDD`; ``support_`` numbers the samples in the order of ``ids_``.
    ids_, n_iter_, n_refactor_, n_refit_, certificate_, compact_, files_, fit_status_, kernel_, model_, objects_ :
        As in :class:`IncrementalSVC`.
    route_, stream_, trace_ :
        As in :class:`IncrementalSVC`.
    duality_gap_, kkt_violation_, dual_objective_, primal_objective_ : float
        By the gradient that the path follows, after every call; ``deletion_report`` has the bounds.

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
