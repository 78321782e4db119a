"""The artificial problems of section 4.1: mirror symmetry, n-parity, two spirals."""

from __future__ import annotations

from itertools import product

import numpy as np

from adatron.arrays import Vector

TURNS = 97  # Points of a spiral.


def mirror_symmetry(m: int, n: int, rng: np.random.Generator, unlike: Vector | None = None) -> tuple[Vector, Vector]:
    """Draw strings of n entries ±1: the second half mirrors the first one (y = 1) or is random (y = -1), half of each.

    Parameters
    ----------
    m : number of strings that are drawn
    unlike : strings that are left out; for a test set those of the training set
    """
    y = np.where(rng.random(m) < 0.5, 1.0, -1.0)
    X = rng.choice([-1.0, 1.0], (m, n))
    mirrored = np.flatnonzero(y > 0)
    X[mirrored, n - n // 2 :] = X[mirrored, : n // 2][:, ::-1]
    if unlike is None:
        return X, y
    known = {row.tobytes() for row in unlike}
    new = np.array([row.tobytes() not in known for row in X])
    return X[new], y[new]


def parity(n: int) -> tuple[Vector, Vector]:
    """Return all 2^n strings of ±1, and the product of their entries."""
    X = np.array(list(product([-1.0, 1.0], repeat=n)))
    return X, np.prod(X, axis=1)


def two_spirals() -> tuple[Vector, Vector]:
    """Return the 194 points of the CMU benchmark: a spiral of three turns, and its mirror image."""
    i = np.arange(TURNS, dtype=np.float64)
    angle, radius = i * np.pi / 16.0, 6.5 * (104 - i) / 104.0
    one = np.column_stack([radius * np.sin(angle), radius * np.cos(angle)])
    return np.vstack([one, -one]), np.repeat([1.0, -1.0], TURNS)
