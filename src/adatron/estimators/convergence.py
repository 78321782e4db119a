"""What a fit says that did not converge."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.sparsefuncs import mean_variance_axis

if TYPE_CHECKING:
    from .fits import Fits

DIFFERENT_SCALES = 1e3  # ratio of the features' standard deviations that deserves a word
EARLY = (
    "Solver terminated early (max_iter={}).  Consider pre-processing your data with StandardScaler or MinMaxScaler. "
)


def warn_unless_converged(fitted: Fits, X: Any, max_iter: int, what: str = "problems") -> None:
    """One line that says what was reached, the likely cause, and the cure; called by ``fit`` itself.

    X are the features, None where it holds kernel values.
    It starts as scikit-learn's if the user's ``max_iter`` was reached: programs look for these words. What a kernel
    is to blame for has no numbers in it: Python shows equal warnings once, where nothing resets its filters.
    """
    from ..solvers.base import NO_KERNEL, OTHER_KERNEL, Status

    found = fitted.found
    open_ones = np.flatnonzero(~found.good)
    if not len(open_ones):
        return
    worst = fitted[int(open_ones[np.argmax(found.violation[open_ones])])]
    gaps = found.relative_gaps[open_ones][found.convex[open_ones]]
    where, gap = f"in {len(open_ones)} of {len(fitted)} {what}", gaps.max() if len(gaps) else np.nan
    assert worst.status is not None  # noqa: S101 (for the type checker)
    if worst.status is Status.NOT_CONVEX:
        text = f"Not certified: {worst.status.value}."
    else:
        early = "" if max_iter == -1 or worst.status is not Status.MAX_ITER else EARLY.format(max_iter)
        cause = _scales(X) if worst.status in (Status.MAX_ITER, Status.STUCK) else ""
        if not worst.certificate.convex and worst.status in (Status.MAX_ITER, Status.MAX_TIME) and not early:
            cause = f" Perhaps because {NO_KERNEL}: {OTHER_KERNEL}."
        text = (
            f"{early}Not converged {where}: KKT violation {worst.certificate.kkt_violation:.2e}, relative duality gap "
            f"{gap:.2e}; {worst.status.value}.{cause}"
        )
    warnings.warn(text, ConvergenceWarning, stacklevel=4)


def _scales(X: Any) -> str:
    """The usual cause, where the features show it."""
    if X is None:
        return ""
    of_sparse: Any = mean_variance_axis
    spread = np.sqrt(of_sparse(X, axis=0)[1]) if sparse.issparse(X) else X.std(axis=0, dtype=np.float64)
    spread = spread[spread > 0]
    if not len(spread) or spread.max() < DIFFERENT_SCALES * spread.min():
        return ""
    return (
        f" The features' standard deviations range from {spread.min():.1e} to {spread.max():.1e}, the usual cause: "
        f"scale them ({'MaxAbsScaler' if sparse.issparse(X) else 'StandardScaler'})."
    )
