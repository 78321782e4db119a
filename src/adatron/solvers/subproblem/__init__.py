"""Solvers of small dense quadratic programs: what ``block`` and ``decomposition`` do with their blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...compiled.search import CHUNK
from ...problems import Dual
from ...problems.dual import Vector
from .pairs import pairs
from .singles import singles

__all__ = ["padded", "solve"]


def padded(W: NDArray[np.int64]) -> NDArray[np.int64]:
    """A block made a whole number of CHUNKs long, which the searches need."""
    return np.concatenate([W, np.full(-len(W) % CHUNK, W[0])])


def solve(
    K: NDArray[Any], dual: Dual, beta: Vector, g: Vector, tol: float, steps: int, flag: NDArray[np.int64]
) -> tuple[Vector, int]:
    """The best ``beta`` of a block (to ``tol``), and the updates it took.

    K is the kernel matrix of the ``padded`` block, and is overwritten; dual, beta and g belong to the block alone.
    """
    p, q = len(K), len(dual)
    new, lower, upper, slope = np.zeros((4, p))  # the padding cannot move
    new[:q], lower[:q], upper[:q], slope[:q] = beta, dual.lower, dual.upper, g
    if K.dtype == np.float32 and np.abs(g).max() * 2.0**-20 > 0.1 * tol:
        K = K.astype(np.float64)  # float32 does not resolve this tolerance
    K += K.dtype.type(dual.lambda2)
    run = singles if dual.total is None else pairs
    steps = run(K, new, slope.astype(K.dtype), lower, upper, dual.epsilon, tol, steps, flag)
    return new[:q], steps
