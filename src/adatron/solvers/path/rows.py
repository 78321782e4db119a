"""Rows of H of the free variables, with spare rows and columns, so that samples come and go cheaply."""

from __future__ import annotations

from copy import copy

import numpy as np
from numpy.typing import NDArray

from ...arrays import Ids, Vector
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
