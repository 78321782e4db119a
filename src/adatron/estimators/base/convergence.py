"""Warnings of fits that did not converge."""

from __future__ import annotations

import inspect
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.sparsefuncs import mean_variance_axis

from ...arrays import is_sparse
from ...quoted import upward

if TYPE_CHECKING:
    from ...fitting.fits import Fits
    from ...gram.elsewhere import Moments
    from ...threads import Clock

UNBOUNDED = ("linear", "poly")  # kernels whose values grow with the features
DIFFERENT_SCALES = 1e3  # ratio of the features' standard deviations that deserves a word
ASYMMETRIC = (
    " the matrix is not symmetric, by up to {:.1e}, and the violation allows for either half of it; (K + K.T) / 2 is "
    "symmetric."
)
EARLY = "Solver terminated early (max_iter={}). "
SYMMETRIC = ", and (K + K.T) / 2 of the given matrix"


INSIDE = (
    "contextlib",  # a step is certified at the end of a block
    "adatron.estimators.",
    "adatron.fitting.",
    "adatron.learning.",
    "adatron.dask.",
    "sklearn.base",
)  # modules whose lines are between the user's line and a warning


def warn(text: str, kind: type[Warning] = ConvergenceWarning) -> None:
    """Warn, by default that a fit did not converge; the warning names the line that called the estimator."""
    frame, level = inspect.currentframe(), 1
    while frame is not None and frame.f_globals.get("__name__", "").startswith(INSIDE):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, kind, stacklevel=level)


def warn_unless_converged(
    fitted: Fits, X: Any, max_iter: int, what: str = "problems", values: bool = False, kernel: str = "", doubt: str = ""
) -> None:
    """Say in one line what was reached, the likely cause, and the cure.

    X are the features, or kernel values if ``values`` says so; None if neither is known.
    ``kernel`` is its name: values of some kernels grow with the features. A cause that the data show has its own cure.
    ``doubt`` is another warning, which comes first. The line starts as scikit-learn's if the user's ``max_iter`` was
    reached: programs look for these words. What a kernel is to blame for has no numbers in it: Python shows equal
    warnings once, where nothing resets its filters.
    """
    if doubt:
        warn(doubt)
    found = fitted.found
    if found.good.all():
        return
    from ...solvers.results import NO_KERNEL, OTHER_KERNEL, Status

    open_ones = np.flatnonzero(~found.good)
    worst = fitted[int(open_ones[np.argmax(found.violation[open_ones])])]
    gaps = found.relative_gaps[open_ones][found.convex[open_ones]]
    where = f" in {len(open_ones)} of {len(fitted)} {what}" if len(fitted) > 1 else ""
    gap = gaps.max() if len(gaps) else np.nan
    assert worst.status is not None  # noqa: S101 (for the type checker)
    if worst.status is Status.NOT_CONVEX:
        text = f"Not certified: {worst.status.value}{SYMMETRIC * values}."
    else:
        early = "" if max_iter == -1 or worst.status is not Status.MAX_ITER else EARLY.format(max_iter)
        resolution = 0.0 if fitted.centred else worst.certificate.resolution
        slow = worst.status in (Status.MAX_ITER, Status.MAX_TIME, Status.STUCK, Status.OVERFLOW)
        cause = _cause(X, values, kernel, resolution) if slow and X is not None else ""
        reason = worst.status.value + "."
        if worst.status is Status.STUCK and np.isfinite(worst.certificate.gap) and np.isinf(gap):
            cause = cause or " The optimum may be 0, which has no relative gap: gap_tol=None asks for tol alone."
        if not worst.certificate.convex and worst.status in (Status.MAX_ITER, Status.MAX_TIME) and not early:
            cause = f" Perhaps because {NO_KERNEL}: {OTHER_KERNEL}{SYMMETRIC * values}."
        elif values and cause:  # of given values the cause says all
            reason, cause = cause.strip(), ""
        elif cause and worst.status is Status.STUCK:  # C and tol are not to blame
            reason = worst.status.value.partition(";")[0] + "."
        elif early:  # which has said what was reached
            reason = reason.partition("; ")[2]
        text = (
            f"{early}Not converged{where}: KKT violation {upward(worst.certificate.kkt_violation, 3)}, relative "
            f"duality gap {upward(gap, 3)}; {reason}{cause}"
        )
    warn(text)


def warn_unless_calibrated(clock: Clock, slope: float | None) -> None:
    """Say that there was no time for probabilities."""
    if slope == 0.0 and clock.late:
        text = (
            "Not calibrated: the time limit (max_time) was reached before the folds of probability=True were solved, "
            "so the probabilities cannot tell the classes apart; raise max_time."
        )
        warn(text)


def warn_of_cut_steps(cut: bool) -> None:
    """Say that there was no time for all steps."""
    if cut:
        text = "The time limit (max_time) was reached before all steps were taken; a larger one may widen the margin."
        warn(text)


def _cause(X: Any, values: bool, kernel: str, resolution: float) -> str:
    """Return the usual cause if the data show it.

    resolution : what rounding adds to the violation at most; 0 if the mean of the rows has been subtracted already
    """
    if values:
        from ...compiled.submatrix import asymmetry

        off = asymmetry(X, 0, len(X)) if X.shape[0] == X.shape[1] else 0.0
        return ASYMMETRIC.format(off) if off else ""
    with np.errstate(over="ignore", invalid="ignore"):
        used, means, spread = _moments(X)
        return (_offset(means, spread, resolution, used) if resolution else "") or _scales(X, spread, kernel)


def _moments(X: Any) -> Moments:
    from ...gram.elsewhere import Elsewhere, Moments
    from ...kernels.base import narrow, used_columns

    if isinstance(X, Elsewhere):
        return X.moments()
    of_sparse: Any = mean_variance_axis
    used = used_columns(X)
    if is_sparse(X):
        means, variances = of_sparse(narrow(X, used), axis=0)
        return Moments(used, means, np.sqrt(variances))
    return Moments(used, X.mean(axis=0, dtype=np.float64), X.std(axis=0, dtype=np.float64))


def _offset(means: Any, spread: Any, resolution: float, used: Any) -> str:
    """Name the feature whose values are far from 0 compared with their spread, if rounding matters.

    used : numbers of the features; None if they count from 0
    """
    far = np.where(spread > 0, np.abs(means) / np.where(spread > 0, spread, 1.0), 0.0)
    j = int(np.argmax(far))
    if not far[j] > DIFFERENT_SCALES:
        return ""
    number = j if used is None else used[j]
    return (
        f" Rounding of the kernel values may amount to {resolution:.1e}: the values of feature {number} lie around "
        f"{means[j]:.3g} and differ by only {spread[j]:.1e}; subtract their mean."
    )


def _scales(X: Any, spread: Any, kernel: str) -> str:
    """Name features of very different scales, or a large one if the kernel's values grow with it; not a lone one."""
    spread = spread[spread > 0] if len(spread) > 1 else spread[:0]
    smallest, largest = spread.min(initial=np.inf), spread.max(initial=0.0)
    if largest < DIFFERENT_SCALES * (min(smallest, 1.0) if kernel in UNBOUNDED else smallest):
        return ""
    return (
        f" The features' standard deviations range from {smallest:.1e} to {largest:.1e}, the usual cause: "
        f"scale them ({'MaxAbsScaler' if is_sparse(X) or getattr(X, 'is_sparse', False) else 'StandardScaler'})."
    )
