"""First crossings of rays from a point with f = 0: starts for projections.

A point may have several nearest points, on surfaces around it. Rays go downhill, to the nearest points of the other
side, and in fixed directions. They are sampled outwards from the certified radius, in growing steps.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from ..threads import Pool
from .field import Field, Vector
from .metric import Metric

OTHER_POINTS, ISLETS = 6, 3  # Points of the other side, and points that pull to it from a row's own side, for each row.
SHARED_DIRECTIONS, PLANE_DIRECTIONS = 16, 48  # Directions that all rows share, in general and in the plane.
LEVELS, RAY_HALVINGS = 32, 12  # Distances at which the sign is looked at, and halvings where the sign changes.
RAY_LENGTH = 1.5  # Length of rays, as a multiple of the distance of the farthest point.
SHORTEST_RAY = 1e-150  # Shortest length of rays.


@dataclass(frozen=True)
class Crossings:
    """Crossings of some rows' rays, sorted by row.

    row : (N,) number of the row
    points : (N, d)
    """

    row: NDArray[np.int64]
    points: Vector


def first_crossings(
    field: Field, metric: Metric, X: Vector, f: Vector, q: Vector, near: Vector, most: int, pool: Pool
) -> tuple[Crossings, Vector]:
    """Return at most ``most`` nearest crossings a row, and the length of each row's rays, (n,).

    Parameters
    ----------
    f, q : values and gradients at the rows of X
    near : (n,) radii within which f has no zero
    """
    U = _directions(field, metric, X, f, q, pool)  # (n, R, d)
    far = np.sqrt(cdist(X, field.points, "sqeuclidean").max(axis=1))  # an upper bound of each row's farthest point
    far = far if metric.G is None else far * np.sqrt(np.linalg.eigvalsh(metric.G)[..., -1])
    reach = np.maximum(RAY_LENGTH * far, SHORTEST_RAY)  # all bases may coincide with a sample
    from_here = np.clip(near, 1e-3 * reach, reach)
    low, high = np.zeros(U.shape[:2]), np.full(U.shape[:2], np.inf)
    open_rows, before = np.arange(len(X)), np.zeros(len(X))
    for level in range(LEVELS):
        t = from_here * (reach / from_here) ** (level / (LEVELS - 1))
        crossed = _other(field, X, U, f, open_rows, t[open_rows, None] + np.zeros(U.shape[1]), pool)
        low[open_rows] = np.where(crossed, before[open_rows, None], 0.0)
        high[open_rows] = np.where(crossed, t[open_rows, None], np.inf)
        open_rows, before = open_rows[~crossed.any(axis=1)], t
        if not len(open_rows):
            break
    for _ in range(RAY_HALVINGS):
        _halve(field, X, U, f, low, high, pool)
    return _nearest(X, U, high, most), reach


def _other(
    field: Field, X: Vector, U: Vector, f: Vector, rows: NDArray[np.int64], t: Vector, pool: Pool
) -> NDArray[np.bool_]:
    """Return whether f has another sign at the distance t, (rows, R), along the rays of these rows."""
    Z = X[rows, None] + t[:, :, None] * U[rows]
    values = field.values(Z.reshape(-1, X.shape[1]), pool).reshape(t.shape)
    return (values >= 0) != (f[rows, None] >= 0)


def _halve(field: Field, X: Vector, U: Vector, f: Vector, low: Vector, high: Vector, pool: Pool) -> None:
    rows, rays = np.nonzero(np.isfinite(high))
    middle = 0.5 * (low[rows, rays] + high[rows, rays])
    beyond = (field.values(X[rows] + middle[:, None] * U[rows, rays], pool) >= 0) != (f[rows] >= 0)
    high[rows[beyond], rays[beyond]] = middle[beyond]
    low[rows[~beyond], rays[~beyond]] = middle[~beyond]


def islets(field: Field, X: Vector, f: Vector, pool: Pool) -> Crossings:
    """Return points that pull to the other side of f but lie on the row's own: a small island may be near them."""
    own, row, start = field.values(field.points, pool) >= 0, [np.empty(0, np.int64)], [np.empty((0, X.shape[1]))]
    for side in (False, True):
        rows = np.flatnonzero((f >= 0) == side)
        points = field.points[(own == side) & ((field.a > 0) != side)]
        count = min(ISLETS, len(points))
        if len(rows) and count:
            row.append(np.repeat(rows, count))
            start.append(points[_closest(X[rows], points, count)].reshape(-1, X.shape[1]))
    return Crossings(np.concatenate(row), np.concatenate(start))


def _closest(X: Vector, points: Vector, count: int) -> NDArray[np.int64]:
    """Return the ``count`` nearest points of each row."""
    return np.argpartition(cdist(X, points, "sqeuclidean"), count - 1, axis=1)[:, :count]


def _nearest(X: Vector, U: Vector, high: Vector, most: int) -> Crossings:
    best = np.argsort(high, axis=1)[:, :most]
    row, place = np.nonzero(np.isfinite(np.take_along_axis(high, best, axis=1)))
    ray = best[row, place]
    return Crossings(row, X[row] + high[row, ray, None] * U[row, ray])


def _directions(field: Field, metric: Metric, X: Vector, f: Vector, q: Vector, pool: Pool) -> Vector:
    """Return vectors of length 1, (n, R, d): downhill, to the other side's points, fixed."""
    n, d = X.shape
    down = -np.where(f >= 0, 1.0, -1.0)[:, None] * metric.raised(q)
    fixed = np.broadcast_to(_fixed(d), (n, *_fixed(d).shape))
    U = np.concatenate([down[:, None], _to_others(field, X, f, pool), fixed], axis=1)
    length = metric.lengths(U)[:, :, None]
    return np.divide(U, length, out=np.zeros_like(U), where=length > 0)


def _to_others(field: Field, X: Vector, f: Vector, pool: Pool) -> Vector:
    """Return the ways from each row to the nearest points across f = 0, (n, OTHER_POINTS, d); 0 for the rest."""
    ways = np.zeros((len(X), OTHER_POINTS, X.shape[1]))
    signs = field.values(field.points, pool) >= 0
    for side in (False, True):
        rows, others = np.flatnonzero((f >= 0) == side), field.points[signs != side]
        count = min(OTHER_POINTS, len(others))
        if len(rows) and count:
            ways[rows, :count] = others[_closest(X[rows], others, count)] - X[rows, None]
    return ways


def _fixed(d: int) -> Vector:
    """Return directions spread evenly in the plane, else both ways along orthogonal directions."""
    if d <= 2:
        angle = 2.0 * np.pi * np.arange(PLANE_DIRECTIONS) / PLANE_DIRECTIONS
        return np.column_stack([np.cos(angle), np.sin(angle)])[:, :d]
    Q = np.linalg.qr(np.random.default_rng(0).normal(size=(d, min(d, SHARED_DIRECTIONS // 2))))[0].T
    return np.concatenate([Q, -Q])
