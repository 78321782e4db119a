"""Algorithm 1: maximises the margin in the input space, by projections and quadratic programs in turn.

A step     1. x̂_i, the nearest point of f = 0 to each sample, d̂_i = x̂_i - x_i (``nearest``).
           2. ω̂, the old ω over the new bases φ(x̂_i), ψ(x̂_i) of the support vectors (``hyperplane``).
           3. The program of eq. (8): with q_i = ∇f̂(x̂_i), r̂ = ‖ω̂‖², ĝ_i = ‖q_i‖_G⁻¹ / √r̂ it is that of a classifier with
              targets y_i ĝ_i whose samples are the elements

                  χ_i = φ(x̂_i) + e_i'ψ(x̂_i) + h_i ω̂,   e_i = -d̂_i - y_i G_i⁻¹q_i / (ĝ_i r̂),   h_i = y_i ĝ_i / r̂,

              so its matrix M_ij = χ_i·χ_j = ŝ - y t̂ - y t̂ + yy û is an n x n one, from n x n ones only.
           4. ω = Σ β_i χ_i (eqs. 7, 10), f0 the bias of that program (eq. 11).
           Targets are divided by mean(ĝ), another unit of f: C then means what it means for the original machine. In
           that unit η_i, the slope of ĝ_i, is divided by mean(ĝ), too. As printed, neither is; then the first step
           depends on the unit of X, because ω̂ is the original machine's, whose targets are 1.
           With slack='input' a sample whose distance is the part s_i < 1 of the margin pays for 1 - s_i. To first order
           this is y_i f - s_i η_i·ω >= ĝ_i (1 - z_i): e_i and h_i have the factor s_i, and the box is C_i / ĝ_i.
           If the bases do not move (section 6, first form), x̂_i is x_i in the program, d̂_i = 0, and ω̂ is ω.
Rules      All start from the original machine. 'best' takes n steps and keeps the best of them. 'damped' goes from ω̂
           towards ω by the fraction 1, 1/2, 1/4, ... that makes the margin largest, and ends if none helps.
           'printed' is 'best' with step 1 as printed, plain (12) from the last projections (see ``estimate``), and
           without the unit.
Margin     is measured with the nearest projections; 'printed' compares estimated ones. For soft margins see ``worth``.
Source     S. Akaho, Maximizing the margin in the input space (2002), sections 3, 5 and 6.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..threads import Pool
from .field import Field, Vector
from .hyperplane import TiltedElements, by_normal, by_values, equations, products, unknowns
from .metric import Metric
from .nearest import InputMargins, estimate, nearest
from .projection import project
from .worth import Worth, signed, sizes, worth

DAMPING = tuple(0.5**k for k in range(8))  # Fractions of a step that are tried, the largest first.

# Maps M and the sizes of the targets to the coefficients β and the bias.
ProgramSolver = Callable[[Vector, Vector], tuple[Vector, float]]


@dataclass(frozen=True)
class Recipe:
    """The parameters of the algorithm.

    rule : 'best', 'damped' or 'printed'
    hyperplane : 'values', 'all_values' or 'normal'
    moves : whether the bases move to the projections
    slack : 'feature' or 'input'
    warm : whether each program starts from the solution of the one before it
    """

    n_steps: int
    rule: str
    hyperplane: str
    moves: bool
    slack: str
    warm: bool


@dataclass(frozen=True)
class TwoClasses:
    """One problem of two classes.

    X : (n, d); y : (n,) 1 and -1; C : (n,) bounds of the variables, inf for a hard margin
    solve : the quadratic program
    """

    X: Vector
    y: Vector
    C: Vector
    metric: Metric
    solve: ProgramSolver
    recipe: Recipe
    pool: Pool


@dataclass(frozen=True)
class Stage:
    """A decision function with the measurements of it.

    support : (s,) the samples whose projections are the bases of ``field``
    feet : the projections of all samples onto it
    old : (n, d) the last projections of all samples, the support's among them being the bases
    unit : the mean size of the first stage's gradients, see ``worth``
    """

    field: Field
    support: NDArray[np.int64]
    feet: InputMargins
    old: Vector
    unit: float
    worth: Worth


def first_stage(task: TwoClasses, field: Field) -> Stage:
    """Return the original machine, whose bases are its samples."""
    support, field = np.flatnonzero(field.a), field.lean()
    q, norm2 = field.slopes(task.X, task.pool)[1], field.squared_norm(task.pool)
    return stage(task, field, support, task.X, float(sizes(task.metric, q, norm2).mean()))


def unmeasured(task: TwoClasses, field: Field, support: NDArray[np.int64]) -> Stage:
    """Return a stage without its distances."""
    n, unknown = len(task.X), np.full(len(task.X), np.nan)
    feet = InputMargins(unknown, np.full_like(task.X, np.nan), np.zeros(n), np.zeros(n, bool))
    return Stage(field, support, feet, task.X, np.nan, Worth(np.nan, np.nan))


def needed_bytes(n: int, support: int, d: int, recipe: Recipe) -> float:
    """Return the memory of a step: some twenty n x n matrices, and the equations of ``hyperplane``."""
    return 8.0 * (20.0 * n * n + _equations(n, support, recipe) * unknowns(support, d))


def step_cost(n: int, support: int, d: int, recipe: Recipe) -> float:
    """Return the multiply-adds of the longest part of a step, the equations of ``hyperplane``."""
    few, many = sorted((_equations(n, support, recipe), unknowns(support, d)))
    return few * few * (4.0 * many + 10.0 * few)


def _equations(n: int, support: int, recipe: Recipe) -> int:
    return equations(n, support, recipe.hyperplane) if recipe.moves else 0


def stage(task: TwoClasses, field: Field, support: NDArray[np.int64], old: Vector, unit: float) -> Stage:
    """Measure a decision function, or estimate its distances if the rule says so."""
    if task.recipe.rule == "printed":
        feet = estimate(field, task.metric, task.X, old, task.pool)
    else:
        feet = nearest(field, task.metric, task.X, task.pool)
    return Stage(field, support, feet, old, unit, _worth(task, field, feet.distance, unit))


def measured(task: TwoClasses, best: Stage) -> Stage:
    """Return a stage with measured distances in place of estimated ones."""
    if task.recipe.rule != "printed":
        return best
    return stage(replace(task, recipe=replace(task.recipe, rule="best")), best.field, best.support, best.old, best.unit)


def _worth(task: TwoClasses, field: Field, distance: Vector, unit: float) -> Worth:
    return worth(signed(field.values(task.X, task.pool), task.y, distance), task.C, unit)


def climb(task: TwoClasses, start: Stage) -> Iterator[Stage]:
    """Yield the stages after the first one, by the rule of the task."""
    now = start
    for _ in range(task.recipe.n_steps):
        moved = _moved(task, now)
        aim, support = _program(task, moved)
        if task.recipe.rule == "damped":
            after = _damped(task, moved, aim, support)
            if not after.worth.score > now.worth.score:
                return
            now = after
        else:
            now = stage(task, aim, support, moved.old, now.unit)
        yield now


def _moved(task: TwoClasses, now: Stage) -> Stage:
    """Take steps 1 and 2: return the function over the new projections."""
    if not task.recipe.moves:
        b = np.zeros_like(now.field.points) if now.field.b is None else now.field.b
        return replace(now, field=replace(now.field, b=b))
    feet = np.where(np.isfinite(now.feet.projection), now.feet.projection, task.X)
    bases = feet[now.support]
    if task.recipe.hyperplane == "normal":
        field = by_normal(now.field, bases, task.pool)
    elif task.recipe.hyperplane == "all_values":
        at = np.unique(np.concatenate([task.X, now.old, feet]), axis=0)  # T of eq. 18 is a set
        field = by_values(now.field, bases, at, task.pool)
    else:
        field = by_values(now.field, bases, np.concatenate([task.X, now.field.points, feet]), task.pool)
    return replace(now, field=field, old=feet)


def _program(task: TwoClasses, moved: Stage) -> tuple[Field, NDArray[np.int64]]:
    """Take steps 3 and 4: return the function that the program leads to, and its support."""
    hat, feet = moved.field, moved.old
    p, q = hat.slopes(feet, task.pool)
    norm2 = hat.squared_norm(task.pool)
    size = sizes(task.metric, q, norm2)
    unit = 1.0 if task.recipe.rule == "printed" else float(size.mean())
    part = _parts(task, moved) / unit
    raised = task.metric.raised(q)
    tilts = task.X - feet - (part * task.y / (size * norm2))[:, None] * raised
    h = part * task.y * size / norm2
    c = p - hat.f0 + np.einsum("ij,ij->i", tilts, q)
    elements = TiltedElements(feet, tilts)
    M = products(hat.kernel, elements, elements) + np.outer(h, c) + np.outer(c, h) + norm2 * np.outer(h, h)
    beta, f0 = task.solve(np.asarray(0.5 * (M + M.T), np.float64), size / unit)
    support = np.union1d(moved.support, np.flatnonzero(beta))
    hat = _over(moved, support)
    assert hat.b is not None  # noqa: S101 (it came from ``hyperplane``)
    keep = float(beta @ h)
    a, b = beta[support] + keep * hat.a, beta[support, None] * tilts[support] + keep * hat.b
    return Field(hat.kernel, hat.points, a, f0, b), support


def _parts(task: TwoClasses, moved: Stage) -> Vector:
    """Return how much of the margin each sample has, at most 1; 1 for errors that are not measured as distances."""
    if task.recipe.slack == "feature" or not 0.0 < moved.worth.margin < np.inf:
        return np.ones(len(task.X))
    distances = signed(moved.field.values(task.X, task.pool), task.y, moved.feet.distance)
    return np.minimum(distances / moved.worth.margin, 1.0)


def _over(moved: Stage, support: NDArray[np.int64]) -> Field:
    """Return the function with bases at more samples, whose coefficients are 0."""
    points = moved.old[support]
    a, b, place = np.zeros(len(support)), np.zeros_like(points), np.searchsorted(support, moved.support)
    assert moved.field.b is not None  # noqa: S101 (it came from ``hyperplane``)
    a[place], b[place] = moved.field.a, moved.field.b
    return replace(moved.field, points=points, a=a, b=b)


def _damped(task: TwoClasses, moved: Stage, aim: Field, support: NDArray[np.int64]) -> Stage:
    """Return the best stage on the way to ``aim`` from the function of ``moved``, scaled to a normal of equal length.

    Projections that start from the samples and from the old projections are compared; the best is measured anew.
    """
    hat = _over(moved, support)
    length, own = aim.squared_norm(task.pool), hat.squared_norm(task.pool)
    if not (length > 0.0 and own > 0.0):  # the difference is rounding, not a direction
        return stage(task, aim, support, moved.old, moved.unit)
    hat = hat.scaled(float(np.sqrt(length / own)))
    best, score = aim, -np.inf
    for part in DAMPING:
        mixture = hat.scaled(1.0 - part) + aim.scaled(part)
        found = _worth(task, mixture, _roughly(task, mixture, moved.old), moved.unit).score
        if found <= score:
            break
        best, score = mixture, found
    return stage(task, best, support, moved.old, moved.unit)


def _roughly(task: TwoClasses, field: Field, feet: Vector) -> Vector:
    """Return distances from two starts for each sample."""
    n = len(task.X)
    twice = np.tile(np.arange(n), 2)
    bound = np.tile(0.5 * task.metric.lengths(feet - task.X) + 1e-12, 2)
    start = np.concatenate([task.X, feet])
    lengths = project(field, task.metric.take(twice), task.X[twice], start, bound, task.pool)[1]
    return lengths.reshape(2, n).min(axis=0)
