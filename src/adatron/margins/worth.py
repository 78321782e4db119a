"""The value of a classifier's distances: the margin of hard and of soft constraints."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..threads import Pool
from .field import Field, Vector
from .metric import Metric
from .projection import project

FLAT = 1e-6  # Smallest size of a gradient, as a fraction of the mean size: a target must not be 0.
PROJECTED_SAMPLES = 64  # Samples whose distances ``estimated`` measures.


@dataclass(frozen=True)
class Worth:
    """The margin of signed distances, and a score by which two classifiers compare: the higher, the better."""

    margin: float
    score: float


def worth(distances: Vector, C: Vector, unit: float) -> Worth:
    """Return the margin in the input space.

    With hard constraints it is the smallest signed distance. With soft ones it is 1/ρ, where ρ minimises

        ½ (ρ / unit)² + Σ C_i max(0, 1 - ρ s_i)

    This is eq. 20 of S. Akaho, Maximizing the margin in the input space (2002), with the distances s_i in place of
    linearised ones. With the linear kernel ρ is ‖w‖, and this is the objective of an ordinary machine.

    Parameters
    ----------
    distances : (n,) signed distances, negative on the wrong side
    C : (n,) bounds of the variables, inf if hard
    unit : mean ĝ of the original machine, so that C means what it means there
    """
    if np.isinf(C).any():
        margin = float(distances.min())
        return Worth(margin, margin)
    s = np.clip(distances, -1e100, 1e100)
    # The slope in ρ is ρ/unit² - Σ C s over the samples with ρ s < 1. It grows with ρ, and jumps where ρ s = 1.
    order = np.argsort(-s[s > 0])  # samples in the order in which ρ s reaches 1
    kinks, pulls = 1.0 / s[s > 0][order], (C * s)[s > 0][order]
    left = float(np.sum((C * s)[s <= 0])) + float(pulls.sum())  # total pull before the first kink
    before = left - np.concatenate([[0.0], np.cumsum(pulls)])
    at = int(np.argmax(np.append(kinks / unit**2 >= before[1:], True)))  # first kink beyond the minimum
    low, high = (kinks[at - 1] if at else 0.0), (kinks[at] if at < len(kinks) else np.inf)
    rho = float(np.clip(unit**2 * before[at], low, high))
    loss = 0.5 * (rho / unit) ** 2 + float(np.sum(C * np.maximum(0.0, 1.0 - rho * s)))
    return Worth(1.0 / rho if rho > 0.0 else np.inf, -loss)


def signed(f: Vector, y: Vector, distance: Vector) -> Vector:
    """Return distances with a positive sign for samples on the right side."""
    return np.where((f >= 0) == (y > 0), distance, -distance)


def sizes(metric: Metric, q: Vector, norm2: float) -> Vector:
    """Return ĝ = ‖q‖_G⁻¹ / ‖w‖ (eq. 6), not less than a small fraction of its mean."""
    size = np.sqrt(np.einsum("ij,ij->i", q, metric.raised(q)) / (norm2 if norm2 > 0.0 else 1.0))
    return np.maximum(size, FLAT * float(size.mean()) or 1.0)


def estimated(
    field: Field, metric: Metric, X: Vector, y: Vector, C: Vector, unit: float | None, pool: Pool
) -> tuple[Worth, Vector]:
    """Return the worth of a decision function, for many samples, and ĝ at these; ``unit`` None is the mean of ĝ.

    Distances are those of the tangent planes, |f| / ‖∇f‖. Only the samples that are nearest to the surface by these
    distances are projected on it.
    """
    field = field.lean()
    f, q = field.slopes(X, pool)
    norm2 = field.squared_norm(pool)
    size = sizes(metric, q, norm2)
    distance = np.abs(f) / (size * np.sqrt(norm2 if norm2 > 0.0 else 1.0))
    near = np.argsort(distance)[:PROJECTED_SAMPLES]
    bound = np.maximum(4.0 * distance[near], 1e-3 * distance.mean())
    lengths = project(field, metric.take(near), X[near], X[near], bound, pool)[1]
    distance[near] = np.where(np.isfinite(lengths), lengths, distance[near])
    return worth(signed(f, y, distance), C, float(size.mean()) if unit is None else unit), size
