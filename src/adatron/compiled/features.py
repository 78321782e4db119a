"""Sums of linear kernel values through the features: sum_i v_i x_i·x_t = w·x_t, w = sum_i v_i x_i, in float64."""

from __future__ import annotations

from typing import Any

import numpy as np

from .cache.jit import jit
from .panels import PASS_FEATURES, Dense, Sparse
from .sums import two_sum

TOGETHER = 12  # Points whose products are added first; a whole number of blocks on every processor, see ``micro``.


@jit
def spread_dense(points: Any, v: Any, w: Any, low: Any) -> None:
    """Add the sum of v_i x_i to w + low, by TOGETHER points at a time, however many are in a block."""
    panels, width = points.panels, points.panels.shape[2]
    blocks = max(1, TOGETHER // width)
    for first in range(0, len(panels), blocks):
        for k in range(len(w)):
            total = 0.0
            for b in range(first, min(first + blocks, len(panels))):
                for i in range(min(width, points.n - b * width)):
                    total += v[b * width + i] * panels[b, k, i]
            w[k], rounding = two_sum(w[k], total)
            low[k] += rounding


@jit
def gather_dense(rows: Any, w: Any, first: int, last: int, out: Any) -> None:
    """Add w·x_t to out[t] for the rows of some blocks, in passes like those of products."""
    panels, width = rows.panels, rows.panels.shape[2]
    total, part = np.empty(width), np.empty(width)
    for b in range(first, last):
        total.fill(0.0)
        for start in range(0, len(w), PASS_FEATURES):
            part.fill(0.0)
            for k in range(start, min(len(w), start + PASS_FEATURES)):
                line, weight = panels[b, k], w[k]
                for i in range(width):
                    part[i] += weight * line[i]
            for i in range(width):
                total[i] += part[i]
        for i in range(min(width, rows.n - b * width)):
            out[b * width + i] += total[i]


@jit
def spread_sparse(points: Any, v: Any, w: Any, low: Any) -> None:
    """Add the sum of v_i x_i for CSR rows to w + low."""
    for i in range(points.n):
        for e in range(points.indptr[i], points.indptr[i + 1]):
            k = points.indices[e]
            w[k], rounding = two_sum(w[k], v[i] * points.data[e])
            low[k] += rounding


@jit
def gather_sparse(rows: Any, w: Any, first: int, last: int, out: Any) -> None:
    """Add w·x_t to out[t] for the CSR rows of some blocks."""
    for t in range(first * rows.width, min(rows.n, last * rows.width)):
        total = 0.0
        for e in range(rows.indptr[t], rows.indptr[t + 1]):
            total += w[rows.indices[e]] * rows.data[e]
        out[t] += total


SPREAD: dict[type, Any] = {Dense: spread_dense, Sparse: spread_sparse}
GATHER: dict[type, Any] = {Dense: gather_dense, Sparse: gather_sparse}
