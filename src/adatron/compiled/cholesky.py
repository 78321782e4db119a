"""Cholesky factors: of one small tile, with rows that come and go, and LAPACK's.

The inverse of a tile's factor is the part of a tiled factorisation that no matrix product can do.
"""

from __future__ import annotations

import ctypes
import functools
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

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


@jit
def forward(L: Any, r: Any) -> None:
    """Set r to L^-1 r, for the leading rows of L that r has; two rows in two sums each, or one would wait."""
    m = len(r)
    for k in range(0, m - 1, 2):
        row, below = L[k], L[k + 1]
        a, b, c, d = r[k], r[k + 1], 0.0, 0.0
        for j in range(0, k, 2):
            a -= row[j] * r[j]
            b -= below[j] * r[j]
            c += row[j + 1] * r[j + 1]
            d += below[j + 1] * r[j + 1]
        r[k] = (a - c) / row[k]
        r[k + 1] = (b - d - below[k] * r[k]) / below[k + 1]
    if m % 2:
        row, total = L[m - 1], r[m - 1]
        for j in range(m - 1):
            total -= row[j] * r[j]
        r[m - 1] = total / row[m - 1]


@jit
def backward(L: Any, r: Any) -> None:
    """Set r to L'^-1 r, for the leading rows of L that r has."""
    for k in range(len(r) - 1, -1, -1):
        row = L[k]
        r[k] = r[k] / row[k]
        for j in range(k):
            r[j] -= row[j] * r[k]


@jit
def drop(L: Any, m: int, place: int) -> None:
    """Update a factor of m rows in place: remove the row and the column ``place`` of its matrix.

    The rows below move up; the entry that each then has right of the diagonal is rotated away.
    """
    cosine, sine = np.empty(m), np.empty(m)
    for r in range(place, m - 1):
        row, below = L[r], L[r + 1]
        for j in range(r + 2):
            row[j] = below[j]
        carried = row[place]
        for k in range(place, r):
            right = row[k + 1]
            row[k] = cosine[k] * carried + sine[k] * right
            carried = cosine[k] * right - sine[k] * carried
        length = np.hypot(carried, row[r + 1])
        cosine[r], sine[r] = carried / length, row[r + 1] / length
        row[r] = length
        row[r + 1] = 0.0


@functools.cache
def _dpotrf() -> Any:
    """Return LAPACK's routine by the address that SciPy gives to Cython; SciPy's own holds the interpreter's lock."""
    capsule = vars(import_module("scipy.linalg.cython_lapack"))["__pyx_capi__"]["dpotrf"]
    name, pointer = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
    name.restype, name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    numbers = ctypes.POINTER(ctypes.c_int64)  # LAPACK may read only their lower half
    kind = ctypes.CFUNCTYPE(None, ctypes.c_char_p, numbers, ctypes.c_void_p, numbers, numbers)
    return kind(pointer(capsule, name(capsule)))


def has_factor(A: NDArray[np.float64]) -> bool:
    """Return whether a symmetric matrix, stored by rows, has a Cholesky factor; it replaces the upper half."""
    n, stride, failed = ctypes.c_int64(len(A)), ctypes.c_int64(max(1, len(A))), ctypes.c_int64(0)
    _dpotrf()(b"L", ctypes.byref(n), A.ctypes.data, ctypes.byref(stride), ctypes.byref(failed))
    return failed.value == 0
