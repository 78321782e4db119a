"""Exact leave-one-out: a sample that decides leaves a copy of the path; any other sample changes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from ..arrays import Ids, Matrix, Vector
from ..certificates import Certificate, intercept, kkt_violation
from ..problems import Dual
from ..solvers.path import Homotopy, Stalled
from .learner import Learner
from .track import Track

WHOLE_KERNEL = 4096  # Samples up to which all of K is held meanwhile.


@dataclass(frozen=True)
class Optimum:
    """The solution of one program of a learner, with all samples or without one of them.

    dual : the program; a sample that is left out has bounds of 0
    beta, g : the solution and its gradient
    held : the bias, if a free variable of the path holds it, 0 without a bias; else None
    """

    learner: Learner
    track: Track
    dual: Dual
    beta: Vector
    g: Vector
    held: float | None = None

    @classmethod
    def of(cls, learner: Learner) -> list[Self]:
        """Return the solutions of all programs with all samples."""
        return [cls(learner, track, track.dual(learner.problem), track.beta, track.g) for track in learner.tracks]

    @property
    def intercept(self) -> float:
        """The bias of the decision function, before any division by a margin."""
        return intercept(self.dual, self.beta, self.g)

    @property
    def divisor(self) -> float:
        """The divisor of decision values."""
        width = self.track.width(self.dual, self.beta, self.g)
        divisors = self.learner.problem.divisors(np.array([width]))
        return 1.0 if divisors is None else float(divisors[0])

    @property
    def kkt_violation(self) -> float:
        """The violation of the optimality conditions, by the gradient of the path."""
        return kkt_violation(self.dual, self.beta, self.g)

    def prove(self) -> Certificate:
        """Return the proof by a gradient computed anew."""
        return self.track.prove(self.dual, self.beta)

    def values(self) -> Vector:
        """Return decision values of the samples, before any division by a margin.

        Decision values of a sphere subtract its targets, which are half of k(x, x).
        """
        dual, sphere = self.dual, self.learner.problem.sphere
        explicit = len(dual.totals) > 0 and dual.sign is None
        return self.g + (0.0 if sphere else dual.t) + (self.intercept if explicit else 0.0)

    def deciding(self) -> NDArray[np.bool_]:
        """Return the variables without which the decision function may be another one.

        These are the support vectors, and free variables at 0 (only epsilon=0 has them), as they may hold b. If the
        sums depend on nu, they change with every sample. If no variable is free, b is the middle of an interval, and
        any variable may be an end of it.
        """
        dual, beta = self.dual, self.beta
        if any(dual.totals):
            return np.ones(len(dual), bool)
        free = dual.free(beta)
        out = free | (beta != 0.0)
        if dual.totals and not free.any():
            for gain in (dual.growth(beta, self.g), dual.shrinkage(beta, self.g)):
                out |= np.isfinite(gain) & (gain == gain.max(initial=-np.inf))
        return out

    def lacking(self, one: int) -> Dual:
        """Return the program without the sample at a position."""
        if any(self.dual.totals):
            return self.track.dual(self.learner.problem, np.array([one]))
        lower, upper = self.dual.lower.copy(), self.dual.upper.copy()
        lower[one] = upper[one] = 0.0
        return replace(self.dual, lower=lower, upper=upper)


def without(own: Optimum, which: Ids) -> Iterator[tuple[int, Optimum]]:
    """Yield each of some positions in a program, and the solution without that sample; the learner stays as it is.

    A solution is valid until the next one is asked for.
    """
    learner, track, n = own.learner, own.track, len(own.dual)
    path = track.path(learner.problem)
    rows = track.rows(np.arange(n)).__getitem__ if n <= WHOLE_KERNEL and len(which) else track.rows
    used: Homotopy | None = None
    for one in which.tolist():
        track.store.clock.check()
        goal, held = own.lacking(one), None
        try:
            left = used = path.without(np.array([one]), goal, rows, used)
            if left.margin.held:
                held = left.offset if goal.totals else 0.0
        except Stalled:
            used, left = None, track.copy()
            learner.solve_anew(left, goal)
        yield one, Optimum(learner, track, goal, left.beta, left.g, held)


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
        for column, own in zip(out.T, Optimum.of(learner), strict=True):
            if not len(own.dual):
                continue
            numbers, support = own.track.numbers, np.flatnonzero(own.beta)
            column[numbers] = _of_program(own, signs, wanted[numbers])
            others = np.flatnonzero(np.isnan(column) & wanted)
            if len(others):
                K = learner.kernel(store.near(others), store.near(numbers[support]))
                column[others] = (K @ own.beta[support] + own.intercept) / own.divisor
    np.nan_to_num(out, copy=False)  # a program without samples gives 0
    return out if slots is None else out[slots]


def _of_program(own: Optimum, signs: bool, wanted: NDArray[np.bool_]) -> Vector:
    """Return the values for the samples of a program; those of samples that are not wanted are any number."""
    dual, path = own.dual, own.track.path(own.learner.problem)
    begin, nu = replace(own, beta=path.beta, g=path.g), any(dual.totals)
    out = begin.values() / begin.divisor
    which = np.flatnonzero(wanted & begin.deciding())
    if not nu:
        if signs:
            which = which[out[which] * dual.t[which] >= 0.0]
        values = path.straight()
        known = np.isfinite(values)
        out[path.ids[known]] = values[known]
        which = np.setdiff1d(which, path.ids[known])
    for one, left in without(own, which):
        if nu or left.held is None:
            out[one] = left.values()[one] / left.divisor
        else:
            out[one] = left.g[one] + left.dual.t[one] + left.held
    return out
