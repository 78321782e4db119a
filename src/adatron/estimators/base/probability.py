"""Class probabilities that agree with the predicted classes.

Two classes   Platt's sigmoid of the decision value without its intercept, 1 / (1 + exp(-s f)) with s >= 0: it is 1/2
              where the prediction changes. s is fitted to *out-of-fold* decision values, with Platt's prior; each of
              them also counts with the other sign and class, which makes the intercept 0.
More classes  the same for each pair with one s for all pairs: small classes tell little about their own. The module
              ``heads`` couples the pairs.
Sources       J. Platt, Probabilistic outputs for support vector machines (1999); D. DeCoste, K. Wagstaff,
              Alpha seeding for support vector machines, KDD (2000), for folds that start from the solution for all
              samples.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...arrays import Ids, Vector
from ...door import inputs
from .convergence import warn_unless_calibrated

if TYPE_CHECKING:
    from ...fitting.engine import Settings
    from ...fitting.fit import TrainingSet
    from ...fitting.fits import Fits
    from ...fitting.programs import Binary
    from ...fitting.samples import Samples
    from ...problems import Problem

SLOPE_ERROR = 0.01  # of the margin: an error of decision values that is nothing beside the sampling error of the slope


class Calibration:
    """The folds of a fit, and the slope that their decision values give, see ``fitting.fit``.

    rng : shuffles the samples
    """

    def __init__(self, rng: np.random.RandomState) -> None:
        self.rng = rng

    def divide(self, samples: Samples) -> None:
        """Deal the samples out to folds."""
        from ...fitting.samples import divide

        self.divided = divide(samples, self.rng)

    def slope(
        self, data: TrainingSet, problem: Problem, settings: Settings, programs: Binary, fits: Fits, values: bool
    ) -> float:
        """Return the sigmoid's slope, by the problems of all folds, solved from the solutions of the whole problems.

        Folds that there is no time for do not count; with none the slope is 0, so that all classes are as probable.
        """
        from ...fitting.engine import solve
        from ...fitting.programs import starts

        self.X, self.settings, self.problem, self.head = data.rows, settings, problem, data.head
        coarse, found = SLOPE_ERROR * float(self._scales(fits).min()), 0.0
        if not settings.clock.late:
            samples, parts = programs.of_folds(self.divided)
            begin = starts(self.divided, programs, fits, samples, parts)
            self.settings = replace(settings, tol=max(settings.tol, coarse), gap_tol=None)
            fits = solve(self.X, samples, parts, self.settings, begin)
            values_of, known = self._out_of_fold(fits)
            left = known & (self.divided.out >= 0)
            found = slope(values_of[left], self.divided.samples.weight[left]) if left.any() else 0.0
        settings.judge(fits, data.X, what="problems of the folds", values=values)
        warn_unless_calibrated(settings.clock, found)
        return found

    def _scales(self, fitted: Fits) -> Vector:
        """Return the divisor of each problem's solution."""
        divisors = self.problem.divisors(fitted.found.half_width)
        return np.ones(len(fitted)) if divisors is None else divisors

    def _out_of_fold(self, solved: Fits) -> tuple[Vector, NDArray[np.bool_]]:
        """Return by how much a fold prefers the class of a sample that it leaves out to each other one, (n, k - 1).

        The second array says which samples there was time for.
        """
        from ...fitting.samples import FOLDS
        from ...threads import OutOfTime

        n, many = len(self.divided.out), len(solved) // FOLDS
        values, known = np.zeros((n, len(self.head.labels) - 1)), np.zeros(n, bool)
        margins = self._margins_of_pairs if self.head.in_pairs else self._margins
        for fold in range(FOLDS):
            some, out = range(fold * many, (fold + 1) * many), np.flatnonzero(self.divided.out == fold)
            if solved.found.late(some):
                continue
            try:
                values[out] = margins(solved, some, out)  # checked below
            except OutOfTime:
                break
            known[out] = True
        if not np.isfinite(values).all():
            raise ValueError(
                "The decision values of left-out samples, which probability=True needs, are not finite. The input data "
                "may contain large values and need to be preprocessed."
            )
        return values, known

    def _margins(self, solved: Fits, some: range, out: Ids) -> Vector:
        """Return margins of some samples, from one problem or from those of each class against the rest."""
        from ...model.decision import decision_values
        from ...model.expansion import Expansion

        settings, rows, classes = self.settings, self.divided.samples.rows, self.divided.classes[out]
        beta = _over_all(solved, some, len(rows))
        support, left_out = np.flatnonzero(beta.any(axis=0)), self.X[rows[out]]
        kernel = settings.clock.limited(settings.kernel)
        expansion = Expansion(self._vectors(left_out, rows[support]), beta[:, support].T, kernel, rows[support])
        precision = "single" if settings.precision == "single" else "double"
        how = precision, settings.n_jobs, np.asarray, None, settings.clock.limit
        values = decision_values(left_out, expansion, solved.found.intercept[some.start : some.stop], *how)
        return self.head.margins(values / self._scales(solved)[some.start : some.stop], classes)

    def _margins_of_pairs(self, solved: Fits, some: range, out: Ids) -> Vector:
        """Return margins of some samples, each from the pairs of its class only."""
        from ...gram import PairSums, Source
        from ...model.decision import pair_margins
        from ...model.layout import Coefficients

        settings, divided = self.settings, self.divided
        rows, first = divided.samples.rows, solved.first[some.start : some.stop + 1]
        beta, ids = solved.beta[first[0] : first[-1]], solved.ids[first[0] : first[-1]]
        used, scales = np.flatnonzero(beta), self._scales(solved)[some.start : some.stop]
        problems = np.repeat(np.arange(len(some)), np.diff(first))[used]
        coefficients = Coefficients(beta[used] / scales[problems], ids[used], problems, len(some))
        support, counts, dual = coefficients.arranged(divided.classes, len(self.head.labels), in_pairs=True)
        left_out = self.X[rows[out]]
        vectors, kernel = self._vectors(left_out, rows[support]), settings.clock.limited(settings.kernel)
        points = Source.of(vectors, np.arange(len(support)), kernel, rows[support])
        pairs = PairSums(points, dual, counts.astype(np.int64))
        intercepts = solved.found.intercept[some.start : some.stop] / scales
        return pair_margins(left_out, pairs, intercepts, divided.classes[out], settings.n_jobs, settings.clock.limit)

    def _vectors(self, left_out: Any, rows: Ids) -> Any:
        """Return support vectors; rows that are left out if X holds kernel values."""
        from ...gram import take_rows

        return left_out if inputs.given(self.settings.kernel) else take_rows(self.X, rows, self.settings.n_jobs)


def _over_all(fitted: Fits, some: range, n: int) -> Vector:
    """Return coefficients of all samples in some problems, (n_problems, n)."""
    out, first = np.zeros((len(some), n)), fitted.first[some.start : some.stop + 1]
    own = slice(first[0], first[-1])
    out[np.repeat(np.arange(len(some)), np.diff(first)), fitted.ids[own]] = fitted.beta[own]
    return out


def slope(margins: Vector, weight: Vector) -> float:
    """Return the slope of the sigmoid of all pairs of classes, >= 0, each from its own samples.

    Parameters
    ----------
    margins : (n, n_classes - 1) out-of-fold values of the pairs of each sample's class, positive for this class
    weight : (n,) weight of each sample
    """
    from sklearn.calibration import _SigmoidCalibration  # pyright: ignore[reportPrivateUsage]

    from ...threads.gate import one_blas_thread

    f, often = margins.ravel(), np.repeat(weight, margins.shape[1])
    first = np.ones(len(f))
    with one_blas_thread():  # bits of BLAS depend on its threads
        sigmoid = _SigmoidCalibration().fit(np.r_[f, -f], np.r_[first, 1.0 - first], np.r_[often, often])
    return max(0.0, -float(sigmoid.a_))
