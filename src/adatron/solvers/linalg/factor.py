"""Cholesky factors of kernel matrices, in tiles of a fixed size over the pool.

LAPACK's last bits change with its number of threads. Here every tile is one product at one BLAS thread, and the order
of the sums is fixed. So the bits do not depend on the thread that computes a tile. Only the lower half is made. Each of
its rows of tiles is transposed, so that everything before a tile is one piece of memory and one product. The tiles have
the precision of the kernel values: float32 tiles give a preconditioner, not a solution.

A factor serves while variables leave and join. Variables at zero get multipliers; variables that join are unknowns:
with H = L^-1 [B, E_held] for the joined columns B = K[:, joined],

    (H'H - [C 0; 0 0]) w = H' L^-1 r - [r_joined; 0],        x = L'^-1 (L^-1 r - H w),        C = K[joined, joined].
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dgetrf, dgetrs, get_lapack_funcs  # pyright: ignore[reportAttributeAccessIssue]

from ...arrays import Ids
from ...compiled.cholesky import invert_factor
from ...gram import View
from ...threads.gate import one_blas_thread

TileMatrix = NDArray[Any]  # in the precision of the tiles
FACTOR_TILE = 256  # Rows of a tile.
SIDES_TOGETHER, SIDES_ALONE = 32, 4  # Right-hand sides that a thread takes at a time; so few are taken one by one.
PIVOT_NOISE = {4: 2e-6, 8: 1e-13}  # Fraction of the largest entry below which a pivot is noise, by bytes of a value.


def factor_bytes(n: int, parts: int, itemsize: int) -> float:
    """Return the memory for the tiles of n variables, and for a copy of the last row of them, which is narrow."""
    count = -(-n // (parts * FACTOR_TILE))
    return itemsize * FACTOR_TILE**2 * (parts * count * (count + 1) / 2 + count)


class Stopped(Exception):
    """The factorisation was told to stop."""


class Factor:
    """L with L L' = K + shift 11' over all rows of a view, or over ``parts`` diagonal blocks of it.

    One part in float64 gives the exact inverse. float32, or several parts, give a preconditioner; several parts need
    only a ``parts``-th of the memory. ``stopped`` is asked now and then; if it says so, Stopped is raised. ``ridge`` is
    added to the diagonal.
    """

    def __init__(
        self,
        view: View,
        shift: float,
        parts: int = 1,
        stopped: Callable[[], bool] = lambda: False,
        ridge: NDArray[np.float64] | None = None,
    ) -> None:
        ridge = np.zeros(len(view)) if ridge is None else ridge
        cuts = np.linspace(0, len(view), parts + 1).astype(np.int64).tolist()
        self.spans = list(pairwise(cuts))
        self.exact = parts == 1 and view.gram.dtype == np.float64
        with one_blas_thread():
            self.parts = [_DiagonalBlock(view, np.arange(a, b), shift, stopped, ridge[a:b]) for a, b in self.spans]

    @property
    def changes(self) -> int:
        """The number of variables that are or were held, and of those that have joined."""
        return sum(part.H.shape[1] for part in self.parts)

    def join(self, view: View, shift: float) -> None:
        """Serve all rows of a longer view, which begins with those of the factor; for one part alone."""
        with one_blas_thread():
            self.parts[0].join(view, shift)
        self.spans = [(0, len(view))]

    def solve(self, R: NDArray[np.float64], held: Ids) -> NDArray[np.float64]:
        """Return, for every column r, the x that minimises x'LL'x/2 - r'x among those that are zero at ``held``."""
        X = np.empty_like(R)
        with one_blas_thread():
            for (a, b), part in zip(self.spans, self.parts, strict=True):
                X[a:b] = part.solve(R[a:b], held[(held >= a) & (held < b)] - a)
        X[held] = 0.0
        return X


