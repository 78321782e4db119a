"""Radii within which f provably keeps its sign.

|f(x) - f(x')| <= ‖w‖ ‖φ(x) - φ(x')‖, and each kernel bounds ‖φ(x) - φ(x')‖ for ‖x - x'‖ <= r (``Kernel.apart``). For
rbf the radius is √(-ln(1 - f²/(2‖w‖²))/γ). If the slope of k(z_j, ·) is bounded (``Kernel.steepness``), another bound
is |f(x) - f(x')| <= r Σ|β_j| steepness_j, with the radius |f| / (√(2γ/e) Σ|β_j|) for rbf. The larger radius counts; a
metric G multiplies it by √λ_min(G).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..compiled.precision import UNIT
from ..threads import Pool
from .field import Field, Vector
from .metric import Metric

RADIUS_HALVINGS = 60  # Halvings of an interval: more than the digits of a float64.


def certified(field: Field, metric: Metric, X: Vector, f: Vector, pool: Pool) -> Vector:
    """Return lower bounds of the distances of X's rows from f = 0, (n,); 0 if nothing is known, inf if f has no zero.

    ``f`` are the decision values; the possible error of float64 is subtracted from their sizes.
    """
    if not len(field.a):
        return np.full(len(X), np.inf if field.f0 else 0.0)
    norms = np.linalg.norm(X, axis=1)
    own = np.linalg.norm(field.points, axis=1)
    height = np.maximum(np.abs(f) - _rounding(field, norms, own), 0.0)
    radius = _by_norm(field, norms, height, pool)
    if field.b is None:
        slope = float(np.abs(field.a) @ field.kernel.steepness(own))
        if np.isfinite(slope):
            radius = np.maximum(radius, height / slope if slope else np.inf)
    with np.errstate(invalid="ignore"):
        return np.where(np.isinf(radius), np.inf, metric.shrinkage() * radius * (1.0 - 1e-12))


def variation(field: Field, X: Vector, radius: float, pool: Pool) -> float:
    """Return a bound of |f(x) - f(x')| for the rows x of X and all x' with ‖x - x'‖ <= radius; inf if unknown."""
    if not len(field.a):
        return 0.0
    norms, own = np.linalg.norm(X, axis=1), np.linalg.norm(field.points, axis=1)
    bounds = [np.inf]
    if field.kernel.convex and np.isfinite(norm := _norm(field, pool)):
        bounds.append(norm * float(field.kernel.apart(norms, np.full(len(X), radius)).max(initial=0.0)))
    if field.b is None:
        bounds.append(radius * float(np.abs(field.a) @ field.kernel.steepness(own)))
    return (1.0 + 1e-12) * min(bounds) + 2.0 * _rounding(field, norms + radius, own)


def _norm(field: Field, pool: Pool) -> float:
    """Return a bound of ‖w‖: with it a bound of the rounding of ‖w‖², whose terms are Σ|a_j| ‖φ(z_j)‖ squared at most.

    A term b_j'∇φ(z_j) is at most ‖b_j‖ times the stretch of φ.
    """
    (m, d), total = field.points.shape, float(np.abs(field.a).sum())
    largest = float(np.linalg.norm(field.points, axis=1).max())
    size = total * np.sqrt(field.kernel.magnitude(largest * largest))
    if field.b is not None:
        size += float(np.linalg.norm(field.b, axis=1).sum()) * _stretch(field, largest)
    off = 8.0 * (m + d) * UNIT * size**2 + total**2 * field.kernel.error_bound(largest * largest, d, UNIT)
    beside = replace(field, f0=0.0)  # of sums far below f0 nothing would be left beside it
    return float(np.sqrt(max(beside.squared_norm(pool), 0.0) + off))


def _stretch(field: Field, largest: float) -> float:
    """Return a bound of the factor by which φ stretches lengths within a distance from the origin."""
    step = 1e-6 * (1.0 + largest)
    return float(field.kernel.apart(np.array([largest]), np.array([step]))[0]) / step


def _by_norm(field: Field, norms: Vector, height: Vector, pool: Pool) -> Vector:
    """Return the largest r with ‖w‖ apart(‖x‖, r) <= |f|, by bisection from below."""
    norm = _norm(field, pool)
    if not field.kernel.convex or not np.isfinite(norm):
        return np.zeros(len(norms))
    low, high = np.zeros(len(norms)), np.full(len(norms), 1e-6)
    with np.errstate(over="ignore", invalid="ignore"):
        for _ in range(100):
            short = norm * field.kernel.apart(norms, high) <= height
            low, high = np.where(short, high, low), np.where(short, 2.0 * high, high)
        for _ in range(RADIUS_HALVINGS):
            middle = 0.5 * (low + high)
            short = norm * field.kernel.apart(norms, middle) <= height
            low, high = np.where(short, middle, low), np.where(short, high, middle)
    return np.where(low > 1e20, np.inf, low)  # apart is bounded, so no point is on the other side


def _rounding(field: Field, norms: Vector, own: Vector) -> float:
    """Return a bound of a decision value's error in float64, from the kernel values and a sum of m (1 + 2 d) terms."""
    d, m = field.points.shape
    largest = float(max(norms.max(initial=0.0), own.max()))
    kernel, total = field.kernel, float(np.abs(field.a).sum())
    terms = total * kernel.magnitude(largest * largest) + abs(field.f0)
    if field.b is not None:
        stretch = _stretch(field, largest)
        terms += (1.0 + largest) * float(np.linalg.norm(field.b, axis=1).sum()) * 2.0 * stretch * (1.0 + stretch)
    return total * kernel.error_bound(largest * largest, d, UNIT) + 4.0 * (m + d + 8) * UNIT * terms
