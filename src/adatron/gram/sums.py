"""Weighted sums of kernel values over points that are made ready once, for rows that come later."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..threads.pool import Pool
from .backends.segment import TileSegment, Workspace, uncompiled
from .backends.tile_loop import Weights
from .points import Points
from .source import Source


class Sums:
    """V.T @ K[points, ·] for weights V (m, p), from kernel values of one type; nothing depends on the rows.

    Several threads may use it at the same time.
    """

    def __init__(self, points: Source, V: NDArray[np.float64], dtype: Any, pool: Pool) -> None:
        self._careful = points.careful and np.dtype(dtype) == np.float64
        self.points = points = points.by_differences() if self._careful else points
        if not points.kernel.compiled:
            self._V = V
        else:
            self._workspace = Workspace(points.kernel, dtype)
            self._operand = points.as_points(dtype, pool)
            self._weights = Weights.of(np.arange(len(points)), V)

    def add(self, out: NDArray[np.float64], rows: Source, pool: Pool) -> None:
        """Add the sums for n rows to out (n, p)."""
        rows = rows.by_differences() if self._careful else rows
        if self.points.kernel.compiled:
            TileSegment(rows, self._workspace, pool).add(out, self._operand, self._weights)
        else:
            uncompiled(rows, pool).accumulate(out, Points(self.points, np.arange(len(self.points))), self._V)
