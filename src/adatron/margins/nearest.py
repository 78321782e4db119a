"""The nearest point of f = 0 for many rows: starts, projections, and radii within which f provably keeps its sign.

|f(x) - f(x')| <= ‖w‖ ‖φ(x) - φ(x')‖, and each kernel bounds ‖φ(x) - φ(x')‖ for ‖x - x'‖ <= r (``Kernel.apart``). For
rbf the radius is √(-ln(1 - f²/(2‖w‖²))/γ). If the slope of k(z_j, ·) is bounded (``Kernel.steepness``), another bound
is |f(x) - f(x')| <= r Σ|β_j| steepness_j, with the radius |f| / (√(2γ/e) Σ|β_j|) for rbf. The larger radius counts; a
metric G multiplies it by √λ_min(G).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..compiled.precision import UNIT
from ..threads import Pool
from .crossings import OTHER_POINTS, PLANE_DIRECTIONS, first_crossings, islets
from .field import Field, Vector
from .metric import Metric
from .projection import plain, project

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


STARTS = 8  # Crossings of the surface for each row, the nearest first, from which the nearest point is looked for.
RAY_NUMBERS = 2**22  # Numbers in the rays that are made at a time.


@dataclass(frozen=True)
class InputMargins:
    """The result of ``input_margin``, one entry or row for each sample.

    Attributes
    ----------
    distance : ndarray of shape (n_samples,)
        Distance to ``projection``, in the metric: an upper bound of the distance at which the prediction first changes.
        inf if no change was found.
    projection : ndarray of shape (n_samples, n_features)
        The nearest point of the decision boundary that was found; nan if none was found.
    certified : ndarray of shape (n_samples,)
        A proven lower bound: no point nearer than this is predicted as another class. At most ``distance``; 0 if
        nothing can be proven.
    converged : ndarray of shape (n_samples,) of bool
        Whether the projection is a critical point of the distance, with a decision value of zero (within 1e-9, or what
        float64 allows). If it is not, the distance still leads to a point of the boundary.

    Examples
    --------
    >>> from adatron import SVC, input_margin
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(60, noise=0.2, random_state=0)
    >>> found = input_margin(SVC(C=10).fit(X, y), X)
    >>> bool((found.certified <= found.distance).all())
    True
    """

    distance: Vector
    projection: Vector
    certified: Vector
    converged: NDArray[np.bool_]


def nearest(field: Field, metric: Metric, X: Vector, pool: Pool) -> InputMargins:
    """Return the nearest points of the surface, from several starts a row, in blocks of rows."""
    field = field.lean()
    step = max(1, RAY_NUMBERS // ((1 + OTHER_POINTS + PLANE_DIRECTIONS) * X.shape[1]))
    slices = [slice(a, a + step) for a in range(0, len(X), step)]
    blocks = [_block(field, metric.take(rows), X[rows], pool) for rows in slices]
    names = ("distance", "projection", "certified", "converged")
    return InputMargins(*(np.concatenate([getattr(block, name) for block in blocks]) for name in names))


def estimate(field: Field, metric: Metric, X: Vector, start: Vector, pool: Pool) -> InputMargins:
    """Return the points to which plain eq. 12 leads from the rows of ``start``: estimates, which prove nothing.

    The last step goes to the plane that touches f at the point before it, so its distance is that of eq. 3.
    """
    Z, n = plain(field, metric, X, start, pool), len(X)
    lengths = np.where(np.isnan(Z[:, 0]), np.inf, metric.lengths(Z - X))
    return InputMargins(lengths, Z, np.zeros(n), np.zeros(n, bool))


def _block(field: Field, metric: Metric, X: Vector, pool: Pool) -> InputMargins:
    f, q = field.slopes(X, pool)
    certain = certified(field, metric, X, f, pool)
    n = len(X)
    distance, projection, converged = np.full(n, np.inf), np.full(X.shape, np.nan), np.zeros(n, bool)
    if len(field.a):
        found, reach = first_crossings(field, metric, X, f, q, certain, STARTS, pool)
        more = islets(field, X, f, pool)
        row = np.concatenate([np.arange(n), found.row, more.row])
        start = np.concatenate([X, found.points, more.points])
        bound = _bound(metric, X, found.row, found.points, reach)
        points, lengths, settled = project(field, metric.take(row), X[row], start, bound[row], pool)
        order = np.lexsort((~settled, lengths, row))
        best = order[np.searchsorted(row[order], np.arange(n))]
        distance, converged = lengths[best], settled[best]
        projection = np.where(np.isfinite(distance)[:, None], points[best], np.nan)
    return InputMargins(distance, projection, np.minimum(certain, distance), converged)


def _bound(metric: Metric, X: Vector, row: NDArray[np.int64], points: Vector, reach: Vector) -> Vector:
    """Return half the way to the nearest crossing, or else a quarter of the rays' length."""
    lengths = metric.take(row).lengths(points - X[row])
    nearest = np.full(len(X), np.inf)
    np.minimum.at(nearest, row, lengths)
    return np.where(np.isfinite(nearest), 0.5 * nearest, 0.25 * reach)
