"""Rows and sums of a Gaussian kernel from squared distances."""

from __future__ import annotations

from typing import Any

import numpy as np

from adatron.compiled.cache.jit import jit
from adatron.compiled.exp import decay
from adatron.compiled.search import CHUNK


@jit
def fill_rows(distances: Any, gamma: float, rows: Any, out: Any) -> None:
    """Set out[i] to exp(-gamma distances[rows[i]]); out is as wide as whole CHUNKs."""
    n = distances.shape[1]
    for i in range(len(rows)):
        row, values = distances[rows[i]], out[i]
        for t in range(n):
            values[t] = row[t]
        decay(values, gamma, len(values))
        values[n:] = 0.0


@jit
def add_gaussians(distances: Any, gamma: float, rows: Any, weights: Any, out: Any) -> None:
    """Add the sum over i of weights[i] exp(-gamma distances[rows[i]]) to out."""
    n = len(out)
    values = np.zeros(-(-n // CHUNK) * CHUNK)
    for i in range(len(rows)):
        row, weight = distances[rows[i]], weights[i]
        for t in range(n):
            values[t] = row[t]
        decay(values, gamma, len(values))
        for t in range(n):
            out[t] += weight * values[t]
