"""The nearest point of f = 0 for many rows: starts, projections, certificates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..threads import Pool
from .certified import certified
from .crossings import OTHER_POINTS, PLANE_DIRECTIONS, first_crossings, islets
from .field import Field, Vector
from .metric import Metric
from .projection import plain, project

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
