"""Warnings of fits that did not converge."""

from __future__ import annotations

import inspect
import warnings
from typing import TYPE_CHECKING, Any

from sklearn.exceptions import ConvergenceWarning

if TYPE_CHECKING:
    from ...fitting.fits import Fits

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


def warn_unless_converged(fitted: Fits, X: Any, max_iter: int, doubt: str = "", **about: Any) -> None:
    """Warn of a doubt, which comes first, and of problems that did not converge; see ``unconverged``."""
    from ...fitting.convergence import unconverged

    for text in filter(None, (doubt, unconverged(fitted, X, max_iter, **about))):
        warn(text)
