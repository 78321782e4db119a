"""A toy machine, as CONTRIBUTING says: one file, one line of what a model file may hold, and a public name."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

from sklearn.utils._param_validation import Interval

from ..problems import Problem
from ..problems.asymmetric import Asymmetric
from .base.regressor import Regressor


class AsymmetricSVR(Regressor):
    """Regression whose errors above the function cost more than those below it."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Regressor._parameter_constraints,
        "above": [Interval(Real, 0.0, None, closed="neither")],
    }

    def __init__(
        self,
        *,
        above: float = 1.0,
        C: float = 1.0,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        cache_size: float = 1000,
        verbose: bool = False,
        max_iter: int = -1,
        solver: Any = "auto",
        n_jobs: int | None = None,
        precision: str = "auto",
        gap_tol: float | None = None,
        max_time: float | None = None,
        callback: Any = None,
        device: Any = None,
    ) -> None:
        self._keep(locals())

    def problem(self, augment: float) -> Problem:
        return Asymmetric(self.C, self.above)
