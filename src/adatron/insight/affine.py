"""The linear steps before a classifier, as one map."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..arrays import Vector
from ..pipelines import PipelineParts

EPS = float(np.finfo(np.float64).eps)  # Distance from 1 to the next float64.
SPACES = ("original", "transformed")  # Before and after the steps of a pipeline.


@dataclass(frozen=True)
class Affine:
    """The map of a row x to A x + b.

    A : (m, d); b : (m,)
    """

    A: Vector
    b: Vector

    def after(self, first: Affine) -> Affine:
        """Return the map that takes this one after another one."""
        return Affine(self.A @ first.A, self.A @ first.b + self.b)

    def rounding(self, X: Vector, reach: Vector) -> Vector:
        """Return bounds of the rounding errors of the difference of two images, (n, m).

        One of the points is in X, (n, d), and the other one at most ``reach``, (n,), from it.
        """
        terms = np.count_nonzero(self.A, axis=1).max(initial=0) + 4
        sizes = (np.abs(X) + reach[:, None]) @ np.abs(self.A).T + np.abs(self.b)
        return 4.0 * terms * EPS * sizes


def linear_map(way: PipelineParts, d: int) -> Affine | None:
    """Return the map of all steps, from d features; None if there is no step.

    Raises
    ------
    ValueError
        A step is not known to be linear.
    """
    if not way.steps:
        return None
    whole = Affine(np.eye(d), np.zeros(d))
    for name, step in way.steps:
        check_is_fitted(step)
        make = LINEAR.get(type(step).__name__) if type(step).__module__.startswith("sklearn.") else None
        found = None if make is None else make(step)
        if found is None:
            raise ValueError(
                f"The step {name!r} ({type(step).__name__}) is not linear, so distances before it cannot be "
                "computed. Pass space='transformed' for distances in the space that the classifier sees."
            )
        whole = found.after(whole)
    return whole


# --- the linear steps of scikit-learn -----------------------------------------------------------------------------


def _scaled(factors: Any, offsets: Any) -> Affine:
    return Affine(np.diag(np.asarray(factors, np.float64)), np.asarray(offsets, np.float64))


def _divided(centre: Any, scale: Any, d: int) -> Affine:
    """Return the map (x - centre) / scale; None stands for 0 or 1."""
    factors = 1.0 / (np.ones(d) if scale is None else np.asarray(scale, np.float64))
    return _scaled(factors, np.zeros(d) if centre is None else -np.asarray(centre, np.float64) * factors)


def _standard(step: Any) -> Affine:
    mean, scale = step.mean_ if step.with_mean else None, step.scale_ if step.with_std else None
    return _divided(mean, scale, step.n_features_in_)


def _robust(step: Any) -> Affine:
    return _divided(step.center_, step.scale_, step.n_features_in_)


def _range(step: Any) -> Affine | None:
    return None if step.clip else _scaled(step.scale_, step.min_)


def _largest(step: Any) -> Affine | None:
    return None if getattr(step, "clip", False) else _divided(None, step.scale_, step.n_features_in_)


def _components(step: Any) -> Affine:
    A = np.asarray(step.components_, np.float64)
    if getattr(step, "whiten", False):
        scale = np.sqrt(step.explained_variance_)
        A = A / np.maximum(scale, np.finfo(scale.dtype).eps)[:, None]
    mean = getattr(step, "mean_", None)
    return Affine(A, np.zeros(len(A)) if mean is None else -(A @ np.asarray(mean, np.float64)))


def _selected(step: Any) -> Affine:
    chosen = step.get_support()
    return Affine(np.eye(len(chosen))[chosen], np.zeros(int(chosen.sum())))


LINEAR: dict[str, Callable[[Any], Affine | None]] = {
    "StandardScaler": _standard,
    "RobustScaler": _robust,
    "MinMaxScaler": _range,
    "MaxAbsScaler": _largest,
    "PCA": _components,
    "TruncatedSVD": _components,
    **dict.fromkeys(
        (
            "GenericUnivariateSelect", "RFE", "RFECV", "SelectFdr", "SelectFpr", "SelectFromModel", "SelectFwe",
            "SelectKBest", "SelectPercentile", "SequentialFeatureSelector", "VarianceThreshold",
        ),
        _selected,
    ),
}  # fmt: skip
