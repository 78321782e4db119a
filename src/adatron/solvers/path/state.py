"""The state of a path: the free variables and their rows of H, the variables at knots, and the moves between both."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ...arrays import Ids, Matrix, Vector
from ...problems import Dual
from ..linalg.bordered import PIVOT_FLOOR, Margin
from .step import add_rows, row_products

FEWEST_SPARE = 16  # Fewest spare rows and columns; otherwise an eighth of the size.


def spare(size: int) -> int:
    """Return ``size`` entries and some spare ones."""
    return size + max(FEWEST_SPARE, size // 8)


def compaction(n: int, gone: Ids) -> Ids:
    """Return the order of n entries without some: those at the end move into the holes, others keep their place.

    Parameters
    ----------
    gone : sorted, each once
    """
    left = n - len(gone)
    order = np.arange(left)
    order[gone[gone < left]] = np.setdiff1d(np.arange(left, n), gone, assume_unique=True)
    return order


class FreeRows:
    """A table of rows of H, row ``where[k]`` being that of the k-th free variable, whose number is ``ids[k]``.

    Parameters
    ----------
    n : columns
    """

    def __init__(self, n: int) -> None:
        self.n, self.m = n, 0
        self.values = np.zeros((FEWEST_SPARE, spare(n)))
        self._where, self._ids = np.zeros((2, FEWEST_SPARE), np.int64)

    @property
    def ids(self) -> Ids:
        return self._ids[: self.m]

    @property
    def where(self) -> Ids:
        return self._where[: self.m]

    @property
    def table(self) -> NDArray[np.float64]:
        """H_F in the order of ``ids``."""
        return self.values[self.where, : self.n]

    def row(self, k: int) -> Vector:
        return self.values[self._where[k], : self.n]

    def append(self, one: int, row: Vector) -> None:
        if self.m == len(self.values):
            more = spare(self.m) - self.m
            self.values = np.pad(self.values, ((0, more), (0, 0)))
            self._where, self._ids = np.pad(self._where, (0, more)), np.pad(self._ids, (0, more))
        self.values[self.m, : self.n] = row
        self._where[self.m], self._ids[self.m] = self.m, one
        self.m += 1

    def remove(self, k: int) -> None:
        """Let the k-th row go; the last one of the table takes its place."""
        hole, self.m = self._where[k], self.m - 1
        for table in (self._where, self._ids):
            table[k : self.m] = table[k + 1 : self.m + 1]
        if hole != self.m:
            self.values[hole] = self.values[self.m]
            self._where[np.flatnonzero(self.where == self.m)[0]] = hole
        self.values[self.m] = 0.0

    def times(self, d: Vector) -> Vector:
        """Return H_F' d."""
        out = np.zeros(self.n)
        add_rows(self.values, self.where, d, out)
        return out

    def products(self, beta: Vector) -> Vector:
        """Return H_F beta."""
        out = np.empty(self.m)
        row_products(self.values, self.where, beta, out)
        return out

    def widen(self, columns: NDArray[np.float64]) -> None:
        """Append columns (k, m free variables) for new variables."""
        n = self.n + len(columns)
        if n > self.values.shape[1]:
            self.values = np.pad(self.values, ((0, 0), (0, spare(n) - self.values.shape[1])))
        self.values[self.where, self.n : n] = columns.T
        self.n = n

    def drop(self, order: Ids) -> None:
        """Keep the columns in ``order``, which ``compaction`` gave."""
        left = len(order)
        holes = np.flatnonzero(order != np.arange(left))
        number = np.arange(self.n)
        number[order] = np.arange(left)
        self._ids[: self.m] = number[self.ids]
        self.values[: self.m, holes] = self.values[: self.m, order[holes]]
        self.values[: self.m, left : self.n] = 0.0  # nothing of a sample that is to be forgotten stays
        self.n = left

    def copy(self, used: FreeRows | None = None) -> FreeRows:
        """Return another table; one that is no longer needed gives its memory, since new memory costs more."""
        other, shape = copy(self), (self.m + FEWEST_SPARE, self.n)
        other.values = used.values if used is not None and used.values.shape == shape else np.empty(shape)
        other.values[: self.m] = self.values[: self.m, : self.n]
        other._where, other._ids = np.empty((2, self.m + FEWEST_SPARE), np.int64)
        other._where[: self.m], other._ids[: self.m] = self.where, self.ids
        return other


RowsOf = Callable[[Ids], NDArray[np.float64]]
SNAP = 1e-12  # Fraction of the largest variable; a variable nearer to a knot than this is at the knot.
ROWS_ASKED = 256  # Rows of H that are asked for at a time.


