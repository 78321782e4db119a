"""What a fit says that did not converge."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

if TYPE_CHECKING:
    from .engine import Fitted

DIFFERENT_SCALES = 1e3  # ratio of the features' standard deviations that deserves a word
EARLY = (
    "Solver terminated early (max_iter={}).  Consider pre-processing your data with StandardScaler or MinMaxScaler. "
)


def warn_unless_converged(fitted: list[Fitted], X: Any, max_iter: int, what: str = "problems") -> None:
    """One line that says what was reached, the likely cause, and the cure; called by ``fit`` itself.

    X are the features, None where it holds kernel values.
    It starts as scikit-learn's if the user's ``max_iter`` was reached: programs look for these words.
    """
    from ..solvers.base import Status

    open_ones = [f.solution for f in fitted if f.solution is not None and not f.solution.status.good]
    if not open_ones:
        return
    worst = max(open_ones, key=lambda s: s.certificate.kkt_violation)
    certificate = worst.certificate
    found = "Not certified" if worst.status is Status.NOT_CONVEX else "Not converged"
    early = "" if max_iter == -1 or worst.status is not Status.MAX_ITER else EARLY.format(max_iter)
    warnings.warn(
        f"{early}{found} in {len(open_ones)} of {len(fitted)} {what}: "
        f"KKT violation {certificate.kkt_violation:.2e}, relative duality gap {certificate.relative_gap:.2e}; "
        f"{worst.status.value}.{_scales(X)}",
        ConvergenceWarning,
        stacklevel=4,
    )


def _scales(X: Any) -> str:
    if X is None or sparse.issparse(X):
        return ""
    spread = X.std(axis=0, dtype=np.float64)
    spread = spread[spread > 0]
    if not len(spread) or spread.max() < DIFFERENT_SCALES * spread.min():
        return ""
    return f" Here the features' standard deviations range from {spread.min():.1e} to {spread.max():.1e}."
