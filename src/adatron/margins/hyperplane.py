"""Transfer of a decision function to other bases (section 3.5 of S. Akaho, Maximizing the margin in the input space).

The projections of the samples have moved, and with them the bases φ(x̂_i), ψ(x̂_i) of the support vectors. 'values'
keeps the decision values: it solves least squares over the samples, the old bases and the new projections (eq. 18). It
takes the solution of least norm, as the equations are often rank deficient. 'all_values' has the old projections of all
samples, as eq. 18 has, and not only those of the support vectors. 'normal' keeps ω: the least ‖ω_new - ω_old‖, and f0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import lstsq

from ..kernels import Kernel
from ..kernels.derivatives import Jet, jet
from ..threads import Pool
from .field import Field, PointTiles, Vector

CUT = 1e-9  # Fraction of the largest singular value below which a singular value is 0.


def unknowns(n_bases: int, d: int) -> int:
    """Return the number of coefficients of ``n_bases`` bases, and of f0."""
    return n_bases * (1 + d) + 1


def equations(n: int, support: int, hyperplane: str) -> int:
    """Return the largest number of points at which the decision values are kept."""
    return 3 * n if hyperplane == "all_values" else 2 * n + support


def by_values(old: Field, bases: Vector, at: Vector, pool: Pool) -> Field:
    """Return the function over new bases (s, d) whose values at the rows of ``at`` are closest to the old ones."""
    A = np.column_stack([_evaluations(old.kernel, bases, at), np.ones(len(at))])
    solution = _least(A, old.values(at, pool))
    return _made(old.kernel, bases, solution[:-1], float(solution[-1]))


def by_normal(old: Field, bases: Vector, pool: Pool) -> Field:
    """Return the function over new bases (s, d) whose normal is closest to the old one."""
    p, q = old.slopes(bases, pool)
    right = np.concatenate([p - old.f0, q.ravel()])
    solution = _least(_gram(old.kernel, bases), right)
    return _made(old.kernel, bases, solution, old.f0)


def _least(A: Vector, right: Vector) -> Vector:
    """Return the least squares solution of least norm, without weak directions: they only make ω large."""
    found: Any = lstsq(A, right, cond=CUT, lapack_driver="gelsd", overwrite_a=True)
    return found[0]


def _made(kernel: Kernel, bases: Vector, coefficients: Vector, f0: float) -> Field:
    s = len(bases)
    return Field(kernel, bases, coefficients[:s].copy(), f0, coefficients[s:].reshape(bases.shape).copy())


def _evaluations(kernel: Kernel, bases: Vector, at: Vector) -> Vector:
    """Return k(z_j, x) and all ∂k/∂z_j, (|at|, s (1 + d)), s columns and then d for each basis."""
    k, s, D = PointTiles(kernel, bases).jet(jet(kernel), 3, at)[:3]
    slopes = (s - 2.0 * D)[:, :, None] * at[:, None] + 2.0 * D[:, :, None] * bases
    return np.concatenate([k, slopes.reshape(len(at), -1)], axis=1)


def _gram(kernel: Kernel, bases: Vector) -> Vector:
    """Return inner products of all φ(z_j) and ψ(z_j), (s (1 + d), s (1 + d))."""
    n, d = bases.shape
    derivatives: Jet = jet(kernel)
    _, s, D, ss, sD, DD = (m[:, :, None, None] for m in PointTiles(kernel, bases).jet(derivatives, 6, bases))
    top = _evaluations(kernel, bases, bases)  # φ(z_i) with φ(z_j) and ψ(z_j)
    x, z = bases[:, None, :], bases[None, :, :]
    r = x - z
    outer = z[..., :, None] * (ss * x[..., None, :] - 2.0 * sD * r[..., None, :])
    outer = outer + 2.0 * r[..., :, None] * (sD * x[..., None, :] - 2.0 * DD * r[..., None, :])
    cross = (s - 2.0 * D) * np.eye(d) + outer  # (i, j, a, b): ∂²k/∂x_a∂z_b
    psi = cross.transpose(0, 2, 1, 3).reshape(n * d, n * d)
    return np.block([[top[:, :n], top[:, n:]], [top[:, n:].T, psi]])


@dataclass(frozen=True)
class TiltedElements:
    """The elements φ(x_i) + e_i'ψ(x_i) of the kernel's space, ψ = ∂φ/∂x.

    points, tilts : (n, d)
    """

    points: Vector
    tilts: Vector


def products(kernel: Kernel, left: TiltedElements, right: TiltedElements) -> Vector:
    """Return inner products of all pairs, (n, m).

    For x_i, e_i and z_j, e_j they are k + e_j'k_z + e_i'k_x + e_i' k_xz e_j in the notation of ``field``. All matrices
    are n x m; n d x m d ones are never made.
    """
    X, E, Z, F = left.points, left.tilts, right.points, right.tilts
    k, s, D, ss, sD, DD = PointTiles(kernel, Z).jet(jet(kernel), 6, X)
    ex, ez = np.einsum("id,id->i", E, X)[:, None], E @ Z.T
    fx, fz = X @ F.T, np.einsum("jd,jd->j", F, Z)
    er, fr = ex - ez, fx - fz  # r is x_i - z_j
    first = k + s * (fx + ez) + 2.0 * D * (er - fr)
    return first + (s - 2.0 * D) * (E @ F.T) + ez * (ss * fx - 2.0 * sD * fr) + 2.0 * er * (sD * fx - 2.0 * DD * fr)
