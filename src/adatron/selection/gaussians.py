"""Gaussian kernels of many widths over the same samples, from one matrix of squared distances."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..compiled._jit import jit
from ..compiled.exp import exp
from ..compiled.search import CHUNK
from ..gram import Pool

Vector = NDArray[np.float64]
ROWS = 64  # of a task
RESOLVED = 1e-4  # tolerance that float32 kernel values resolve


@jit
def gaussian(distances: Any, gamma: Any, out: Any, first: int, last: int) -> None:
    """out[i] = exp(-gamma distances[i]) for the rows first:last; out is as wide as whole CHUNKs."""
    n = distances.shape[1]
    for i in range(first, last):
        row, values = distances[i], out[i]
        for t in range(n):
            values[t] = -gamma * row[t]
        exp(values, len(values))
        values[n:] = 0.0


@jit
def add_rows(distances: Any, gamma: float, rows: Any, weights: Any, out: Any) -> None:
    """out += sum over i of weights[i] exp(-gamma distances[rows[i]])."""
    n = len(out)
    values = np.zeros(-(-n // CHUNK) * CHUNK)
    for i in range(len(rows)):
        row, weight = distances[rows[i]], weights[i]
        for t in range(n):
            values[t] = -gamma * row[t]
        exp(values, len(values))
        for t in range(n):
            out[t] += weight * values[t]


class Gaussians:
    """K = exp(-gamma distances): whole for a solver, in float32 where ``tol`` allows; K beta in both precisions.

    Attributes
    ----------
    K : (size, size) kernel matrix, padded to whole CHUNKs
    """

    def __init__(self, distances: Vector, tol: float, pool: Pool) -> None:
        n = len(distances)
        dtype = np.float32 if tol >= RESOLVED else np.float64
        self.pool, self.gamma = pool, 1.0
        self._distances, self._narrow = distances, distances.astype(dtype, copy=False)
        size = -(-n // CHUNK) * CHUNK
        self.K = np.zeros((size, size), dtype)

    def fill(self, gamma: float) -> None:
        """Go to another width."""
        self.gamma = gamma
        n, narrow = len(self._narrow), self.K.dtype.type(gamma)

        def task(number: int) -> None:
            gaussian(self._narrow, narrow, self.K, number * ROWS, min(n, (number + 1) * ROWS))

        self.pool.run(task, -(-n // ROWS))

    def roughly(self, beta: Vector) -> Vector:
        """K beta, from K."""
        n, support = len(beta), np.flatnonzero(beta)
        weights = beta.astype(self.K.dtype)
        if 4 * len(support) > n:
            return (self.K[:n, :n] @ weights).astype(np.float64)
        return (weights[support] @ self.K[support, :n]).astype(np.float64)

    def times(self, beta: Vector) -> Vector:
        """K beta in float64."""
        return weighted(self._distances, self.gamma, beta, self.pool)


def weighted(distances: Vector, gamma: float, beta: Vector, pool: Pool) -> Vector:
    """exp(-gamma distances)' beta, from the rows where beta is not zero; parts are added in a fixed order."""
    support = np.flatnonzero(beta)
    parts = np.zeros((-(-len(support) // ROWS), distances.shape[1]))

    def task(number: int) -> None:
        rows = support[number * ROWS : (number + 1) * ROWS]
        add_rows(distances, gamma, rows, beta[rows], parts[number])

    pool.run(task, len(parts))
    return np.add.reduce(parts, axis=0)
