"""How fits end."""

from __future__ import annotations

from enum import Enum

STOP, BENT = 0, 1  # entries of the flags that solvers share with compiled loops: end; negative curvature was met
NO_KERNEL = "the kernel is not positive semi-definite on these data"
OTHER_KERNEL = "use another kernel or other kernel parameters"


class Status(Enum):
    """How a fit ended; the text says what usually causes it and what to try."""

    CONVERGED = "converged"
    WITHIN_TOL = "the violation is within tol, but rounding or a limit kept the duality gap above gap_tol"
    RULE = "the solver's own stopping rule was met"
    MAX_ITER = "the limit of updates (max_iter) was reached; raise max_iter, or lower C"
    MAX_TIME = "the time limit (max_time) was reached; raise it, lower C, or use a larger tol"
    STOPPED = "the callback asked to stop"
    STUCK = "no step makes progress in double precision; lower C, or use a larger tol or gap_tol"
    DIVERGED = (
        "the dual grows without bound: with C=inf, no decision function of this kernel fits all samples; use a finite "
        "C, or scale the features"
    )
    OVERFLOW = (
        "kernel values or coefficients are too large for double precision, so nothing is proven; scale the features, "
        "or lower C or the parameters of the kernel"
    )
    NOT_CONVEX = f"{NO_KERNEL}: the point found is stationary, but the duality gap bounds nothing; {OTHER_KERNEL}"

    @property
    def good(self) -> bool:
        """Whether the fit ended as it was asked to."""
        return self in (Status.CONVERGED, Status.WITHIN_TOL, Status.RULE)
