"""The Cholesky factor of one small tile, inverted: the part of a tiled factorisation that no matrix product can do."""

from __future__ import annotations

from typing import Any

import numpy as np

from .cache.jit import jit

FROZEN = 1e150  # Stands for the inverse of a pivot's root when the pivot is rounding.


@jit
def invert_factor(A: Any, floor: float) -> None:
    """Replace A (m, m), symmetric and given by its lower half, by the inverse of L, A = L L', with upper half zero.

    A pivot that is at most ``floor`` is replaced by one so large that the solution there is zero: the variable stays
    where it is.
    """
    m = len(A)
    U = np.empty((m, m))  # L', so that the inner loops run along rows
    for i in range(m):
        for j in range(i + 1):
            U[j, i] = A[i, j]
    for k in range(m):
        root = FROZEN
        if U[k, k] > floor:
            root = np.sqrt(U[k, k])
        U[k, k] = root
        for j in range(k + 1, m):
            U[k, j] = U[k, j] / root
        for i in range(k + 1, m):
            factor, row, pivot = U[k, i], U[i], U[k]
            for j in range(i, m):
                row[j] -= factor * pivot[j]
    for i in range(m):
        row = A[i]
        for j in range(m):
            row[j] = 0.0
        for k in range(i):
            factor, above = U[k, i], A[k]
            for j in range(k + 1):
                row[j] -= factor * above[j]
        for j in range(i):
            row[j] = row[j] / U[i, i]
        row[i] = 1.0 / U[i, i]


@jit
def rank_of(K: Any, most: int, floor: float) -> int:
    """Return the number of pivots of K, largest first, before rounding; ``most`` if there are more."""
    n = len(K)
    rest, L = np.empty(n), np.empty((most, n))
    for i in range(n):
        rest[i] = K[i, i]
    largest = 0.0
    for k in range(most):
        i = 0
        for t in range(n):
            if rest[t] > rest[i]:
                i = t
        largest = max(largest, rest[i])
        if not rest[i] > floor * largest:
            return k
        line, root = L[k], np.sqrt(rest[i])
        for t in range(n):
            line[t] = K[i, t]
        for q in range(k):
            factor, other = L[q, i], L[q]
            for t in range(n):
                line[t] -= factor * other[t]
        for t in range(n):
            line[t] /= root
            rest[t] -= line[t] * line[t]
        rest[i] = 0.0
    return most
