"""The numbers of a certificate from the sums that define them."""

import numpy as np
import pytest

from adatron.certificates import best_multipliers, duality_gap, kkt_violation
from adatron.compiled.precision import UNIT
from twins import programs

CARE = 1.0 + 1e-6  # More than the rounding of the bounds themselves.
NEAR = {"rel": 1e-10, "abs": 1e-300}


def by_definition(dual, beta, g, errors, magnitude, further=0.0, unknown=0.0, judged=0.0):
    """The numbers of a certificate; errors of unknown rows put beta'g off by ``unknown``, the level by ``judged``."""
    A, n, mu, own = programs.matrix(dual), len(dual), best_multipliers(dual, beta, g), np.abs(beta).sum()
    push = np.abs(A.T @ np.where(np.isinf(mu), 0.0, mu)) if dual.totals else np.zeros(n)
    e = errors + 4 * UNIT * (np.abs(g) + np.abs(dual.t) + push + dual.epsilon)
    width = np.maximum(-dual.lower, dual.upper)
    off = 0.5 * np.abs(beta) @ e
    off += (n + 4) * UNIT * (np.abs(beta) @ (np.abs(g) + np.abs(dual.t)) + dual.epsilon * own)
    misses = np.abs(A @ beta - dual.totals) if dual.totals else np.zeros(0)
    lacks = misses + (n + 4) * UNIT * (own + np.abs(dual.totals))
    steepest = [(np.abs(g) + e + dual.epsilon)[a != 0].max() for a in A]
    moved = off + CARE * (lacks @ steepest + further * lacks.sum())
    rounded = (beta != 0) & np.isfinite(width)
    missed = 4 * UNIT * width[rounded] @ (np.abs(g) + push)[rounded] + np.abs(mu) @ lacks
    worst = kkt_violation(dual, beta, g, e)
    known = kkt_violation(dual, beta, g)
    doubt = off + CARE * (lacks @ steepest)
    level = 0.5 * beta @ (dual.t - g) - dual.epsilon * own
    return {
        "dual": level,
        "gap": duality_gap(dual, beta, g, mu, e) + missed,
        "kkt_violation": worst,
        "resolution": worst - known if known > 0.0 else None,
        "doubt": max(doubt, moved + 0.5 * unknown, 0.125 * abs(level) if n > 1000 else 0.0),
        "slip": moved + judged + 0.5 * CARE * (further * own + magnitude * lacks.sum() ** 2),
    }


def compare(found, expected):
    """Compare a certificate with the numbers of ``by_definition``."""
    for name, value in expected.items():
        if value is not None:
            assert getattr(found, name) == pytest.approx(value, **NEAR), name
