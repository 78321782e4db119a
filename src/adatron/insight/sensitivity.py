"""Which features matter: slopes of the decision function where it decides, and changes of one feature that decide.

A kernel machine has no weight for a feature, but its decision function has a gradient everywhere. Only its size at the
boundary decides which class a sample gets.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..estimators.base.methods import quiet
from ..margins import Field
from ..model.readout import Classes
from ..pipelines import way_to
from ..threads import Clock, Pool, allowed_threads
from ..threads.gate import one_blas_thread
from .subject import (
    Unavailable,
    Vector,
    counted,
    dense,
    drawn,
    in_time,
    map_of,
    margins_in_time,
    measurable,
    rows_of,
    taken,
    task_of,
    unnamed,
)

BOUNDARY_SAMPLES = 300  # Samples whose boundary points are taken.
# Sizes of the search along single features.
FLIPPED, FLIP_FEATURES, FLIP_STEPS, FLIP_HALVINGS = 40, 12, 48, 20
BOUNDARY = 0.6  # Part of the time for boundary points; the rest is for single features.


@dataclass(frozen=True)
class Sensitivity:
    """The result of ``sensitivity``, one entry for each feature.

    Attributes
    ----------
    slope : ndarray of shape (n_features,)
        Mean of ``|∂f/∂x|`` at the boundary points of the samples (at the samples themselves, in a regression).
    effect : ndarray of shape (n_features,)
        ``slope`` times the standard deviation of the feature: comparable between features.
    n_points : int
        The points behind these means.
    flips : ndarray of shape (n_features,)
        The fraction of the tried samples whose prediction changes by this feature alone, within the range of its
        values; nan where it was not tried, and in a regression.
    smallest : ndarray of shape (n_features,)
        The median over these samples of the smallest such change, in units of the feature; nan if no change was found.
    n_tried : int
        The number of samples that were tried.
    space : {'original', 'transformed'}
        Whether features are those of the samples as they were given, or those that the machine sees.
    n_wanted : int
        The points that were to be behind these means; more than ``n_points`` if a report had no time for some.

    Examples
    --------
    >>> from adatron import SVC
    >>> from adatron.insight import sensitivity
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(60, noise=0.3, random_state=0)
    >>> found = sensitivity(SVC(C=10).fit(X, y), X)
    >>> found.slope.shape, found.space
    ((2,), 'original')
    """

    slope: Vector
    effect: Vector
    n_points: int
    flips: Vector
    smallest: Vector
    n_tried: int
    space: str
    n_wanted: int


@quiet
@unnamed()
def sensitivity(model: Any, X: Any, *, max_samples: int = BOUNDARY_SAMPLES) -> Sensitivity:
    """Return how strongly each feature moves the decision function at the boundary.

    Parameters
    ----------
    model : SVC, NuSVC, InputMarginSVC, OneClassSVM, SVDD, SVR or NuSVR
        Fitted, with a differentiable kernel; also as the last step of a pipeline.
    X : array-like of shape (n_samples, n_features)
        Samples whose nearest boundary points are taken.
    max_samples : int, default=300
        Most samples whose boundary points are taken; chance draws them, always the same ones.

    Returns
    -------
    Sensitivity

    Raises
    ------
    TypeError
        The kernel has no derivative.
    ValueError
        No boundary was found.

    Examples
    --------
    >>> from adatron import SVC
    >>> from adatron.insight import sensitivity
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(200, 4, n_informative=1, n_redundant=0, n_clusters_per_class=1, shuffle=False,
    ...                            random_state=0)
    >>> int(sensitivity(SVC().fit(X, y), X).effect.argmax())
    0
    """
    return sensitivity_of(model, X, counted("max_samples", max_samples, 1))


def sensitivity_of(model: Any, X: Any, most: int = BOUNDARY_SAMPLES, clock: Clock | None = None) -> Sensitivity:
    """Return how strongly each feature moves the decision function, by as many samples as there is time for."""
    clock = clock or Clock()
    way, X, seen = measurable(model, X)
    space = "original" if not way.steps or map_of(way, X) is not None else "transformed"
    look, rows = (model, X) if space == "original" else (way.machine, seen)
    some = drawn(rows.shape[0], most)
    part = taken(rows, some)
    points = dense(part.to_numpy() if hasattr(part, "to_numpy") else part)
    spread = points.std(axis=0)
    nan = np.full(points.shape[1], np.nan)
    if task_of(way.machine) == "regression":
        done, slopes = in_time(np.arange(len(some)), clock, lambda part: slopes_of(look, points[part]))
        slope = np.abs(np.concatenate(slopes)).mean(axis=0)
        return Sensitivity(slope, slope * spread, len(done), nan, nan, 0, space, len(some))
    done, found = margins_in_time(look, rows, some, clock.part(BOUNDARY))
    known = np.isfinite(found.distance)
    if not known.any():
        raise Unavailable("No boundary was found near the samples; the prediction may be the same everywhere.")
    slope = np.abs(slopes_of(look, found.projection[known])).mean(axis=0)
    flips, smallest, tried = _along_features(look, points, slope * spread, clock)
    wanted = len(some) - (len(done) - int(known.sum()))  # some samples have no boundary point
    return Sensitivity(slope, slope * spread, int(known.sum()), flips, smallest, tried, space, wanted)


def slopes_of(model: Any, X: Any) -> Vector:
    """Return the gradient of the function that decides at each of some samples, with respect to the given features."""
    way = way_to(model)
    machine = way.machine
    X = X.to_numpy() if hasattr(X, "to_numpy") else X
    seen = dense(rows_of(way, X))
    fields: list[Field] = machine.model_.function().fields()
    with one_blas_thread(), Pool(allowed_threads(machine.n_jobs)) as pool:
        found = [field.slopes(seen, pool) for field in fields]
    values = np.stack([one[0] for one in found], axis=1)
    slopes = np.stack([one[1] for one in found], axis=1)  # (n, problems, d)
    gradient = _deciding(machine, values, slopes)
    linear = map_of(way, X)
    return gradient if linear is None else gradient @ linear.A


def _deciding(machine: Any, values: Vector, slopes: NDArray[np.float64]) -> Vector:
    """Return the gradient of the surface that is nearest, by |f| / ‖∇f‖."""
    lines = np.arange(len(values))
    if isinstance(machine.readout, Classes) and machine.readout.each:
        first, second = np.sort(np.argsort(-values, axis=1)[:, :2], axis=1).T
        return slopes[lines, first] - slopes[lines, second]
    lengths = np.linalg.norm(slopes, axis=2)
    with np.errstate(divide="ignore", invalid="ignore"):
        distance = np.where(lengths > 0.0, np.abs(values) / lengths, np.inf)
    return slopes[lines, np.argmin(distance, axis=1)]


def _along_features(look: Any, points: Vector, effect: Vector, clock: Clock) -> tuple[Vector, Vector, int]:
    """Return the flips by single features: fractions, medians of the smallest changes, and the samples tried.

    When the time is over, the features that are left are not tried.

    Each feature takes values over its range; where the prediction changes, the change is halved to its smallest.
    """
    d = points.shape[1]
    features = np.argsort(-effect, kind="stable")[:FLIP_FEATURES]
    tried = drawn(len(points), FLIPPED)
    flips, smallest = np.full((2, d), np.nan)
    before = look.predict(points[tried])
    low, high = points.min(axis=0), points.max(axis=0)
    for j in features:
        ends = np.linspace(low[j], high[j], FLIP_STEPS)
        moved = np.repeat(points[tried], FLIP_STEPS, axis=0)
        moved[:, j] = np.tile(ends, len(tried))
        other = look.predict(moved).reshape(len(tried), FLIP_STEPS) != before[:, None]
        distance = np.where(other, np.abs(ends - points[tried, j][:, None]), np.inf)
        at = np.argmin(distance, axis=1)
        hit = np.flatnonzero(np.isfinite(distance.min(axis=1)))
        flips[j] = len(hit) / len(tried)
        if len(hit):
            smallest[j] = np.median(_halved(look, points[tried[hit]], int(j), ends[at[hit]], before[hit]))
        if clock.late:
            break
    return flips, smallest, len(tried)


def _halved(look: Any, X: Vector, j: int, ends: Vector, before: NDArray[Any]) -> Vector:
    """Return the sizes of changes of one feature, halved as long as the prediction still changes."""
    low, high = np.zeros(len(X)), ends - X[:, j]
    for _ in range(FLIP_HALVINGS):
        middle = 0.5 * (low + high)
        moved = X.copy()
        moved[:, j] += middle
        other = look.predict(moved) != before
        low, high = np.where(other, low, middle), np.where(other, middle, high)
    return np.abs(high)
