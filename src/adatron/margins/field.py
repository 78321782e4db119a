"""A decision function with its gradient.

    f(x) = Σ a_j k(z_j, x) + b_j' k_z(z_j, x) + f0,   k_z = ∂k/∂z

With b = 0 it is the function of every support vector machine; with b it is eq. (2) of S. Akaho, Maximizing the margin
in the input space (2002). Let k = κ(s, D), r = x - z and subscripts denote slopes (``kernels.derivatives``):

    f   = Σ a κ + κ_s b'x - 2 κ_D b'r
    ∇f  = Σ (c₁ - c₂) z + c₂ x + (κ_s - 2 κ_D) b
    c₁  = a κ_s + κ_ss b'x - 2 κ_sD b'r,   c₂ = 2 (a κ_D + κ_sD b'x - 2 κ_DD b'r)
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Vector
from ..compiled.cache.uninterrupted import cached_property
from ..gram import Gram, Points, Source
from ..kernels import Kernel
from ..kernels.derivatives import Jet, jet, mixed
from ..threads import Pool

FIELD_ROWS = 128  # Rows of a task.


@dataclass(frozen=True)
class Field:
    """f over the input space.

    Parameters
    ----------
    kernel : Kernel
        With derivatives.
    points : (m, d)
        z_j, in float64.
    a : (m,)
    f0 : float
    b : (m, d), default=None
    """

    kernel: Kernel
    points: Vector
    a: Vector
    f0: float
    b: Vector | None = None

    def values(self, X: Vector, pool: Pool) -> Vector:
        """Return f at the rows of X, (n, d) to (n,)."""
        return self._evaluate(X, pool, steep=False)[0]

    def slopes(self, X: Vector, pool: Pool) -> tuple[Vector, Vector]:
        """Return f and ∇f at the rows of X, (n, d) to (n,) and (n, d)."""
        return self._evaluate(X, pool, steep=True)

    def squared_norm(self, pool: Pool) -> float:
        """Return ‖w‖² in the kernel's space: Σ a_j (f(z_j) - f0) + b_j'∇f(z_j) (eq. 8 of the paper, r̂)."""
        p, q = self.slopes(self.points, pool)
        total = float(self.a @ (p - self.f0))
        return total if self.b is None else total + float(np.sum(self.b * q))

    def rounding(self) -> float:
        """Return the size of the rounding errors of a decision value."""
        largest = float(np.square(self.points).sum(axis=1).max(initial=0.0))
        return 2.0**-53 * float(np.abs(self.a).sum()) * self.kernel.magnitude(largest)

    def scaled(self, factor: float) -> Field:
        """Return a multiple of the decision function."""
        return replace(self, a=factor * self.a, f0=factor * self.f0, b=None if self.b is None else factor * self.b)

    def __add__(self, other: Field) -> Field:
        """Return the sum of two decision functions, both with b or both without."""
        f0, both = self.f0 + other.f0, None if self.b is None or other.b is None else (self.b, other.b)
        if np.array_equal(self.points, other.points):
            return replace(self, a=self.a + other.a, f0=f0, b=None if both is None else both[0] + both[1])
        points, a = np.concatenate([self.points, other.points]), np.concatenate([self.a, other.a])
        return replace(self, points=points, a=a, f0=f0, b=None if both is None else np.concatenate(both))

    def lean(self) -> Field:
        """Return the function without the points whose coefficients are 0."""
        used = self.a != 0.0 if self.b is None else (self.a != 0.0) | self.b.any(axis=1)
        return replace(self, points=self.points[used], a=self.a[used], b=None if self.b is None else self.b[used])

    @cached_property
    def _tiles(self) -> PointTiles:
        return PointTiles(self.kernel, self.points)

    def _evaluate(self, X: Vector, pool: Pool, steep: bool) -> tuple[Vector, Vector]:
        pool.check_time()
        f, q = np.full(len(X), self.f0), np.zeros(X.shape if steep else (0, 0))
        if not len(self.a):
            return f, q
        tiles, derivatives = self._tiles, jet(self.kernel)
        orders = derivatives[: (3 if steep else 1) if self.b is None else (6 if steep else 3)]

        def task(number: int) -> None:
            rows = slice(number * FIELD_ROWS, (number + 1) * FIELD_ROWS)
            self._add(f, q, rows, X[rows], tiles.jet(derivatives, len(orders), X[rows]))

        pool.run(task, -(-len(X) // FIELD_ROWS))
        return f, q

    def _add(self, f: Vector, q: Vector, rows: slice, X: Vector, values: JetValues) -> None:
        k, s, D, ss, sD, DD = values
        f[rows] += k @ self.a
        first, second = self.a * s, 2.0 * self.a * D
        if self.b is not None:
            along, across = self._along(X)
            f[rows] += np.sum(s * along - 2.0 * D * across, axis=1)
            first, second = first + ss * along - 2.0 * sD * across, second + 2.0 * (sD * along - 2.0 * DD * across)
        if len(q):
            q[rows] = (first - second) @ self.points + second.sum(axis=1)[:, None] * X
            if self.b is not None:
                q[rows] += (s - 2.0 * D) @ self.b

    def _along(self, X: Vector) -> tuple[Vector, Vector]:
        """Return b_j'x and b_j'(x - z_j), (rows, m)."""
        assert self.b is not None  # noqa: S101 (for the type checker)
        along = X @ self.b.T
        return along, along - np.einsum("ij,ij->i", self.b, self.points)


JetValues = tuple[Vector, Vector, Vector, Vector, Vector, Vector]


class PointTiles:
    """Values of a kernel, and of its slopes, with some points, from the compiled tiles in float64."""

    def __init__(self, kernel: Kernel, points: Vector) -> None:
        self.source = Source.of(points, np.arange(len(points)), kernel)
        self.pool = Pool(1)  # each task uses one thread
        kernels = {part for mixture in jet(kernel) for part in mixture}
        self.segments = {
            part: Gram(replace(self.source, kernel=part), np.float64, [], self.pool).segment(
                replace(self.source, kernel=part)
            )
            for part in kernels
        }

    def jet(self, derivatives: Jet, order: int, X: Vector) -> JetValues:
        """Return the first ``order`` mixtures of a jet between rows and the points, (rows, m) each; 0 for the rest."""
        rows = np.arange(len(X))
        block = replace(self.source, X=np.ascontiguousarray(X), ids=rows)
        wanted = {part for mixture in derivatives[:order] for part in mixture}
        values = {part: self.segments[part].values(Points(replace(block, kernel=part), rows)) for part in wanted}
        zero = np.zeros((len(X), len(self.source)))
        found = [zero + mixed(mixture, values) if mixture else zero for mixture in derivatives[:order]]
        return tuple(found + [zero] * (6 - order))  # pyright: ignore[reportReturnType]
