"""Incremental novelty detection."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from ...arrays import Vector
from ...docstrings import documented
from ...learning.leave_out import loo_values
from ...problems import Ball, Dual, Problem
from ...problems.problem import Diagonal
from ..base.novelty import Novelty
from ..oneclass import OneClassSVM
from ..svdd import SVDD
from .machine import Incremental


class IncrementalNovelty(Incremental, Novelty):
    """Base of the novelty detectors that learn and unlearn."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, ids: Any = None) -> Self:
        return super().fit(X, y, sample_weight, ids)

    def partial_fit(self, X: Any, y: Any = None, ids: Any = None, sample_weight: Any = None) -> Self:
        return super().partial_fit(X, y, ids, sample_weight)

    def _meaning(self, X: Any, y: Any, weight: Vector, classes: Any, first: bool) -> Any:
        marks = self.marks(X, y)
        return np.zeros(X.shape[0]) if marks is None else marks, weight, self.fixed_readout, {}

    def loo_decision(self) -> Vector:
        """Return each sample's decision value by the model of all others, (n_samples,), in the order of ``ids_``."""
        with self.lock:
            return loo_values(self.learner)[:, 0]

    def loo_error(self) -> float:
        """Return the exact fraction of samples that are on the wrong side by the model of all others."""
        with self.lock:  # no step may come between
            inside = self.loo_decision() >= 0.0
            return float(np.mean(inside == (self.store.y == -1.0)))


@documented
class IncrementalOneClassSVM(IncrementalNovelty, OneClassSVM):
    r"""Novelty detection that learns and unlearns: after each step the exact solution.

    References
    ----------
    Laskov, Gehl, Krueger and Mueller, Incremental support vector learning, JMLR 7 (2006) 1909-1936.

    Examples
    --------
    >>> from adatron import IncrementalOneClassSVM
    >>> model = IncrementalOneClassSVM(gamma=1.0, window=5).fit([[0], [0.44], [0.45], [0.46], [1]])
    >>> model.partial_fit([[0.43]]).ids_.tolist()
    [5, 1, 2, 3, 4]
    """

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        nu: float = 0.5,
        window: int | None = None,
        n_jobs: int | None = None,
        max_time: float | None = None,
    ) -> None:
        self._keep(locals())


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

    def problem(self, augment: float) -> Problem:
        return _Checked(self.nu, self.C)


class _Checked(Ball):
    """A ball that checks the samples that are left after each step."""

    def dual(self, y: Vector, weight: Vector, diagonal: Diagonal) -> Dual:
        self.check(y, weight, 1.0)
        return super().dual(y, weight, diagonal)