class _DiagonalBlock:
    """A factor, and the columns H of the variables ``beside`` it: those held and those that have joined."""

    def __init__(
        self, view: View, rows: Ids, shift: float, stopped: Callable[[], bool], ridge: NDArray[np.float64]
    ) -> None:
        self.n, self.pool = len(rows), view.gram.pool
        self.dtype = view.gram.dtype
        self.count = -(-self.n // FACTOR_TILE)
        self.rows: list[TileMatrix] = []  # rows of tiles, each transposed
        for end in range(FACTOR_TILE, self.n + FACTOR_TILE, FACTOR_TILE):
            row = view.block(view.points(rows[:end]), view.points(rows[end - FACTOR_TILE : end]))
            if shift:
                row += self.dtype.type(shift)
            own = ridge[end - FACTOR_TILE : end].astype(self.dtype)
            row[np.arange(end - FACTOR_TILE, end - FACTOR_TILE + len(own)), np.arange(len(own))] += own
            self.rows.append(row)
        self.size = self.n
        self.beside: Ids = np.empty(0, np.int64)
        self.H: TileMatrix = np.empty((self.n, 0), self.dtype)
        self.cross = np.empty((0, 0))  # H'H - C
        self.used: tuple[Ids, Any] = self.beside, None  # and the LU factors of their part of ``cross``
        self.floor = floor = PIVOT_NOISE[self.dtype.itemsize] * (view.magnitude + shift)
        for k in range(self.count):
            if stopped():
                raise Stopped
            self._eliminate(k, floor)

    def _eliminate(self, k: int, floor: float) -> None:
        """Compute column k of L: subtract all earlier columns in one product. A diagonal tile keeps L'^-1."""
        before, here = self._places(k)
        above, diagonal = self.rows[k][before], self.rows[k][here]

        def update(number: int) -> None:
            row = self.rows[k + number]
            row[here] -= np.dot(above.T, row[before])

        def divide(number: int) -> None:
            row = self.rows[k + 1 + number]
            row[here] = np.dot(diagonal.T, row[here])

        if k:
            self.pool.run(update, self.count - k)
        potrf, trtri = get_lapack_funcs(("potrf", "trtri"), dtype=self.dtype)
        L, failed = potrf(diagonal, lower=1, clean=1)
        if failed or (np.diagonal(L) ** 2 <= floor).any():
            wide = diagonal.astype(np.float64)
            invert_factor(wide, floor)  # tells rounding from pivots
            diagonal[:] = wide.T
        else:
            diagonal[:] = trtri(L, lower=1)[0].T
        self.pool.run(divide, self.count - k - 1)

    def _places(self, i: int) -> tuple[slice, slice]:
        """Return the variables before a diagonal tile, and its own."""
        return slice(0, i * FACTOR_TILE), slice(i * FACTOR_TILE, min((i + 1) * FACTOR_TILE, self.n))

    def join(self, view: View, shift: float) -> None:
        """Take the rows of the view behind those that are known."""
        new, old = np.arange(self.size, len(view)), np.arange(self.n)
        points, known = view.points(new), len(self.beside)
        self._add(new, view.block(view.points(old), points) + self.dtype.type(shift))
        joined = np.flatnonzero(self.beside >= self.n)
        corner = view.block(view.points(self.beside[joined]), points) + shift
        corner[-len(new) :] += self.floor * np.eye(len(new))  # distinguishes a copy of a known row from that row
        self.cross[joined, known:] -= corner
        self.cross[known:, joined[: -len(new)]] -= corner[: -len(new)].T
        self.size = len(view)

    def solve(self, R: NDArray[np.float64], held: Ids) -> NDArray[np.float64]:
        inside = held[held < self.n]
        new = np.setdiff1d(inside, self.beside)
        if len(new):
            E = np.zeros((self.n, len(new)), self.dtype)
            E[new, np.arange(len(new))] = 1.0
            self._add(new, E)
        Y = self._forward(R[: self.n])
        X = np.zeros(R.shape)
        active = np.isin(self.beside, inside) | ((self.beside >= self.n) & ~np.isin(self.beside, held))
        use = np.flatnonzero(active & (np.diagonal(self.cross) != 0.0))  # a frozen variable is held as it is
        if len(use):
            if not np.array_equal(use, self.used[0]):
                self.used = use, dgetrf(self.cross[np.ix_(use, use)])[:2]
            H, joined = self.H[:, use], self.beside[use] >= self.n
            target = np.dot(H.T, Y).astype(np.float64)
            target[joined] -= R[self.beside[use[joined]]]
            weights = dgetrs(*self.used[1], target)[0]
            Y -= np.dot(H, weights.astype(self.dtype))
            X[self.beside[use[joined]]] = weights[joined]
        X[: self.n] = self._backward(Y)
        return X

    def _add(self, new: Ids, columns: TileMatrix) -> None:
        """Add columns to H."""
        N = self._forward(columns)
        across = np.dot(self.H.T, N)
        self.beside, self.H = np.concatenate([self.beside, new]), np.concatenate([self.H, N], axis=1)
        self.cross = np.block([[self.cross, across], [across.T, np.dot(N.T, N)]])

    def _forward(self, B: TileMatrix) -> TileMatrix:
        """Return L^-1 B."""
        Y = B.astype(self.dtype)

        def some(columns: slice) -> None:
            part = Y[:, columns]
            first = int(np.argmax(part.any(axis=1))) // FACTOR_TILE
            for i in range(first, self.count):
                before, here = self._places(i)
                known = slice(first * FACTOR_TILE, before.stop)
                rest = part[here] - np.dot(self.rows[i][known].T, part[known])
                part[here] = np.dot(self.rows[i][here].T, rest)

        self._by_columns(some, Y)
        return Y

    def _backward(self, B: TileMatrix) -> TileMatrix:
        """Return L'^-1 B."""
        X = B.astype(self.dtype)

        def some(columns: slice) -> None:
            part = X[:, columns]
            for i in reversed(range(self.count)):
                before, here = self._places(i)
                part[here] = np.dot(self.rows[i][here], part[here])
                part[before] -= np.dot(self.rows[i][before], part[here])

        self._by_columns(some, X)
        return X

    def _by_columns(self, some: Callable[[slice], None], Y: TileMatrix) -> None:
        """Run over the right-hand sides, several for each thread; a few are taken one by one."""
        width = SIDES_TOGETHER if Y.shape[1] > SIDES_ALONE else 1
        self.pool.run(lambda c: some(slice(c * width, (c + 1) * width)), -(-Y.shape[1] // width))
