"""Inner products of φ(x) + e'ψ(x), ψ = ∂φ/∂x, in the kernel's space.

For x_i, e_i and z_j, e_j they are k + e_j'k_z + e_i'k_x + e_i' k_xz e_j in the notation of ``field``. All matrices are
n x m; n d x m d ones are never made.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Vector
from ..kernels import Kernel
from ..kernels.derivatives import jet
from .field import PointTiles


@dataclass(frozen=True)
class TiltedElements:
    """The elements φ(x_i) + e_i'ψ(x_i).

    points, tilts : (n, d)
    """

    points: Vector
    tilts: Vector


def products(kernel: Kernel, left: TiltedElements, right: TiltedElements) -> Vector:
    """Return inner products of all pairs, (n, m)."""
    X, E, Z, F = left.points, left.tilts, right.points, right.tilts
    k, s, D, ss, sD, DD = PointTiles(kernel, Z).jet(jet(kernel), 6, X)
    ex, ez = np.einsum("id,id->i", E, X)[:, None], E @ Z.T
    fx, fz = X @ F.T, np.einsum("jd,jd->j", F, Z)
    er, fr = ex - ez, fx - fz  # r is x_i - z_j
    first = k + s * (fx + ez) + 2.0 * D * (er - fr)
    return first + (s - 2.0 * D) * (E @ F.T) + ez * (ss * fx - 2.0 * sD * fr) + 2.0 * er * (sD * fx - 2.0 * DD * fr)
