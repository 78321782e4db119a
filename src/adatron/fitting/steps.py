"""The steps of InputMarginSVC: the algorithms of ``margins`` with the quadratic programs of this library."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from time import monotonic
from typing import Any

import numpy as np

from ..arrays import Ids, Vector
from ..certificates import best_multipliers
from ..kernels import Precomputed
from ..margins import (
    Field,
    Metric,
    Recipe,
    Stage,
    TwoClasses,
    Worth,
    climb,
    estimated,
    first_stage,
    measured,
    needed_bytes,
    step_cost,
    unmeasured,
)
from ..problems import Dual, with_targets
from ..threads import Clock, OutOfTime, Pool
from .engine import Settings, solve
from .fits import Fits, Fitted
from .programs import Listed, Program, Programs
from .samples import Samples

LAPACK_RATE = 3e9  # Multiply-adds of LAPACK in a second, at least.


@dataclass(frozen=True)
class Climb:
    """The result of the steps of one problem.

    fitted : solution of the program that the best decision function comes from
    path : margin before the first step and after each step
    stage : best decision function of the full algorithm; None for the others
    size : ĝ at the samples; None for the full algorithm
    cut : whether there was no time for all steps, or to measure the best one
    """

    fitted: Fitted
    worth: Worth
    path: list[float]
    stage: Stage | None = None
    size: Vector | None = None
    cut: bool = False


@dataclass(frozen=True)
class Data:
    """The distinct samples of a fit, X (m, d) in float64 with their metrics."""

    X: Vector
    metric: Metric
    settings: Settings
    pool: Pool

    @property
    def clock(self) -> Clock:
        """The time to stop."""
        return self.settings.clock


def field_of(data: Data, one: Fitted) -> Field:
    """Return the decision function of a solution over the samples themselves."""
    return Field(data.settings.kernel, data.X[one.ids], one.beta, one.intercept)


def full(data: Data, program: Program, one: Fitted, recipe: Recipe) -> Climb:
    """Run Algorithm 1 for one problem.

    Raises
    ------
    ValueError
        The matrices of the problem do not fit.
    """
    if one.status is None:
        return Climb(one, Worth(np.nan, np.nan), [])
    _check_memory(data, one, recipe)
    dual, ids = program.dual(one.ids), one.ids
    solved = [one]

    def solve(M: Vector, size: Vector) -> tuple[Vector, float]:
        start = solved[-1].beta if recipe.warm else None
        solved.append(_solve(data, _semidefinite(M), with_targets(dual, size, recipe.slack), ids, start))
        return solved[-1].beta, solved[-1].intercept

    C = np.maximum(dual.upper, -dual.lower)
    task = TwoClasses(data.X[ids], np.sign(dual.t), C, data.metric.take(ids), solve, recipe, data.pool)
    field = field_of(data, one)
    try:
        start = best = first_stage(task, field)
    except OutOfTime:
        best = unmeasured(task, field.lean(), np.flatnonzero(field.a))
        return Climb(one, best.worth, [], best, cut=True)
    path, last, cut = [start.worth.margin], one, True
    steps = climb(task, start)
    with suppress(OutOfTime):
        while _has_time(data, best, recipe):
            if (now := next(steps, None)) is None:
                cut = False
                break
            path.append(now.worth.margin)
            if now.worth.score > best.worth.score:
                best, last = now, solved[-1]
    cut = cut and len(path) <= recipe.n_steps
    try:
        best = measured(task, best)
    except OutOfTime:
        best, cut = unmeasured(task, best.field, best.support), True
    return Climb(last, best.worth, path, best, cut=cut)


def _has_time(data: Data, now: Stage, recipe: Recipe) -> bool:
    """Return whether there is time for the part of another step that nobody can interrupt."""
    least = step_cost(len(now.feet.distance), len(now.support), data.X.shape[1], recipe) / LAPACK_RATE
    return not data.clock.late and monotonic() + least < data.clock.limit


def _check_memory(data: Data, one: Fitted, recipe: Recipe) -> None:
    n, support = len(one.ids), int(np.count_nonzero(one.beta))
    needed = needed_bytes(n, support, data.X.shape[1], recipe)
    if needed > data.settings.cache_bytes:
        algorithm = "full" if recipe.moves else "fixed"
        raise ValueError(
            f"{algorithm=} needs about {needed / 2**20:.0f} MB for {n} samples of {data.X.shape[1]} features with "
            f"{support} support vectors. The 'cache_size' parameter allows {data.settings.cache_bytes / 2**20:.0f} MB: "
            "raise it, or use algorithm='simplified'."
        )


def _semidefinite(M: Vector) -> Vector:
    """Return M without its negative eigenvalues, which come from rounding: M is a matrix of inner products."""
    values, vectors = np.linalg.eigh(M)
    return M if values[0] >= 0.0 else (vectors * np.maximum(values, 0.0)) @ vectors.T


def _solve(data: Data, K: Vector, dual: Dual, ids: Ids, start: Vector | None = None) -> Fitted:
    """Solve a program over a given matrix, from coefficients or from 0."""
    samples = Samples.alone(np.arange(len(ids)))
    settings = replace(data.settings, kernel=Precomputed(), precision="double")
    programs, begin = Listed([Program([0], lambda _: dual)]), None if start is None else lambda _: start
    return replace(solve(K, samples, programs, settings, begin)[0], ids=ids)


def simplified(
    data: Data, X: Any, samples: Samples, programs: Programs, fits: Fits, n_steps: int, rescaled: bool
) -> list[Climb]:
    """Run section 6: targets y ĝ from the gradients at the samples themselves, for all problems at once."""
    fitted = list(fits)
    now = best = [_begun(data, *parts) for parts in zip(programs, fitted, strict=True)]
    units = [None if one.size is None else float(one.size.mean()) for one in best]
    with suppress(OutOfTime):
        for _ in range(0 if data.clock.late else n_steps):
            sizes = [np.ones(len(one.fitted.ids)) if one.size is None else one.size / one.size.mean() for one in now]
            if rescaled:
                fitted = [_rescaled(data, *parts) for parts in zip(programs, fitted, sizes, strict=True)]
            else:
                changed = [Program(p.segments, _changed(p.dual, t)) for p, t in zip(programs, sizes, strict=True)]
                starts = partial(_betas, fitted)
                fitted = list(solve(X, samples, Listed(changed), data.settings, starts))
            paths = [one.path for one in now]
            now = [_measured(data, *parts) for parts in zip(programs, fitted, units, paths, strict=True)]
            best = [_better(*pair) for pair in zip(best, now, strict=True)]
            if data.clock.late:
                break
    return [replace(one, cut=one.fitted.status is not None and len(one.path) <= n_steps) for one in best]


def _better(best: Climb, now: Climb) -> Climb:
    return now if now.worth.score > best.worth.score else replace(best, path=now.path)


def _begun(data: Data, program: Program, one: Fitted) -> Climb:
    """Measure the original machine, if there is time."""
    try:
        return _measured(data, program, one, None, [])
    except OutOfTime:
        return Climb(one, Worth(np.nan, np.nan), [])


def _measured(data: Data, program: Program, one: Fitted, unit: float | None, path: list[float]) -> Climb:
    if one.status is None:
        return Climb(one, Worth(np.nan, np.nan), [])
    dual = program.dual(one.ids)
    C, ids = np.maximum(dual.upper, -dual.lower), one.ids
    field, y = field_of(data, one), np.sign(dual.t)
    found, size = estimated(field, data.metric.take(ids), data.X[ids], y, C, unit, data.pool)
    return Climb(one, found, [*path, found.margin], size=size)


def _changed(program: Callable[[Ids], Dual], size: Vector) -> Callable[[Ids], Dual]:
    return lambda ids: with_targets(program(ids), size)


def _betas(fitted: list[Fitted], some: range) -> Vector:
    return np.concatenate([fitted[number].beta for number in some])


def _rescaled(data: Data, program: Program, one: Fitted, size: Vector) -> Fitted:
    """Rescale as the paper does: the original machine with k(x_i, x_j) / (ĝ_i ĝ_j).

    Its constraint is Σ ĝ a = 0 for the coefficients a of k. It belongs to a bias b ĝ(x), and ĝ is unknown for other x.
    So f0 is the best bias for these a in the program with t = y ĝ.
    """
    if one.status is None:
        return one
    X, dual = data.X[one.ids], program.dual(one.ids)
    K = data.settings.kernel(X) / np.outer(size, size)
    found = _solve(data, K, dual, one.ids)
    a, exact = found.beta / size, with_targets(dual, size)
    f0 = best_multipliers(exact, a, (K @ found.beta) * size - exact.t)
    return replace(found, beta=a, intercept=float(f0[0]))
