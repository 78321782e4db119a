"""Cholesky factors of kernel matrices, in tiles of a fixed size over the pool.

LAPACK's last bits change with its number of threads. Here every tile is one product at one BLAS thread and the order
of the sums is fixed, so the bits do not depend on who computes a tile. Only the lower half is ever touched.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dgetrf, dgetrs, dpotrf, dtrtri  # pyright: ignore[reportAttributeAccessIssue]

from ..compiled.cholesky import invert_factor
from .gate import one_blas_thread
from .gram import View

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
Ids = NDArray[np.int64]
TILE = 192  # rows of a tile
COLUMNS = 32  # right-hand sides that a thread takes at a time
ROUNDING = {4: 2e-6, 8: 1e-13}  # pivots below this part of the largest entry are noise, by bytes of a kernel value


def factor_bytes(n: int, parts: int) -> float:
    """Memory for the tiles of n variables."""
    count = -(-n // (parts * TILE))
    return 8.0 * TILE**2 * parts * count * (count + 1) / 2


class Stopped(Exception):
    """The factorisation was told to stop."""


class Factor:
    """L with L L' = K + shift 11' over all rows of a view, or over ``parts`` diagonal blocks of it.

    One part gives the exact inverse, several a preconditioner that needs only a ``parts``-th of the memory. ``stopped``
    is asked now and then; where it says so, Stopped is raised.
    """

    def __init__(self, view: View, shift: float, parts: int = 1, stopped: Callable[[], bool] = lambda: False) -> None:
        cuts = np.linspace(0, len(view), parts + 1).astype(np.int64).tolist()
        self.spans = list(pairwise(cuts))
        with one_blas_thread():
            self.parts = [_Part(view, np.arange(a, b), shift, stopped) for a, b in self.spans]

    @property
    def exact(self) -> bool:
        return len(self.parts) == 1

    def solve(self, r: Vector, held: Ids) -> Vector:
        """The x that minimises x'LL'x/2 - r'x among those that are zero at ``held``."""
        x = np.empty_like(r)
        with one_blas_thread():
            for (a, b), part in zip(self.spans, self.parts, strict=True):
                x[a:b] = part.solve(r[a:b, None], held[(held >= a) & (held < b)] - a)[:, 0]
        x[held] = 0.0
        return x


class _Part:
    def __init__(self, view: View, rows: Ids, shift: float, stopped: Callable[[], bool]) -> None:
        self.n, self.pool = len(rows), view.gram.pool
        self.count = -(-self.n // TILE)
        self.tiles = np.empty((self.count * (self.count + 1) // 2, TILE, TILE))  # the lower half, row after row
        for i in range(self.count):
            self._fill(i, view, rows, shift)
        self.held: Ids = np.empty(0, np.int64)
        self.H = np.empty((self.n, 0))
        self.cross: tuple[Matrix, Ids] = np.empty((0, 0)), np.empty(0, np.int64)
        floor = ROUNDING[view.gram.dtype.itemsize] * (view.magnitude + shift)
        for k in range(self.count):
            if stopped():
                raise Stopped
            self._eliminate(k, floor)

    def _tile(self, i: int, j: int) -> Matrix:
        return self.tiles[i * (i + 1) // 2 + j]

    def _fill(self, i: int, view: View, rows: Ids, shift: float) -> None:
        """Row i of the tiles; the padding of the last one is a unit matrix."""
        some, before = rows[i * TILE : (i + 1) * TILE], rows[: (i + 1) * TILE]
        K = view.block(view.points(some), view.points(before))
        for j in range(i + 1):
            part = K[:, j * TILE : (j + 1) * TILE]
            tile = self._tile(i, j)
            tile[:] = np.eye(TILE) if i == j else 0.0
            tile[: part.shape[0], : part.shape[1]] = part
            tile[: part.shape[0], : part.shape[1]] += shift

    def _eliminate(self, k: int, floor: float) -> None:
        """Column k of L, and what it takes from the columns behind. A diagonal tile keeps the inverse of its L."""
        diagonal = self._tile(k, k)
        L, failed = dpotrf(diagonal, lower=1, clean=1)
        if failed or (np.diagonal(L) ** 2 <= floor).any():
            invert_factor(diagonal, floor)  # tells rounding from pivots
        else:
            diagonal[:] = dtrtri(L, lower=1)[0]
        behind = self.count - k - 1

        def column(number: int) -> None:
            tile = self._tile(k + 1 + number, k)
            tile[:] = np.dot(tile, diagonal.T)

        def update(number: int) -> None:
            i = self.count - 1 - number  # the longest rows first
            for j in range(k + 1, i + 1):
                tile = self._tile(i, j)
                tile -= np.dot(self._tile(i, k), self._tile(j, k).T)

        self.pool.run(column, behind)
        self.pool.run(update, behind)

    def solve(self, B: Matrix, held: Ids) -> Matrix:
        Y = self._forward(B)
        if len(held):  # (LL')^-1 over the other rows: leave out what the L^-1 e_i of these span
            self._hold(held)
            weights, _ = dgetrs(*self.cross, np.dot(self.H.T, Y))
            Y -= np.dot(self.H, weights)
        return self._backward(Y)

    def _hold(self, held: Ids) -> None:
        """Make H, L^-1 e_i for the rows i that are held, and the LU factors of H'H: mostly those of the last round."""
        if not np.isin(self.held, held).all():
            self.held, self.H = self.held[:0], self.H[:, :0]
        new = np.setdiff1d(held, self.held)
        if not len(new):
            return
        E = np.zeros((self.n, len(new)))
        E[new, np.arange(len(new))] = 1.0
        self.held, self.H = np.concatenate([self.held, new]), np.concatenate([self.H, self._forward(E)], axis=1)
        self.cross = dgetrf(np.dot(self.H.T, self.H))[:2]

    def _forward(self, B: Matrix) -> Matrix:
        """L^-1 B."""
        Y = self._padded(B)

        def some(columns: slice) -> None:
            first = int(np.argmax(Y[:, :, columns].any(axis=(1, 2))))
            for i in range(first, self.count):
                rest = Y[i][:, columns]
                for j in range(first, i):
                    rest -= np.dot(self._tile(i, j), Y[j][:, columns])
                rest[:] = np.dot(self._tile(i, i), rest)

        return self._by_columns(some, Y)

    def _backward(self, B: Matrix) -> Matrix:
        """L'^-1 B."""
        X = self._padded(B)

        def some(columns: slice) -> None:
            for i in reversed(range(self.count)):
                rest = X[i][:, columns]
                rest[:] = np.dot(self._tile(i, i).T, rest)
                for j in range(i):
                    X[j][:, columns] -= np.dot(self._tile(i, j).T, rest)

        return self._by_columns(some, X)

    def _padded(self, B: Matrix) -> NDArray[np.float64]:
        """B in tiles of rows, (count, TILE, p)."""
        zeros = np.zeros((self.count * TILE - self.n, B.shape[1]))
        return np.concatenate([B, zeros]).reshape(self.count, TILE, B.shape[1])

    def _by_columns(self, some: Callable[[slice], None], Y: NDArray[np.float64]) -> Matrix:
        p = Y.shape[2]
        self.pool.run(lambda c: some(slice(c * COLUMNS, (c + 1) * COLUMNS)), -(-p // COLUMNS))
        return Y.reshape(self.count * TILE, p)[: self.n]
