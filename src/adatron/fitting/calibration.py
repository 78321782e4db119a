"""Class probabilities that agree with the predicted classes: the decision values of samples that were left out.

Two classes   Platt's sigmoid of the decision value without its intercept, 1 / (1 + exp(-s f)) with s >= 0: it is 1/2
              where the prediction changes. s is fitted to *out-of-fold* decision values, with Platt's prior; each of
              them also counts with the other sign and class, which makes the intercept 0.
More classes  the same for each pair with one s for all pairs: small classes tell little about their own. The module
              ``readout`` couples the pairs.
Sources       J. Platt, Probabilistic outputs for support vector machines (1999); D. DeCoste, K. Wagstaff,
              Alpha seeding for support vector machines, KDD (2000), for folds that start from the solution for all
              samples.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Ids, Vector
from ..gram import PairSums, Source, take_rows
from ..model.decision import decision_values, pair_margins
from ..model.expansion import Expansion
from ..model.layout import Coefficients
from ..model.readout import Classes
from ..problems import Problem
from ..threads import OutOfTime
from .engine import Settings, solve
from .fits import Fits
from .programs import Binary, starts
from .samples import FOLDS, Folds

SLOPE_ERROR = 0.01  # of the margin: an error of decision values that is nothing beside the sampling error of the slope
NOT_CALIBRATED = (
    "Not calibrated: the time limit (max_time) was reached before the folds of probability=True were solved, "
    "so the probabilities cannot tell the classes apart; raise max_time."
)


@dataclass(frozen=True)
class Calibration:
    """What a fit needs for probabilities.

    rng : shuffles the samples before they are left out
    slope : returns the slope of the sigmoid, given margins, (n, n_classes - 1), and weights, (n,)
    """

    rng: np.random.RandomState
    slope: Callable[[Vector, Vector], float]


def out_of_fold(
    folds: Folds, X: Any, readout: Classes, problem: Problem, settings: Settings, programs: Binary, fits: Fits
) -> tuple[Fits, Vector, Vector]:
    """Solve the problems of all folds from the solutions of the whole problems.

    Returns
    -------
    fits : the solutions; those of the whole problems if there is no time
    margins : (n, n_classes - 1) by how much a fold prefers the class of a sample that it leaves out to each other one
    weight : (n,) of these samples, those that there was time for
    """
    if settings.clock.late:
        return fits, np.zeros((0, len(readout.labels) - 1)), np.zeros(0)
    coarse = SLOPE_ERROR * float(_scales(problem, fits).min())
    samples, parts = programs.of_folds(folds)
    begin = starts(folds, programs, fits, samples, parts)
    settings = replace(settings, tol=max(settings.tol, coarse), gap_tol=None)
    solved = solve(X, samples, parts, settings, begin)
    values, known = _Solved(folds, X, readout, settings, solved, _scales(problem, solved)).values()
    left = known & (folds.out >= 0)
    return solved, values[left], folds.samples.weight[left]


def _scales(problem: Problem, fitted: Fits) -> Vector:
    """Return the divisor of each problem's solution."""
    divisors = problem.divisors(fitted.found.half_width)
    return np.ones(len(fitted)) if divisors is None else divisors


@dataclass(frozen=True)
class _Solved:
    """The solved problems of all folds.

    scales : the divisor of each problem's solution
    """

    folds: Folds
    X: Any
    readout: Classes
    settings: Settings
    solved: Fits
    scales: Vector

    def values(self) -> tuple[Vector, NDArray[np.bool_]]:
        """Return the margins of all samples, (n, k - 1), and which samples there was time for."""
        n, many = len(self.folds.out), len(self.solved) // FOLDS
        values, known = np.zeros((n, len(self.readout.labels) - 1)), np.zeros(n, bool)
        margins = self._margins_of_pairs if self.readout.in_pairs else self._margins
        for fold in range(FOLDS):
            some, out = range(fold * many, (fold + 1) * many), np.flatnonzero(self.folds.out == fold)
            if self.solved.found.late(some):
                continue
            try:
                values[out] = margins(some, out)  # checked below
            except OutOfTime:
                break
            known[out] = True
        if not np.isfinite(values).all():
            raise ValueError(
                "The decision values of left-out samples, which probability=True needs, are not finite. The input data "
                "may contain large values and need to be preprocessed."
            )
        return values, known

    def _margins(self, some: range, out: Ids) -> Vector:
        """Return margins of some samples, from one problem or from those of each class against the rest."""
        settings, rows, classes = self.settings, self.folds.samples.rows, self.folds.classes[out]
        beta = _over_all(self.solved, some, len(rows))
        support, left_out = np.flatnonzero(beta.any(axis=0)), self.X[rows[out]]
        kernel = settings.clock.limited(settings.kernel)
        expansion = Expansion(self._vectors(left_out, rows[support]), beta[:, support].T, kernel, rows[support])
        precision = "single" if settings.precision == "single" else "double"
        how = precision, settings.n_jobs, np.asarray, None, settings.clock.limit
        values = decision_values(left_out, expansion, self.solved.found.intercept[some.start : some.stop], *how)
        return self.readout.margins(values / self.scales[some.start : some.stop], classes)

    def _margins_of_pairs(self, some: range, out: Ids) -> Vector:
        """Return margins of some samples, each from the pairs of its class only."""
        settings, folds, solved = self.settings, self.folds, self.solved
        rows, first = folds.samples.rows, solved.first[some.start : some.stop + 1]
        beta, ids = solved.beta[first[0] : first[-1]], solved.ids[first[0] : first[-1]]
        used, scales = np.flatnonzero(beta), self.scales[some.start : some.stop]
        problems = np.repeat(np.arange(len(some)), np.diff(first))[used]
        coefficients = Coefficients(beta[used] / scales[problems], ids[used], problems, len(some))
        support, counts, dual = coefficients.arranged(folds.classes, len(self.readout.labels), in_pairs=True)
        left_out = self.X[rows[out]]
        vectors, kernel = self._vectors(left_out, rows[support]), settings.clock.limited(settings.kernel)
        points = Source.of(vectors, np.arange(len(support)), kernel, rows[support])
        pairs = PairSums(points, dual, counts.astype(np.int64))
        intercepts = solved.found.intercept[some.start : some.stop] / scales
        return pair_margins(left_out, pairs, intercepts, folds.classes[out], settings.n_jobs, settings.clock.limit)

    def _vectors(self, left_out: Any, rows: Ids) -> Any:
        """Return support vectors; rows that are left out if X holds kernel values."""
        return left_out if self.settings.kernel.name == "precomputed" else take_rows(self.X, rows, self.settings.n_jobs)


def _over_all(fitted: Fits, some: range, n: int) -> Vector:
    """Return coefficients of all samples in some problems, (n_problems, n)."""
    out, first = np.zeros((len(some), n)), fitted.first[some.start : some.stop + 1]
    own = slice(first[0], first[-1])
    out[np.repeat(np.arange(len(some)), np.diff(first)), fitted.ids[own]] = fitted.beta[own]
    return out
