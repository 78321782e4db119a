"""Decision values of a function with tilted bases, Σ a_j k(z_j, x) + b_j·∂k(z_j, x)/∂z + f0, from the compiled tiles.

With k = κ(s, D) and slopes κ_s, κ_D, which are sums of multiples of kernels h, the second part is

    x·Σ_j (κ_s - 2 κ_D) b_j + Σ_j 2 κ_D z_j·b_j,

so each h gives 1 + d sums over the bases, as if it were a machine with so many outputs. ``margins.Field`` computes the
same by matrix products, whose last bits depend on the rows beside; those of a prediction must not.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Ids, Vector, dense_rows, writable
from ..kernels import Kernel
from ..margins import Field
from .decision import Counted, decision_values
from .expansion import Expansion
from .function import DecisionFunctions, Finish
from .signs import Decided

TILTED_ROWS = 4096  # Rows at a time.


@dataclass(frozen=True)
class Tilted(DecisionFunctions):
    """Σ_j a_j k(z_j, ·) + b_j·∂k(z_j, ·)/∂z + f0 for each problem, over bases of its own.

    The coefficients a, (n_problems, m), are 0 for bases of other problems.

    tilts : (m, d) coefficients b
    problem : (m,) the problem of each basis
    """

    tilts: Vector
    problem: Ids

    @property
    def takes_sparse(self) -> bool:
        return True

    def coefficients(self) -> Vector:
        return writable(self.dual)

    def fields(self) -> list[Field]:
        points, own = dense_rows(self.vectors), [self.problem == p for p in range(len(self.intercepts))]
        parts = zip(own, self.coefficients(), self.intercepts, strict=True)
        return [Field(self.kernel, points[of], a[of], float(f0), self.tilts[of]) for of, a, f0 in parts]

    def values(
        self, X: Any, finish: Finish, decided: Decided | None, counted: Counted | None, own: Vector | None = None
    ) -> NDArray[Any]:
        X = dense_rows(X)
        return finish(np.stack([_values(X, field, self.n_jobs) for field in self.fields()], axis=1))


def _values(X: Vector, field: Field, n_jobs: int | None) -> Vector:
    """Return f at the rows of X, (n,)."""
    values, nothing = np.full(len(X), field.f0), np.zeros(1 + X.shape[1])
    for kernel, coefficients in outputs(field).items():
        expansion = Expansion(field.points, coefficients, kernel)
        for first in range(0, len(X), TILTED_ROWS):
            rows = X[first : first + TILTED_ROWS]
            sums = decision_values(rows, expansion, nothing, "double", n_jobs, np.asarray)
            values[first : first + TILTED_ROWS] += sums[:, 0] + np.sum(rows * sums[:, 1:], axis=1)
    return values


def outputs(field: Field) -> dict[Kernel, Vector]:
    """Return the coefficients of each kernel, (m, 1 + d)."""
    s, D = field.kernel.slopes()
    b: Any = np.zeros_like(field.points) if field.b is None else field.b
    inner, found = np.sum(b * field.points, axis=1), defaultdict(lambda: np.zeros((len(b), 1 + b.shape[1])))
    found[field.kernel][:, 0] += field.a
    for kernel, factor in s.items():
        found[kernel][:, 1:] += factor * b
    for kernel, factor in D.items():
        found[kernel][:, 0] += 2.0 * factor * inner
        found[kernel][:, 1:] -= 2.0 * factor * b
    return dict(found)
