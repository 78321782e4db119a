"""A toy problem, as CONTRIBUTING says: one file."""

from __future__ import annotations

from .dual import Dual, Vector


def quantile(y: Vector, C: Vector, tau: float) -> Dual:
    """Return the program of quantile regression: t = y, (tau - 1) C_i <= beta_i <= tau C_i, sum(beta) = 0."""
    return Dual(y, (tau - 1.0) * C, tau * C, totals=(0.0,))
