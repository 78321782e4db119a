"""Incremental epsilon-support vector regression."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arrays import Vector
from ...docstrings import documented
from ...learning.leave_out import loo_values
from ..svr import SVR
from .machine import FollowsC


@documented
class IncrementalSVR(FollowsC, SVR):
    r"""Epsilon-support vector regression that learns and unlearns: after each step the exact solution.

    References
    ----------
    Ma, Theiler and Perkins, Accurate on-line support vector regression, Neural Computation 15 (2003) 2683-2703.

    Examples
    --------
    >>> from adatron import IncrementalSVR
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = IncrementalSVR(C=100, epsilon=10).fit(X[:400], y[:400]).partial_fit(X[400:], y[400:])
    >>> model.kkt_violation_ < 1e-6
    True
    """

    takes_targets = False

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        C: float = 1.0,
        epsilon: float = 0.1,
        bias: str = "explicit",
        augment: float = 1.0,
        window: int | None = None,
        n_jobs: int | None = None,
        max_time: float | None = None,
    ) -> None:
        self._keep(locals())

    def _meaning(self, X: Any, y: Any, weight: Vector, classes: Any, first: bool) -> Any:
        return y, weight, self.fixed_readout, {}

    def loo_prediction(self) -> Vector:
        """Return the prediction for each sample by the model of all others, (n_samples,), in the order of ``ids_``."""
        with self.lock:
            return loo_values(self.learner)[:, 0]

    def loo_error(self) -> float:
        """Return the exact leave-one-out error, the mean squared error of ``loo_prediction``."""
        with self.lock:  # no step may come between
            return float(np.mean((self.loo_prediction() - self.store.y) ** 2))
