"""Gaussian kernels of many widths over the same samples, from one matrix of squared distances."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from adatron.arrays import Ids, Vector
from adatron.certificates.gap import CARE
from adatron.compiled.precision import UNIT
from adatron.compiled.search import CHUNK
from adatron.compiled.submatrix import scatter
from adatron.kernels import RBF
from adatron.threads import Pool

from .gaussian_rows import add_gaussians, fill_rows

TASK_ROWS = 64  # Rows of a task.
RESOLVED = 1e-4  # Smallest tolerance that float32 kernel values resolve.


def padded(n: int) -> int:
    """Round n up to whole CHUNKs."""
    return -(-n // CHUNK) * CHUNK


class Gaussians:
    """The matrix K = exp(-gamma distances): rows for a solver, in float32 if ``tol`` allows, and products K beta.

    A row of K is computed when it is first needed. Once the support vectors are known, few rows are needed.
    """

    def __init__(self, X: Vector, tol: float, pool: Pool) -> None:
        distances, n = squared_distances(X, X, X, pool), len(X)
        dtype = np.float32 if tol >= RESOLVED else np.float64
        self.pool, self.gamma = pool, 1.0
        self._top = float(np.square(X - X.mean(axis=0)).sum(axis=1).max())
        # A norm has a rounding for each feature, and the product that adds norms to products two more.
        self._roundings = 2 * X.shape[1] + 8
        self._distances, self._narrow = distances, distances.astype(dtype, copy=False)
        self._K = np.empty((n, padded(n)), dtype)  # the rows made so far, in the order of making
        self._place, self._rows = np.full(n, -1), np.empty(0, np.int64)  # row of K for each sample; sample of each row

    def widen(self, gamma: float) -> None:
        """Go to another width."""
        self.gamma = gamma
        self._place[:], self._rows = -1, self._rows[:0]

    def _make(self, samples: Ids) -> NDArray[Any]:
        """Make the rows of K of these samples, and return all rows made so far."""
        new, made = samples[self._place[samples] < 0], len(self._rows)
        self._place[new] = made + np.arange(len(new))
        self._rows = np.concatenate([self._rows, new])
        K = self._K[: len(self._rows)]

        def task(number: int) -> None:
            part = slice(number * TASK_ROWS, (number + 1) * TASK_ROWS)
            fill_rows(self._narrow, self.gamma, new[part], K[made:][part])

        self.pool.run(task, -(-len(new) // TASK_ROWS))
        return K

    def among(self, samples: Ids) -> NDArray[Any]:
        """Return K among these samples, padded to whole CHUNKs with zeros."""
        K, n = self._make(samples), len(samples)
        out = np.zeros((padded(n), padded(n)), K.dtype)
        scatter(K, self._place[samples], samples, out, np.arange(len(samples)), np.arange(len(samples)))
        return out

    def roughly(self, beta: Vector) -> Vector:
        """Return K beta, in the precision of K."""
        K = self._make(np.flatnonzero(beta))
        return (beta[self._rows].astype(K.dtype) @ K)[: len(beta)].astype(np.float64)

    def times(self, beta: Vector) -> Vector:
        """Return K beta in float64."""
        return weighted(self._distances, self.gamma, beta, self.pool)

    def error(self, beta: Vector) -> float:
        """Bound the errors of ``times``: those of the kernel values, and the rounding of their sum."""
        value = RBF(self.gamma).error_bound(self._top, self._roundings, UNIT)
        return CARE * (value + UNIT * (np.count_nonzero(beta) + 8.0)) * float(np.abs(beta).sum())


def squared_distances(X: Vector, Z: Vector, origin: Vector, pool: Pool) -> Vector:
    """Return the squared distances of all pairs of rows: one product, after the mean of ``origin`` is subtracted."""
    same, centre = X is Z, origin.mean(axis=0)
    X, Z = X - centre, Z - centre
    one, other = (np.square(rows).sum(axis=1) for rows in (X, Z))
    left = np.column_stack([-2.0 * X, one, np.ones(len(X))])
    right = np.column_stack([Z, np.ones(len(Z)), other]).T
    out = np.empty((len(X), len(Z)))

    def task(number: int) -> None:
        rows = slice(number * TASK_ROWS, (number + 1) * TASK_ROWS)
        np.dot(left[rows], right, out=out[rows])
        np.maximum(out[rows], 0.0, out=out[rows])

    pool.run(task, -(-len(X) // TASK_ROWS))
    if same:
        np.fill_diagonal(out, 0.0)
    return out


def weighted(distances: Vector, gamma: float, beta: Vector, pool: Pool) -> Vector:
    """Return exp(-gamma distances)' beta, from rows where beta is not zero; parts are added in a fixed order."""
    support = np.flatnonzero(beta)
    parts = np.zeros((-(-len(support) // TASK_ROWS), distances.shape[1]))

    def task(number: int) -> None:
        rows = support[number * TASK_ROWS : (number + 1) * TASK_ROWS]
        add_gaussians(distances, gamma, rows, beta[rows], parts[number])

    pool.run(task, len(parts))
    return np.add.reduce(parts, axis=0)
