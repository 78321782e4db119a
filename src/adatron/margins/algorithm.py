"""Algorithm 1: maximises the margin in the input space, by projections and quadratic programs in turn.

A step     1. x̂_i, the nearest point of f = 0 to each sample, d̂_i = x̂_i - x_i (``nearest``).
           2. ω̂, the old ω over the new bases φ(x̂_i), ψ(x̂_i) of the support vectors (``hyperplane``).
           3. The program of eq. (8): with q_i = ∇f̂(x̂_i), r̂ = ‖ω̂‖², ĝ_i = ‖q_i‖_G⁻¹ / √r̂ it is that of a classifier with
              targets y_i ĝ_i whose samples are the elements

                  χ_i = φ(x̂_i) + e_i'ψ(x̂_i) + h_i ω̂,   e_i = -d̂_i - y_i G_i⁻¹q_i / (ĝ_i r̂),   h_i = y_i ĝ_i / r̂,

              so its matrix M_ij = χ_i·χ_j = ŝ - y t̂ - y t̂ + yy û is an n x n one, from n x n ones only.
           4. ω = Σ β_i χ_i (eqs. 7, 10), f0 the bias of that program (eq. 11).
           Targets are divided by mean(ĝ), another unit of f: C then means what it means for the original machine.
Rules      'best' takes n steps and keeps the best of them, as the paper does. 'damped' goes from ω̂ towards ω by the
           fraction 1, 1/2, 1/4, ... that makes the margin largest, and ends if none helps. Both start from the
           original machine.
Margin     is measured with the nearest projections, not estimated; for soft margins see ``worth``.
Source     S. Akaho, Maximizing the margin in the input space (2002), sections 3 and 5.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..threads import Pool
from .field import Field, Vector
from .hyperplane import by_normal, by_values, unknowns
from .metric import Metric
from .nearest import InputMargins, nearest
from .projection import project
from .tilted import TiltedElements, products
from .worth import Worth, signed, sizes, worth

DAMPING = tuple(0.5**k for k in range(8))  # Fractions of a step that are tried, the largest first.

# Maps M and the sizes of the targets to the coefficients β and the bias.
ProgramSolver = Callable[[Vector, Vector], tuple[Vector, float]]


@dataclass(frozen=True)
class Task:
    """One problem of two classes.

    X : (n, d); y : (n,) 1 and -1; C : (n,) bounds of the variables, inf for a hard margin
    solve : the quadratic program
    hyperplane : 'values' or 'normal'
    """

    X: Vector
    y: Vector
    C: Vector
    metric: Metric
    solve: ProgramSolver
    hyperplane: str
    pool: Pool


@dataclass(frozen=True)
class Stage:
    """A decision function with the measurements of it.

    support : (s,) the samples whose projections are the bases of ``field``
    feet : the projections of all samples onto it
    unit : the mean size of the first stage's gradients, see ``worth``
    """

    field: Field
    support: NDArray[np.int64]
    feet: InputMargins
    unit: float
    worth: Worth


def first_stage(task: Task, field: Field) -> Stage:
    """Return the original machine, whose bases are its samples."""
    support, field = np.flatnonzero(field.a), field.lean()
    q, norm2 = field.slopes(task.X, task.pool)[1], field.squared_norm(task.pool)
    return stage(task, field, support, float(sizes(task.metric, q, norm2).mean()))


def unmeasured(task: Task, field: Field) -> Stage:
    """Return the original machine, without its distances."""
    n, unknown = len(task.X), np.full(len(task.X), np.nan)
    feet = InputMargins(unknown, np.full_like(task.X, np.nan), np.zeros(n), np.zeros(n, bool))
    return Stage(field.lean(), np.flatnonzero(field.a), feet, np.nan, Worth(np.nan, np.nan))


def needed_bytes(n: int, support: int, d: int) -> float:
    """Return the memory of a step: some twenty n x n matrices, and the equations of ``hyperplane``."""
    return 8.0 * (20.0 * n * n + (2 * n + support) * unknowns(support, d))


def step_cost(n: int, support: int, d: int) -> float:
    """Return the multiply-adds of the longest part of a step, the equations of ``hyperplane``."""
    few, many = sorted((2 * n + support, unknowns(support, d)))
    return few * few * (4.0 * many + 10.0 * few)


def stage(task: Task, field: Field, support: NDArray[np.int64], unit: float) -> Stage:
    """Measure a decision function."""
    feet = nearest(field, task.metric, task.X, task.pool)
    return Stage(field, support, feet, unit, _worth(task, field, feet.distance, unit))


def _worth(task: Task, field: Field, distance: Vector, unit: float) -> Worth:
    return worth(signed(field.values(task.X, task.pool), task.y, distance), task.C, unit)


def climb(task: Task, start: Stage, n_steps: int, rule: str) -> Iterator[Stage]:
    """Yield the stages after the first one, by one of the rules."""
    now = start
    for _ in range(n_steps):
        moved = _moved(task, now)
        aim, support = _program(task, moved)
        if rule == "best":
            now = stage(task, aim, support, now.unit)
        else:
            after = _damped(task, moved, aim, support)
            if not after.worth.score > now.worth.score:
                return
            now = after
        yield now


def _moved(task: Task, now: Stage) -> Stage:
    """Take steps 1 and 2: return the function over the new projections."""
    feet = np.where(np.isfinite(now.feet.projection), now.feet.projection, task.X)
    bases = feet[now.support]
    if task.hyperplane == "normal":
        field = by_normal(now.field, bases, task.pool)
    else:
        field = by_values(now.field, bases, np.concatenate([task.X, now.field.points, feet]), task.pool)
    return replace(now, field=field, feet=replace(now.feet, projection=feet))


def _program(task: Task, moved: Stage) -> tuple[Field, NDArray[np.int64]]:
    """Take steps 3 and 4: return the function that the program leads to, and its support."""
    hat, feet = moved.field, moved.feet.projection
    p, q = hat.slopes(feet, task.pool)
    norm2 = hat.squared_norm(task.pool)
    size = sizes(task.metric, q, norm2)
    raised = task.metric.raised(q)
    tilts = task.X - feet - (task.y / (size * norm2))[:, None] * raised
    h = task.y * size / norm2
    c = p - hat.f0 + np.einsum("ij,ij->i", tilts, q)
    elements = TiltedElements(feet, tilts)
    M = products(hat.kernel, elements, elements) + np.outer(h, c) + np.outer(c, h) + norm2 * np.outer(h, h)
    beta, f0 = task.solve(np.asarray(0.5 * (M + M.T), np.float64), size / size.mean())
    support = np.union1d(moved.support, np.flatnonzero(beta))
    hat = _over(moved, support)
    assert hat.b is not None  # noqa: S101 (it came from ``hyperplane``)
    keep = float(beta @ h)
    a, b = beta[support] + keep * hat.a, beta[support, None] * tilts[support] + keep * hat.b
    return Field(hat.kernel, hat.points, a, f0, b), support


def _over(moved: Stage, support: NDArray[np.int64]) -> Field:
    """Return the function with bases at more samples, whose coefficients are 0."""
    points = moved.feet.projection[support]
    a, b, place = np.zeros(len(support)), np.zeros_like(points), np.searchsorted(support, moved.support)
    assert moved.field.b is not None  # noqa: S101 (it came from ``hyperplane``)
    a[place], b[place] = moved.field.a, moved.field.b
    return replace(moved.field, points=points, a=a, b=b)


def _damped(task: Task, moved: Stage, aim: Field, support: NDArray[np.int64]) -> Stage:
    """Return the best stage on the way to ``aim`` from the function of ``moved``, scaled to a normal of equal length.

    Projections that start from the samples and from the old projections are compared; the best is measured anew.
    """
    hat = _over(moved, support)
    length, own = aim.squared_norm(task.pool), hat.squared_norm(task.pool)
    if not (length > 0.0 and own > 0.0):  # the difference is rounding, not a direction
        return stage(task, aim, support, moved.unit)
    hat = hat.scaled(float(np.sqrt(length / own)))
    best, score = aim, -np.inf
    for part in DAMPING:
        mixture = hat.scaled(1.0 - part) + aim.scaled(part)
        found = _worth(task, mixture, _roughly(task, mixture, moved.feet), moved.unit).score
        if found <= score:
            break
        best, score = mixture, found
    return stage(task, best, support, moved.unit)


def _roughly(task: Task, field: Field, feet: InputMargins) -> Vector:
    """Return distances from two starts for each sample."""
    n = len(task.X)
    twice = np.tile(np.arange(n), 2)
    bound = np.tile(0.5 * task.metric.lengths(feet.projection - task.X) + 1e-12, 2)
    start = np.concatenate([task.X, feet.projection])
    lengths = project(field, task.metric.take(twice), task.X[twice], start, bound, task.pool)[1]
    return lengths.reshape(2, n).min(axis=0)
