"""Weighted sums of kernel values over points that are made ready once, for rows that come later."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..compiled import lines
from ..compiled.micro import rows_width
from ..compiled.panels import TILE, Dense, Sparse, pack, sparse_norms
from ..kernels.columns import renumbered
from ..threads.pool import Pool
from .backends.segment import TileSegment, Workspace, uncompiled
from .backends.tile_loop import Storing, Weights, accumulate
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
            nowhere = Storing(np.empty((0, TILE), dtype), np.full(len(points), -1))
            self._passed = tuple(self._weights), tuple(nowhere)  # plain tuples take less time to pass

    def add(self, out: NDArray[np.float64], rows: Source, pool: Pool) -> None:
        """Add the sums for n rows to out (n, p)."""
        rows = rows.by_differences() if self._careful else rows
        if self.points.kernel.compiled:
            TileSegment(rows, self._workspace, pool).add(out, self._operand, self._weights)
        else:
            uncompiled(rows, pool).accumulate(out, Points(self.points, np.arange(len(self.points))), self._V)

    def add_few(self, out: NDArray[np.float64], X: Any) -> None:
        """Add the same for a few rows on the calling thread, by compiled values; nothing is made beside their operand.

        X : dense rows, or CSR rows in order without stored zeros, as the points are
        """
        space, (weights, nowhere), n = self._workspace, self._passed, X.shape[0]
        width = rows_width(space.dtype)
        blocks = -(-n // width)
        norms = lines.zeros((max(blocks * width, -(-n // TILE) * TILE),), space.dtype)
        if isinstance(X, np.ndarray):
            panels = lines.zeros((blocks, X.shape[1], width), space.dtype)
            pack(X, np.arange(n), self.points.center, panels, norms, 0, blocks)
            rows = Dense(panels, norms, width, n)
        else:
            data, indices = X.data.astype(space.dtype), renumbered(X.indices, self.points.used)
            rows = Sparse(data, indices, X.indptr.astype(np.int64), norms, width, n)
            sparse_norms(rows.data, rows.indptr, norms)
        program, size = space.program(type(rows)), TILE // width
        accumulate(program, self._operand, rows, 0, blocks, size, weights, out, nowhere, space.stack)
