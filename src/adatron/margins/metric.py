"""The measure of length in the input space: ‖d‖ at x is √(d' G(x) d)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..arrays import Vector
from ..compiled.precision import UNIT


@dataclass(frozen=True)
class Metric:
    """The metrics of n points.

    Parameters
    ----------
    G, inverse : None for the identity, (d, d) for one that all points share, or (n, d, d)
    """

    G: Vector | None = None
    inverse: Vector | None = None

    @classmethod
    def of(cls, metric: Any, X: Vector) -> Metric:
        """Return the metrics at the rows of X.

        Parameters
        ----------
        metric : None, array-like of shape (n_features, n_features), or callable
            A function takes a row (n_features,) and returns its matrix.

        Raises
        ------
        ValueError
            A matrix has another shape, or is not symmetric and positive definite.
        """
        if metric is None:
            return cls()
        G = _matrices(metric, X) if callable(metric) else _matrix(metric, X.shape[1])
        try:
            np.linalg.cholesky(G)
        except np.linalg.LinAlgError:
            raise ValueError("The 'metric' parameter must hold symmetric, positive definite matrices.") from None
        return cls(G, np.asarray(np.linalg.inv(G), np.float64))

    def through(self, A: Vector) -> Metric:
        """Return the metric of the images A d of vectors: the length of the shortest d that has an image.

        Raises
        ------
        ValueError
            The rows of A, (m, d), are not independent.
        """
        inverse = A @ A.T if self.inverse is None else A @ self.inverse @ A.T
        try:
            G = np.asarray(np.linalg.inv(inverse), np.float64)
            np.linalg.cholesky(G)
        except np.linalg.LinAlgError:
            raise ValueError("The steps before the classifier make features that depend on each other.") from None
        return Metric(0.5 * (G + np.swapaxes(G, -1, -2)), inverse)

    def back(self, A: Vector, of: Metric, D: Vector) -> Vector:
        """Return the shortest vectors in this metric whose images are D, (n, m); ``of`` is ``through(A)``."""
        return self.raised(_times(of.G, D) @ A)

    def take(self, rows: Any) -> Metric:
        """Return the metrics of some points."""
        if self.G is None or self.inverse is None or self.G.ndim == 2:
            return self
        return replace(self, G=self.G[rows], inverse=self.inverse[rows])

    def lengths(self, D: Vector) -> Vector:
        """Return ‖d‖ of vectors at each point, (n, ..., d) to (n, ...)."""
        return np.sqrt(np.maximum(self.products(D, D), 0.0))

    def products(self, D: Vector, E: Vector) -> Vector:
        """Return d' G e, (n, ..., d) and (n, ..., d) to (n, ...)."""
        return np.einsum("...j,...j->...", D, _times(self.G, E))

    def raised(self, Q: Vector) -> Vector:
        """Return G⁻¹ q, (n, d)."""
        return _times(self.inverse, Q)

    def shrinkage(self) -> Vector | float:
        """Return √λ_min(G), or less by the rounding of λ: ‖d‖ is at least this multiple of the Euclidean length."""
        if self.G is None:
            return 1.0
        found = np.linalg.eigvalsh(self.G)
        return np.sqrt(np.maximum(found[..., 0] - 16.0 * self.G.shape[-1] * UNIT * found[..., -1], 0.0))


def _times(G: Vector | None, D: Vector) -> Vector:
    if G is None:
        return D
    return D @ G if G.ndim == 2 else np.einsum("ijk,i...k->i...j", G, D)


def _matrices(metric: Callable[[Vector], Any], X: Vector) -> Vector:
    return np.stack([_matrix(metric(x), X.shape[1]) for x in X]) if len(X) else np.empty((0, X.shape[1], X.shape[1]))


def _matrix(values: Any, d: int) -> Vector:
    try:
        G = np.asarray(values, np.float64)
    except (TypeError, ValueError):
        G = np.empty(())
    if G.shape != (d, d) or not np.isfinite(G).all() or not np.allclose(G, G.T, rtol=1e-10):
        got = f"an array of shape {G.shape}" if G.ndim else repr(values)
        raise ValueError(
            f"The 'metric' parameter must be None, a symmetric matrix of finite numbers of shape ({d}, {d}), or a "
            f"function of one sample that returns one. Got {got} instead."
        )
    return G
