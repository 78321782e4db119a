"""A plane through a sample, its nearest boundary point and a third sample, with the true boundary in it.

A projection of all samples onto two axes (PCA) has no boundary in it. This plane is a part of the input space: each of
its points is a point that the model can predict, so the curve f = 0 in it is the model's own, and the distance of the
sample from the boundary is the true one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import maximum_filter, minimum_filter
from sklearn.utils import check_consistent_length

from ..estimators.base.methods import quiet
from ..margins import InputMargins
from .distance import input_margin
from .subject import Ids, Unavailable, Vector, counted, dense, drawn, measurable, targets_of, task_of, unnamed

FINER = 4  # Parts of a step of the grid, in each direction, next to a border.
GridLines = tuple[Vector, Vector]  # the coordinates of a grid
GRID = 120  # Points of a picture in each direction; four times as many next to borders.
PLANE_MARGIN = 0.5  # Space around the three points, as a fraction of their extent.
MOST_OTHERS = 2000  # Most samples among which the third one is chosen, and whose shadows are drawn.
ROUNDED_DIRECTION = 1e-9  # Fraction of a length below which a direction is rounding.


@dataclass(frozen=True)
class BoundaryPlane:
    """The result of ``boundary_plane``. Coordinates are lengths among the rows that the machine sees, from the sample.

    Attributes
    ----------
    grid : tuple of two ndarrays of shape (n,)
        Coordinates of the points: towards the boundary, and at right angles to that.
    values : ndarray of shape (n, n)
        Decision values of two classes and of a novelty detector, predictions of a regression; for more classes the
        number of the predicted class.
    codes : ndarray of int of shape (n, n)
        The number of the predicted class at each point (0 outside and 1 inside of a novelty detector); 0 in a
        regression.
    fine : tuple of a grid and an ndarray of int
        The grid and the codes, four times as fine: the points next to a border were predicted anew.
    points : ndarray of shape (3, 2)
        The sample, its nearest boundary point, and the third sample.
    numbers : tuple of two ints
        Rows of the sample and of the third sample in X.
    shadows : ndarray of shape (n_shown, 2)
        The other samples, projected onto the plane; they are not in it.
    off : ndarray of shape (n_shown,)
        Their distances from the plane.
    shown : ndarray of int of shape (n_shown,)
        Their rows in X.
    certified : float
        Proven: within this distance of the sample the prediction does not change; nan in a regression.

    Examples
    --------
    >>> from adatron import SVC
    >>> from adatron.insight import boundary_plane
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(60, noise=0.3, random_state=0)
    >>> found = boundary_plane(SVC(C=10).fit(X, y), X, y)
    >>> found.values.shape, found.points[0].tolist()
    ((120, 120), [0.0, 0.0])
    """

    grid: tuple[Vector, Vector]
    values: Vector
    codes: NDArray[np.int64]
    fine: tuple[GridLines, NDArray[np.int64]]
    points: Vector
    numbers: tuple[int, int]
    shadows: Vector
    off: Vector
    shown: Ids
    certified: float


@quiet
@unnamed()
def boundary_plane(
    model: Any, X: Any, y: Any = None, *, sample: int | None = None, third: int | None = None, n_points: int = GRID
) -> BoundaryPlane:
    """Return the plane through a sample, its nearest boundary point and a third sample, with the model's values in it.

    Parameters
    ----------
    model : SVC, NuSVC, InputMarginSVC, OneClassSVM, SVDD, SVR or NuSVR
        Fitted, with a differentiable kernel; also as the last step of a pipeline. The plane lies among the rows that
        the machine sees, in their units: those of a scaler, if there is one. In a regression the direction of steepest
        ascent takes the place of the nearest boundary point.
    X : array-like of shape (n_samples, n_features)
        Samples; the plane goes through two of them.
    y : array-like of shape (n_samples,), default=None
        Classes; the third sample is one that is predicted rightly. Without them any will do.
    sample : int, default=None
        The row of the sample; by default the one whose distance is the median of at most 200.
    third : int, default=None
        The row of the third sample; by default, the nearest one beyond the boundary.
    n_points : int, default=120
        Points in each direction.

    Returns
    -------
    BoundaryPlane

    Raises
    ------
    TypeError
        The kernel has no derivative.
    ValueError
        There is only one feature, or no boundary was found.

    Examples
    --------
    >>> from adatron import SVC
    >>> from adatron.insight import boundary_plane
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> plane = boundary_plane(SVC(C=10).fit(X, y), X, y, sample=0)
    >>> bool(0 < plane.certified <= plane.points[1, 0])
    True
    """
    way, _, rows = measurable(model, X)
    machine, n = way.machine, rows.shape[0]
    if rows.shape[1] < 2:
        raise Unavailable("A plane needs two features. Got 1.")
    if y is not None and task_of(machine) == "classification":
        y = targets_of(machine, y)
        check_consistent_length(rows, y)
    sample, third = (
        None if value is None else counted(name, value, 0, n) for name, value in (("sample", sample), ("third", third))
    )
    counted("n_points", n_points, 2)
    return _plane(machine, rows, y, sample, third, n_points)


def _plane(machine: Any, rows: Any, y: Any, sample: int | None, third: int | None, n_points: int) -> BoundaryPlane:
    n, task = rows.shape[0], task_of(machine)
    foot, certified, sample = _foot(machine, rows, task, sample)
    x = dense(rows[[sample]])[0]
    some = np.setdiff1d(drawn(n, MOST_OTHERS), [sample])
    others = dense(rows[some])
    first = (foot - x) / max(float(np.linalg.norm(foot - x)), np.finfo(float).tiny)
    across = (others - x) - np.outer((others - x) @ first, first)
    at = _third(machine, rows, some, others, foot, across, task, y, x) if third is None else third
    z = dense(rows[[at]])[0] - x
    second = z - (z @ first) * first
    length = float(np.linalg.norm(second))
    if not length > ROUNDED_DIRECTION * (float(np.linalg.norm(z)) + ROUNDED_DIRECTION):
        raise Unavailable("The three points lie on one line; pass another sample as 'third'.")
    axes = np.stack([first, second / length])
    points = np.stack([np.zeros(2), axes @ (foot - x), axes @ z])
    grid = _grid(points, n_points)
    at_points = np.stack(np.meshgrid(*grid), axis=-1).reshape(-1, 2) @ axes + x
    values, codes = _at(machine, at_points, task)
    values, codes = values.reshape(n_points, n_points), codes.reshape(n_points, n_points)
    fine = finely(grid, codes, lambda places: _at(machine, places @ axes + x, task)[1])
    shadows = (others - x) @ axes.T
    off = np.sqrt(np.maximum(np.square(others - x).sum(axis=1) - np.square(shadows).sum(axis=1), 0.0))
    return BoundaryPlane(grid, values, codes, fine, points, (sample, at), shadows, off, some, certified)


def _at(machine: Any, points: Vector, task: str) -> tuple[Vector, NDArray[np.int64]]:
    """Return values and classes at some points."""
    if task == "regression":
        return np.asarray(machine.predict(points), np.float64), np.zeros(len(points), np.int64)
    if task == "novelty":
        values = np.asarray(machine.decision_function(points), np.float64)
        return values, (values >= 0.0).astype(np.int64)
    codes = np.searchsorted(machine.classes_, machine.predict(points))
    values = machine.decision_function(points) if len(machine.classes_) == 2 else codes
    return np.asarray(values, np.float64), codes.astype(np.int64)


def finely(grid: GridLines, codes: Ids, ask: Callable[[Vector], Ids]) -> tuple[GridLines, Ids]:
    """Return a grid that is ``FINER`` times as fine, and the class at each of its points.

    Points whose neighbours are all of one class take that class. The others are predicted.

    grid : evenly spaced coordinates, to the right and upwards
    codes : (n, m) the class at each point of the grid
    ask : returns the classes at (k, 2) points
    """
    parts = (np.arange(FINER) + 0.5) / FINER - 0.5
    across, up = ((line[:, None] + (line[1] - line[0]) * parts).ravel() for line in grid)
    near = maximum_filter(codes, 3) != minimum_filter(codes, 3)
    fine, open_ = (one.repeat(FINER, axis=0).repeat(FINER, axis=1) for one in (codes, near))
    rows, columns = np.nonzero(open_)
    if len(rows):
        fine[rows, columns] = ask(np.stack([across[columns], up[rows]], axis=1))
    return (across, up), fine


def _foot(machine: Any, rows: Any, task: str, sample: int | None) -> tuple[Vector, float, int]:
    """Return the nearest boundary point of a sample, its certified distance, and its row."""
    some = drawn(rows.shape[0], 200) if sample is None else np.array([sample])
    part = dense(rows[some])
    if task == "regression":
        from .sensitivity import slopes_of

        at = 0 if sample is not None else len(some) // 2
        slope, x = slopes_of(machine, part[[at]])[0], part[at]
        length = float(np.linalg.norm(slope))
        if not length > 0.0:
            raise Unavailable("The prediction is constant here; it has no direction of ascent.")
        spread = float(np.sqrt(np.square(part - x).sum(axis=1).mean())) or 1.0
        return x + 0.5 * spread * slope / length, float("nan"), int(some[at])
    found = input_margin(machine, part)
    at = typical(found)
    return found.projection[at], float(found.certified[at]), int(some[at])


def typical(found: InputMargins) -> int:
    """Return the position of the sample whose distance from the boundary is the median; Unavailable: there is none."""
    known = np.flatnonzero(np.isfinite(found.distance) & (found.distance > 0.0))
    if not len(known):
        raise Unavailable("No boundary was found near the samples; the prediction may be the same everywhere.")
    return int(known[np.argsort(found.distance[known], kind="stable")[len(known) // 2]])


def _third(
    machine: Any, rows: Any, some: Ids, others: Vector, foot: Vector, across: Vector, task: str, y: Any, x: Vector
) -> int:
    """Return the nearest sample, from the boundary point, that is predicted as another class and spans a plane."""
    allowed = np.sqrt(np.square(across).sum(axis=1)) > 1e-6 * (1.0 + np.linalg.norm(others - x, axis=1))
    if task != "regression":
        codes = _at(machine, np.concatenate([x[None], others]), task)[1]
        beyond = codes[1:] != codes[0]
        if y is not None and task == "classification":
            beyond &= machine.classes_[codes[1:]] == y[some]
        allowed = allowed & beyond if (allowed & beyond).any() else allowed
    if not allowed.any():
        raise Unavailable("All samples lie on one line, so there is no plane.")
    distance = np.where(allowed, np.square(others - foot).sum(axis=1), np.inf)
    return int(some[np.argmin(distance)])


def _grid(points: Vector, n: int) -> tuple[Vector, Vector]:
    """Return coordinates of a square around the points."""
    low, high = points.min(axis=0), points.max(axis=0)
    middle, half = 0.5 * (low + high), (0.5 + PLANE_MARGIN) * float((high - low).max())
    return np.linspace(middle[0] - half, middle[0] + half, n), np.linspace(middle[1] - half, middle[1] + half, n)