NO_PATH = (
    "Rounding leaves no way to the solution of these data. Features on very different scales and a huge C are the "
    "usual causes: scale the features, or lower C."
)


class Stalled(ArithmeticError):
    """Rounding blocks the way; the program must be solved anew."""

    def __init__(self) -> None:
        super().__init__(NO_PATH)


class PathState:
    """Free variables, with a factor of their margin system and their rows of H, and those at knots.

    A knot is a bound, or 0 where it is a kink. Parameters and attributes are those of ``Homotopy``.
    """

    def __init__(self, rows: RowsOf, dual: Dual, beta: Vector, g: Vector) -> None:
        self._rows = rows
        self.beta, self.g = np.clip(beta, dual.lower, dual.upper), g.copy()
        if np.abs(self.beta - beta).max(initial=0.0) > SNAP * np.abs(beta).max(initial=0.0):
            raise Stalled  # compiled steps take the pieces between bounds as indices
        self.largest = 0.0  # entry of H seen
        n = len(dual)
        self._load(dual)
        self.free = FreeRows(n)
        self.margin = Margin(len(dual.totals), 1.0, PIVOT_FLOOR[8])
        self.piece, self.at = np.full((2, n), -1)
        for k in range(len(self.knots) - 1, -1, -1):
            self.at[self.beta == self.knots[k]] = k
        self.mu = self._multipliers()
        self._settle(np.arange(n))
        for one in np.flatnonzero(self.at < 0):
            self._enter(int(one), self._between(int(one)), 1)

    @property
    def ids(self) -> Ids:
        """The free variables."""
        return self.free.ids

    def _load(self, dual: Dual) -> None:
        self.dual = dual
        self.knots, self.slopes = knots_of(dual)
        self.sums = np.array(dual.totals)
        self.border = np.zeros((len(dual), len(dual.totals)))
        for r, tie in enumerate(dual.ties() if dual.totals else []):
            self.border[tie, r] = 1.0 if dual.sign is None else dual.sign[tie]
        self.rate_knots, self.rate_product = np.zeros_like(self.knots), np.zeros(len(dual))

    def _between(self, one: int) -> int:
        """Return the knot to the left of a variable that is not at a knot."""
        return int(np.searchsorted(self.knots[:, one], self.beta[one])) - 1

    def _multipliers(self) -> Vector:
        """Return multipliers that make the gradients of the variables between knots even, or else lie in the middle."""
        mu = np.zeros(len(self.sums))
        for r, a in enumerate(self.border.T):
            loose = np.flatnonzero((a != 0.0) & (self.at < 0))
            if len(loose):
                slopes = self.slopes[[self._between(int(one)) for one in loose]]
                mu[r] = np.mean(-a[loose] * (self.g[loose] + slopes))
                continue
            least, most = self._slack(r)
            ends = np.array([np.max(least, initial=-np.inf), np.min(most, initial=np.inf)])
            ends = ends[np.isfinite(ends)]
            mu[r] = ends.mean() if len(ends) else 0.0
        return mu

    def _slack(self, r: int) -> tuple[Vector, Vector]:
        """Return the interval of an equality's multiplier that each of its variables, at a knot, allows."""
        a = self.border[:, r]
        mine = np.flatnonzero(a != 0.0)
        low, high = self._ends(mine)
        first, last = -self.g[mine] - high, -self.g[mine] - low  # low <= -(g + a mu) <= high
        return np.where(a[mine] > 0, first, -last), np.where(a[mine] > 0, last, -first)

    def _ends(self, ids: Ids) -> tuple[Vector, Vector]:
        """Return the bounds of -h for variables at knots: the slopes to the left and to the right."""
        slopes = np.concatenate([[-np.inf], self.slopes, [np.inf]])
        return slopes[self.at[ids]], slopes[self.at[ids] + 1]

    def _settle(self, ids: Ids) -> None:
        """Change the targets of some variables so that their ``beta`` is right."""
        h = (self.g + self.border @ self.mu)[ids]
        right = np.array([-self.slopes[self._between(int(one))] if self.at[one] < 0 else 0.0 for one in ids])
        low, high = self._ends(ids)
        right = np.where(self.at[ids] < 0, right, -np.clip(-h, low, high))
        t = self.dual.t.copy()
        t[ids] -= right - h
        self.g[ids] += right - h
        self.dual = replace(self.dual, t=t)

    def _rate_fixed(self) -> Vector:
        """Return the rates of the variables at knots, 0 for the free ones."""
        fixed = self.at >= 0
        out = np.zeros(len(self.beta))
        out[fixed] = self.rate_knots[self.at[fixed], np.flatnonzero(fixed)]
        return out

    def _product(self, v: Vector) -> Vector:
        """Return H v."""
        out, ids = np.zeros(len(v)), np.flatnonzero(v)
        for start in range(0, len(ids), ROWS_ASKED):
            part = ids[start : start + ROWS_ASKED]
            rows = self._rows(part)
            add_rows(rows, np.arange(len(part)), v[part], out)
            self.largest = max(self.largest, float(np.abs(rows[np.arange(len(part)), part]).max()))
        return out + self.dual.lambda2 * v.sum()

    def _leave_knot(self, one: int, side: int) -> None:
        self._enter(one, int(self.at[one]) if side > 0 else int(self.at[one]) - 1, side)

    def _enter(self, one: int, piece: int, side: int) -> None:
        """Make a variable free; if it depends on the free ones, they move until there is room."""
        row = self._rows(np.array([one]))[0] + self.dual.lambda2
        self.largest = max(self.largest, float(row[one]))
        if not len(self.ids):
            self.margin = Margin(len(self.sums), self.largest or 1.0, PIVOT_FLOOR[8])
        while not self.margin.append(row[self.ids], float(row[one]), self.border[one]):
            if self._give_way(one, piece, side, row):
                return
        if self.at[one] >= 0 and (rate := self.rate_knots[self.at[one], one]) != 0.0:
            self.rate_product -= rate * row
        self.free.append(one, row)
        self.piece[one], self.at[one] = piece, -1

    def _give_way(self, one: int, piece: int, side: int, row: Vector) -> bool:
        """Move a variable that depends on the free ones with them, at no curvature, until the first meets a knot.

        Return True if that is the variable itself.
        """
        d, mu = self.margin.along(side * row[self.ids], side * self.border[one])
        length, at, knot = self._room(d)
        end = piece + 1 if side > 0 else piece
        own = abs(float(self.knots[end, one] - self.beta[one]))
        if not np.isfinite(min(length, own)):
            raise Stalled
        self.beta[self.ids] += min(length, own) * d
        self.mu += min(length, own) * mu
        self.g += min(length, own) * (self.free.times(d) + side * row)
        if own > length:
            self.beta[one] += length * side
            self._leave(int(self.ids[at]), knot)
            return False
        before = self.rate_knots[self.at[one], one] if self.at[one] >= 0 else 0.0
        self.rate_product += (self.rate_knots[end, one] - before) * row
        self.beta[one], self.at[one] = self.knots[end, one], end
        return True

    def _room(self, d: Vector) -> tuple[float, int, int]:
        """Return how far the free variables can move along d, the one that ends the move, and its knot."""
        if not len(d):
            return np.inf, -1, -1
        ids = self.ids
        knot = self.piece[ids] + (d > 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(d != 0.0, (self.knots[knot, ids] - self.beta[ids]) / d, np.inf)
        room = np.maximum(room, 0.0)
        at = int(np.argmin(room))
        return float(room[at]), at, int(knot[at])

    def _leave(self, one: int, knot: int) -> None:
        """Hold a free variable at the knot that it has met."""
        k = int(np.flatnonzero(self.ids == one)[0])
        if (rate := self.rate_knots[knot, one]) != 0.0:
            self.rate_product += rate * self.free.row(k)
        self.free.remove(k)
        self.margin.remove(k)
        self.piece[one], self.at[one] = -1, knot
        self.beta[one] = self.knots[knot, one]

    def _snap(self) -> None:
        """Hold free variables that differ from a knot by rounding, or have no room, there: b is then an interval."""
        ids, piece, near = self.ids, self.piece[self.ids], SNAP * np.abs(self.beta).max(initial=0.0)
        low, high = self.knots[piece, ids], self.knots[piece + 1, ids]
        above = high - self.beta[ids] <= near
        for k in np.flatnonzero(above | (self.beta[ids] - low <= near))[::-1]:
            self._leave(int(ids[k]), int(piece[k] + above[k]))


def knots_of(dual: Dual) -> tuple[Matrix, Vector]:
    """Return the bounds and kinks of each variable's term, (2 or 3, n), and the slopes between them."""
    if dual.epsilon:
        return np.stack([dual.lower, np.zeros(len(dual)), dual.upper]), np.array([-dual.epsilon, dual.epsilon])
    return np.stack([dual.lower, dual.upper]), np.zeros(1)
