"""Helpers of the papers' pages: fits that may stop early, all coefficients, processor time, a dense program."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from time import process_time
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import LinearConstraint, minimize
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from adatron.arrays import Vector

OBJECTIVE_ROUNDING = 1e-10  # Part of an objective whose gradient is carried on over thousands of steps.
IDENTITY_ERROR = 1e-6  # Largest relative error of an identity, beside the tolerance of the fits.
DENSE_CHANGE = 1e-12  # Change of the objective at which the dense program stops.


def quietly(model: Any, X: Any, y: Any = None) -> Any:
    """Fit a model; a limit of iterations gives no warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, y)


def coefficients_of(model: Any, n: int) -> Vector:
    """Return the coefficients of all n samples of a binary model, with their zeros."""
    beta = np.zeros(n)
    beta[model.support_] = np.ravel(model.dual_coef_)
    return beta


def timed(run: Callable[..., Any], *given: Any, **named: Any) -> tuple[Any, float]:
    """Return what a call returns, and the processor time in seconds that it took."""
    start = process_time()
    return run(*given, **named), process_time() - start


def standard_error(values: Any) -> float:
    """Return the standard error of a mean."""
    return float(np.std(values, ddof=1) / np.sqrt(len(values)))


def mean_and_error(values: Any) -> tuple[float, float]:
    """Return a mean and its standard error."""
    return float(np.mean(values)), standard_error(values)


class PaperFit(NamedTuple):
    """A solution by a method for any program: multipliers, iterations and processor time."""

    alpha: Vector
    objective: float
    iterations: int
    seconds: float


def dense_program(K: Vector, y: Vector, C: float, interior: bool = False) -> PaperFit:
    """Maximise sum(alpha) - 1/2 alpha' Q alpha with sum(alpha y) = 0 by SciPy, as conventional machines do.

    interior : trust-constr, an interior point method; otherwise SLSQP, which works with active sets
    """
    n, Q = len(y), K * np.outer(y, y)
    start = np.full(n, 0.5 * min(C, 1.0)) if interior else np.zeros(n)
    how: dict[str, Any] = {"method": "trust-constr", "hess": lambda _: Q, "options": {"gtol": 1e-6, "maxiter": 1000}}
    if not interior:
        how = {"method": "SLSQP", "options": {"ftol": DENSE_CHANGE, "maxiter": 1000}}
    with threadpool_limits(1):  # waiting threads count as processor time
        result, seconds = timed(
            minimize, lambda a: 0.5 * a @ Q @ a - a.sum(), start, jac=lambda a: Q @ a - 1.0, bounds=[(0.0, C)] * n,
            constraints=LinearConstraint(y[None], 0.0, 0.0), **how,
        )  # fmt: skip
    return PaperFit(result.x, -float(result.fun), int(result.nit), seconds)
