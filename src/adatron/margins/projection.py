"""The nearest point of a surface f = 0, by Newton-like steps that are shorter where the surface is strongly curved.

Update    x̂ ← x - G⁻¹q (f(x̂) - (x̂ - x)'q) / (q'G⁻¹q), q = ∇f(x̂) (eq. 12 of the source, with the metric): it goes to
          the point next to x of the plane that touches f there. This is a step onto the surface and one along it,

              x̂ ← x̂ + n + t,   n = -G⁻¹q f / (q'G⁻¹q),   t = the part of x - x̂ along the surface.

          Near a critical point of the distance t multiplies an error in the direction j by c_j/λ, c_j being the
          curvature and λ = ‖∇f‖/‖d‖. It diverges for c_j < -λ (Proposition 1). So t is multiplied by 1/(1 - c/λ), the
          ideal of section 3.4. Here 1 - c/λ is measured along the last step and not taken from n Hessians:
          e = s's / s'(t_old - t_new), s the last step, the step size of Barzilai and Borwein. Steps n lead back to the
          surface. A step along it that does not come nearer to x is taken back and tried at a quarter of its length.
          n would grow beyond all bounds where ∇f vanishes, so it is bounded.
Stops     |f| <= 1e-9 and ‖t‖ <= 1e-6 ‖x̂ - x‖.
Source    S. Akaho, Maximizing the margin in the input space (2002), sections 3.4 and 3.6; J. Barzilai, J. Borwein,
          Two-point step size gradient methods, IMA J. Numer. Anal. 8 (1988).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..threads import Pool
from .field import Field, Vector
from .metric import Metric

EVALUATIONS = 300  # Most evaluations of the field for a row; one that needs more has not converged.
ON, SETTLED = 1e-9, 1e-6  # Largest |f| of a point on the surface; largest t at the end, as a fraction of the distance.
SLOWEST, FASTEST = 1e-2, 5.0  # Bounds of a step along the surface, as a multiple of the plain one.
LONGEST_ALONG = 0.5  # Longest step along the surface, as a fraction of the distance.
RETURNS = 12  # Most steps n until the surface is met again.
PRINTED = 10  # Steps of plain eq. 12, as in Figure 2 of the source.
SHORTEST_STEP = 1e-9  # Shortest step that is tried, as a fraction of the distance.


@dataclass(frozen=True)
class StepParts:
    """Both parts of a step, (n, d) each."""

    onto: Vector
    along: Vector


def parts(metric: Metric, X: Vector, Z: Vector, f: Vector, q: Vector) -> StepParts:
    """Return n and t from f and its gradient at Z."""
    d, raised = Z - X, metric.raised(q)
    size = np.einsum("ij,ij->i", q, raised)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        back = raised / size[:, None]
        onto = -back * f[:, None]
    flat = ~np.isfinite(onto).all(axis=1)  # no direction leads to the surface
    back[flat] = onto[flat] = 0.0
    return StepParts(onto, back * np.einsum("ij,ij->i", q, d)[:, None] - d)


def plain(field: Field, metric: Metric, X: Vector, start: Vector, pool: Pool) -> Vector:
    """Return the points to which eq. 12 as printed leads, (n, d).

    It may go anywhere where the surface is strongly curved: nan for rows that come to where f has no slope.
    """
    Z, lost = start, np.zeros((len(X), 1), bool)
    for _ in range(PRINTED):
        f, q = field.slopes(Z, pool)
        raised = metric.raised(q)
        height, size = f - np.einsum("ij,ij->i", Z - X, q), np.einsum("ij,ij->i", q, raised)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            after = X - raised * (height / size)[:, None]
        lost |= ~np.isfinite(after.sum(axis=1, keepdims=True))
        Z = np.where(lost, X, after)
    return np.where(lost, np.nan, Z)


def project(
    field: Field, metric: Metric, X: Vector, start: Vector, bound: Vector, pool: Pool
) -> tuple[Vector, Vector, NDArray[np.bool_]]:
    """Find a point of f = 0 close to each row of X, from one start for each.

    Parameters
    ----------
    X, start : (n, d)
    bound : (n,) longest step onto the surface

    Returns
    -------
    points : (n, d) the nearest point of the surface that was met
    distances : (n,) inf if no point was met
    converged : (n,) whether it is a critical point of the distance
    """
    walk = _Approach(metric, X, start.copy(), bound, max(ON, 16.0 * field.rounding()))
    for _ in range(EVALUATIONS):
        if not len(walk.open):
            break
        walk.step(*field.slopes(walk.Z[walk.open], pool))
    met = np.isfinite(walk.distance)
    return walk.at, np.where(met, metric.lengths(walk.at - X), np.inf), walk.converged


class _Approach:
    """The nearest point so far and the point being tried, for each row."""

    def __init__(self, metric: Metric, X: Vector, Z: Vector, bound: Vector, on: float) -> None:
        n = len(X)
        self.metric, self.X, self.Z, self.bound, self.on = metric, X, Z, bound, on
        self.at, self.distance, self.converged = Z.copy(), np.full(n, np.inf), np.zeros(n, bool)
        self.pull, self.speed, self.returns = np.zeros_like(Z), np.ones(n), np.zeros(n, int)
        self.open = np.arange(n)

    def step(self, f: Vector, q: Vector) -> None:
        ids = self.open
        metric, X, Z = self.metric.take(ids), self.X[ids], self.Z[ids]
        move = parts(metric, X, Z, f, q)
        far = metric.lengths(Z + move.onto - X)  # distance of the point with f = 0, as f is not quite 0 here
        on = np.abs(f) <= self.on
        nearer = on & (far <= self.distance[ids] * (1.0 + 1e-13))
        self.returns[ids] += 1
        back = ~nearer & (on | (self.returns[ids] > RETURNS) | ~move.onto.any(axis=1))
        self._accept(ids[nearer], metric.take(nearer), Z[nearer], move.along[nearer], far[nearer])
        self.speed[ids[back]] *= 0.25
        turned = nearer | back
        self._try(ids[turned], metric.take(turned))
        rest = ids[~turned]
        self.Z[rest] += _bounded(self.metric.take(rest), move.onto[~turned], self.bound[rest])

    def _accept(self, ids: NDArray[np.int64], metric: Metric, Z: Vector, along: Vector, far: Vector) -> None:
        step = Z - self.at[ids]
        change, size = metric.products(step, self.pull[ids] - along), metric.products(step, step)
        e = np.minimum(2.0 * self.speed[ids], FASTEST)
        np.divide(size, change, out=e, where=change > 0)
        self.speed[ids] = np.clip(np.where(np.isinf(self.distance[ids]), 1.0, e), SLOWEST, FASTEST)
        self.at[ids], self.pull[ids], self.distance[ids] = Z, along, far
        self.converged[ids] = metric.lengths(along) <= SETTLED * far

    def _try(self, ids: NDArray[np.int64], metric: Metric) -> None:
        """Step along the surface from the nearest point, unless that point suffices or no step improves it."""
        far, pull = self.distance[ids], metric.lengths(self.pull[ids])
        left = np.isfinite(far) & ~self.converged[ids] & (self.speed[ids] * pull > SHORTEST_STEP * far)
        step = self.speed[ids, None] * self.pull[ids]
        self.Z[ids] = self.at[ids] + _bounded(metric, step, np.where(np.isfinite(far), LONGEST_ALONG * far, 0.0))
        self.returns[ids] = 0
        self.open = np.setdiff1d(self.open, ids[~left], assume_unique=True)


def _bounded(metric: Metric, step: Vector, longest: Vector) -> Vector:
    length = metric.lengths(step)
    return step * np.minimum(1.0, longest / np.where(length > 0, length, 1.0))[:, None]
