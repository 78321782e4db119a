"""Exact leave-one-out: a sample that decides leaves a copy of the path; any other sample changes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..arrays import Ids, Matrix, Vector
from ..certificates import intercept
from ..problems import Dual
from ..solvers.path import Homotopy, Stalled
from .learner import Learner
from .track import Track

WHOLE_KERNEL = 4096  # Samples up to which all of K is held meanwhile.


def loo_values(learner: Learner, signs: bool = False, slots: Ids | None = None) -> Matrix:
    """Return the value of each sample, (n_samples, n_problems), by the solution without it.

    ``signs`` says that only the signs count. If a hinge loss is minimised, the loss of a sample only grows when it is
    left out. A sample on the wrong side then stays there and costs nothing. ``slots`` are the samples that are asked
    for, (n_samples,); None are all.
    """
    store = learner.store
    with learner.in_time():
        if store.n < 2:
            raise ValueError("Leaving one out needs at least two samples. Got 1.")
        out, wanted = np.full((store.n, len(learner.tracks)), np.nan), np.full(store.n, slots is None)
        wanted[slots] = True
        for column, track in zip(out.T, learner.tracks, strict=True):
            dual = track.dual(learner.program)
            column[track.numbers] = _of_program(learner, track, dual, signs, wanted[track.numbers])
            others = np.flatnonzero(np.isnan(column) & wanted)
            if len(others) and len(dual):
                support = np.flatnonzero(track.beta)
                values = track.kernel(store.near(others), store.near(track.numbers[support])) @ track.beta[support]
                divisor = learner.divisor(track.width(dual, track.beta, track.g))
                column[others] = (values + intercept(dual, track.beta, track.g)) / divisor
    np.nan_to_num(out, copy=False)  # a program without samples gives 0
    return out if slots is None else out[slots]


def _of_program(learner: Learner, track: Track, dual: Dual, signs: bool, wanted: NDArray[np.bool_]) -> Vector:
    """Return the values for the samples of a program; those of samples that are not wanted are any number."""
    n = len(dual)
    if not n:
        return np.zeros(0)
    path, nu = track.path(learner.program), any(dual.totals)
    sphere = learner.foundation.form.sphere
    out = decision(dual, path.beta, path.g, sphere) / learner.divisor(track.width(dual, path.beta, path.g))
    which = np.flatnonzero(wanted & deciding(dual, path.beta, path.g))
    if not nu:
        if signs:
            which = which[out[which] * dual.t[which] >= 0.0]
        values = path.straight()
        known = np.isfinite(values)
        out[path.ids[known]] = values[known]
        which = np.setdiff1d(which, path.ids[known])
    for one, goal, left in left_out(learner, track, which):
        if nu or isinstance(left, Track) or not left.margin.held:
            values = decision(goal, left.beta, left.g, sphere)
            out[one] = values[one] / learner.divisor(track.width(goal, left.beta, left.g))
        else:
            out[one] = left.g[one] + goal.t[one] + (left.offset if dual.totals else 0.0)
    return out


def deciding(dual: Dual, beta: Vector, g: Vector) -> NDArray[np.bool_]:
    """Return the variables of a solution without which the decision function may be another one.

    These are the support vectors, and free variables at 0 (only epsilon=0 has them), as they may hold b. If the sums
    depend on nu, they change with every sample. If no variable is free, b is the middle of an interval, and any
    variable may be an end of it.
    """
    if any(dual.totals):
        return np.ones(len(dual), bool)
    free = dual.free(beta)
    out = free | (beta != 0.0)
    if dual.totals and not free.any():
        for gain in (dual.growth(beta, g), dual.shrinkage(beta, g)):
            out |= np.isfinite(gain) & (gain == gain.max(initial=-np.inf))
    return out


def left_out(learner: Learner, track: Track, which: Ids) -> Iterator[tuple[int, Dual, Homotopy | Track]]:
    """Yield the solution of a program without each of some samples; the learner stays as it is.

    Parameters
    ----------
    which : positions of the samples in the program

    Yields
    ------
    one : int
    goal : the program without this sample
    left : its solution, valid until the next one is asked for
    """
    dual = track.dual(learner.program)
    path, nu = track.path(learner.program), any(dual.totals)
    rows = track.rows(np.arange(len(dual))).__getitem__ if len(dual) <= WHOLE_KERNEL and len(which) else track.rows
    used: Homotopy | None = None
    for one in which.tolist():
        track.store.clock.check()
        goal = track.dual(learner.program, np.array([one])) if nu else _held(dual, one)
        try:
            left = used = path.without(np.array([one]), goal, rows, used)
        except Stalled:
            used = None
            left = Track.of(track.store, track.kernel, track.state())
            learner.solve_anew(left, goal)
        yield one, goal, left


def _held(dual: Dual, one: int) -> Dual:
    """Return the program with one variable at 0."""
    lower, upper = dual.lower.copy(), dual.upper.copy()
    lower[one] = upper[one] = 0.0
    return replace(dual, lower=lower, upper=upper)


def decision(dual: Dual, beta: Vector, g: Vector, sphere: bool = False) -> Vector:
    """Return decision values of the samples of a program, before any division by a margin.

    sphere : whether the targets, half of k(x, x), are subtracted
    """
    explicit = len(dual.totals) > 0 and dual.sign is None
    return g + (0.0 if sphere else dual.t) + (intercept(dual, beta, g) if explicit else 0.0)
