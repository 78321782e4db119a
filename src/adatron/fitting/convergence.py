"""What is said of fits that did not converge."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import is_sparse
from ..gram.elsewhere import Elsewhere, Moments
from ..kernels.base import narrow, used_columns
from ..quoted import upward
from ..solvers.results import NO_KERNEL, OTHER_KERNEL, Status
from .fits import Fits

UNBOUNDED = ("linear", "poly")  # kernels whose values grow with the features
DIFFERENT_SCALES = 1e3  # ratio of the features' standard deviations that deserves a word
ASYMMETRIC = (
    " the matrix is not symmetric, by up to {:.1e}, and the violation allows for either half of it; (K + K.T) / 2 is "
    "symmetric."
)
EARLY = "Solver terminated early (max_iter={}). "
SYMMETRIC = ", and (K + K.T) / 2 of the given matrix"


def unconverged(
    fitted: Fits, X: Any, max_iter: int, what: str = "problems", values: bool = False, kernel: str = ""
) -> str:
    """Return in one line what was reached, the likely cause, and the cure; nothing if all problems converged.

    X are the features, or kernel values if ``values`` says so; None if neither is known.
    ``kernel`` is its name: values of some kernels grow with the features. A cause that the data show has its own cure.
    The line starts as scikit-learn's if the user's ``max_iter`` was reached: programs look for these words. What a
    kernel is to blame for has no numbers in it: Python shows equal warnings once, where nothing resets its filters.
    """
    found = fitted.found
    if found.good.all():
        return ""
    open_ones = np.flatnonzero(~found.good)
    worst = fitted[int(open_ones[np.argmax(found.violation[open_ones])])]
    gaps = found.relative_gaps[open_ones][found.convex[open_ones]]
    where = f" in {len(open_ones)} of {len(fitted)} {what}" if len(fitted) > 1 else ""
    gap = gaps.max() if len(gaps) else np.nan
    assert worst.status is not None  # noqa: S101 (for the type checker)
    if worst.status is Status.NOT_CONVEX:
        return f"Not certified: {worst.status.value}{SYMMETRIC * values}."
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
    return (
        f"{early}Not converged{where}: KKT violation {upward(worst.certificate.kkt_violation, 3)}, relative "
        f"duality gap {upward(gap, 3)}; {reason}{cause}"
    )


def _cause(X: Any, values: bool, kernel: str, resolution: float) -> str:
    """Return the usual cause if the data show it.

    resolution : what rounding adds to the violation at most; 0 if the mean of the rows has been subtracted already
    """
    if values:
        from ..compiled.submatrix import asymmetry

        off = asymmetry(X, 0, len(X)) if X.shape[0] == X.shape[1] else 0.0
        return ASYMMETRIC.format(off) if off else ""
    with np.errstate(over="ignore", invalid="ignore"):
        used, means, spread = _moments(X)
        return (_offset(means, spread, resolution, used) if resolution else "") or _scales(X, spread, kernel)


def _moments(X: Any) -> Moments:
    if isinstance(X, Elsewhere):
        return X.moments()
    used = used_columns(X)
    if not is_sparse(X):
        return Moments(used, X.mean(axis=0, dtype=np.float64), X.std(axis=0, dtype=np.float64))
    rows = narrow(X, used)
    (n, d), values = rows.shape, rows.data.astype(np.float64)
    means = np.bincount(rows.indices, values, d) / n
    squares = np.bincount(rows.indices, np.square(values - means[rows.indices]), d)
    zeros = n - np.bincount(rows.indices, minlength=d)
    return Moments(used, means, np.sqrt((squares + zeros * np.square(means)) / n))


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
