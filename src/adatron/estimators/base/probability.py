"""Class probabilities that agree with the predicted classes.

Two classes   Platt's sigmoid of the decision value without its intercept, 1 / (1 + exp(-s f)) with s >= 0: it is 1/2
              where the prediction changes. s is fitted to *out-of-fold* decision values, with Platt's prior; each of
              them also counts with the other sign and class, which makes the intercept 0.
More classes  the same for each pair, r_ij = P(class i | class i or j), with one s for all pairs (small classes tell
              little about their own). Then p_i = 1 / (sum_j 1 / r_ij - (K - 2)), divided by the sum over i: exact where
              the pairs agree with each other. Against the rest, f is the difference of the values of two classes, and
              p is the softmax of s times the values.
Agreement     votes and probabilities may differ where several classes are close. Then the nearest distribution (in the
              sense of Kullback and Leibler) is taken that gives no class more than the predicted one.
Sources       J. Platt, Probabilistic outputs for support vector machines (1999); D. Price, S. Knerr, L. Personnaz,
              G. Dreyfus, Pairwise neural network classifiers with probabilistic outputs, NIPS 7 (1995), for the
              coupling; D. DeCoste, K. Wagstaff, Alpha seeding for support vector machines, KDD (2000), for folds that
              start from the solution for all samples.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ..checks import inputs
from .machine import KernelMachine
from .quiet import quiet

if TYPE_CHECKING:
    from ...fitting.binary import Binary
    from ...fitting.fits import Fits
    from ...fitting.folds import Folds
    from ...threads import Clock

Vector = NDArray[np.float64]
Ids = NDArray[np.int64]
COARSE = 0.01  # of the margin: an error of decision values that is nothing beside the sampling error of the slope


def _offered(model: Probabilistic) -> bool:
    """Whether the model has probabilities, for ``available_if``."""
    if not model.with_probability:
        raise AttributeError("probability estimates are only available with probability=True")
    return True


class Probabilistic(KernelMachine):
    """A classifier with probabilities."""

    probability: bool | str
    random_state: Any
    classes_: NDArray[Any]
    _slope: float | None = None

    def _rng(self) -> np.random.RandomState:
        """Return the generator that shuffles the samples before they are left out; None is a fixed seed."""
        return check_random_state(0 if self.random_state is None else self.random_state)

    @property
    def with_probability(self) -> bool:
        """Whether ``probability`` is True."""
        return self.probability != "deprecated" and bool(self.probability)

    @abstractmethod
    def _scales(self, fitted: Fits) -> Vector:
        """Return the divisor of each problem's solution."""

    @abstractmethod
    def _one_against_one(self) -> bool:
        """Whether there is a problem for each pair of more than two classes."""

    @abstractmethod
    def _check_ties(self) -> None:
        """Refuse a way to break ties that does not go with the shape of the decision function."""

    @abstractmethod
    def _codes(self, values: Vector) -> Ids:
        """Number of the predicted class, (n_samples,), from the values of the problems."""

    @available_if(_offered)
    @quiet
    def predict_proba(self, X: Any) -> Vector:
        """Probabilities of the classes; the predicted class has the largest one.

        Available if ``probability=True``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            The columns are in the order of ``classes_``, each row sums to 1.

        Raises
        ------
        NotFittedError
            If the model was fitted without ``probability=True``.
        """
        check_is_fitted(self)
        slope = self._slope
        if slope is None:
            raise NotFittedError("predict_proba is not available when fitted with probability=False")
        self._check_ties()

        def probabilities(values: Vector) -> Vector:
            return agreeing(coupled(slope * self._of_pairs(values), len(self.classes_)), self._codes(values))

        return self._decision(X, probabilities)

    @available_if(_offered)
    @quiet
    def predict_log_proba(self, X: Any) -> Vector:
        """Logarithms of the probabilities of the classes.

        Available if ``probability=True``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        logarithms : ndarray of shape (n_samples, n_classes)
        """
        return np.log(self.predict_proba(X))

    def _fit_probabilities(self, X: Any, divided: Folds, whole: Binary, fitted: Fits, clock: Clock) -> Fits:
        """Fit the slope; the problems of the folds, solved from the solutions of the whole problems.

        Folds that there is no time for do not count; with none the slope is 0, so that all classes are as probable.
        """
        from ...fitting import engine
        from ...fitting.folds import starts

        X = inputs.as_dense_if_small(X, self.kernel)
        settings = self.settings(self._served(), clock)
        coarse = COARSE * float(self._scales(fitted).min())
        settings = replace(settings, tol=max(settings.tol, coarse), gap_tol=None)
        self._slope = 0.0
        if clock.late:
            return fitted
        samples, parts = whole.of_folds(divided)
        solved = engine.fit(X, samples, parts, settings, starts(divided, whole, fitted, samples, parts))
        found, known = self._out_of_fold(X, divided, solved, clock)
        left = known & (divided.out >= 0)
        if left.any():
            self._slope = slope(found[left], divided.samples.weight[left])
        return solved

    def _out_of_fold(self, X: Any, divided: Folds, solved: Fits, clock: Clock) -> tuple[Vector, NDArray[np.bool_]]:
        """By how much the fold that leaves a sample out prefers its class to each other one, (n_samples, k - 1).

        And of which samples there was time to find it.
        """
        from ...fitting.folds import FOLDS
        from ...threads import OutOfTime

        n, many = len(divided.out), len(solved) // FOLDS
        values, known = np.zeros((n, len(self.classes_) - 1)), np.zeros(n, bool)
        margins = self._margins_of_pairs if self._one_against_one() else self._margins
        for fold in range(FOLDS):
            some, out = range(fold * many, (fold + 1) * many), np.flatnonzero(divided.out == fold)
            if solved.found.late(some):
                continue
            try:
                values[out] = margins(X, divided, solved, some, out, clock)  # checked below
            except OutOfTime:
                break
            known[out] = True
        if not np.isfinite(values).all():
            raise ValueError(
                "The decision values of left-out samples, which probability=True needs, are not finite. The input data "
                "may contain large values and need to be preprocessed."
            )
        return values, known

    def _margins(self, X: Any, divided: Folds, solved: Fits, some: range, out: Ids, clock: Clock) -> Vector:
        """Margins of some samples, from one problem or from those of each class against the rest."""
        rows, classes = divided.samples.rows, divided.classes[out]
        beta = _over_all(solved, some, len(rows))
        support = np.flatnonzero(beta.any(axis=0))
        left_out, vectors = X[rows[out]], self._vectors(X, rows[support])
        kernel, intercepts = clock.limited(self._served()), solved.found.intercept[some.start : some.stop]
        expansion = self._sum_over(left_out, vectors, beta[:, support], rows[support], kernel)
        values = self._evaluate(left_out, expansion, intercepts, limit=clock.limit)
        values /= self._scales(solved)[some.start : some.stop]
        if len(self.classes_) == 2:
            return np.where(classes[:, None] == 1, values, -values)
        own = values[np.arange(len(out)), classes]
        others = np.arange(len(self.classes_)) != classes[:, None]
        return (own[:, None] - values)[others].reshape(len(out), -1)

    def _margins_of_pairs(self, X: Any, divided: Folds, solved: Fits, some: range, out: Ids, clock: Clock) -> Vector:
        """Margins of some samples, each from the pairs of its class only."""
        from ...fitting.layout import Coefficients
        from ...gram import PairSums, Source
        from ...predicting.decision import pair_margins

        rows, first = divided.samples.rows, solved.first[some.start : some.stop + 1]
        beta, ids = solved.beta[first[0] : first[-1]], solved.ids[first[0] : first[-1]]
        used, scales = np.flatnonzero(beta), self._scales(solved)[some.start : some.stop]
        problems = np.repeat(np.arange(len(some)), np.diff(first))[used]
        coefficients = Coefficients(beta[used] / scales[problems], ids[used], problems, len(some))
        support, counts, dual = coefficients.arranged(divided.classes, len(self.classes_), pairs=True)
        left_out, vectors = X[rows[out]], self._vectors(X, rows[support])
        given, kernel = left_out if self._values else vectors, clock.limited(self._served())
        points = Source.of(given, np.arange(len(support)), kernel, rows[support])
        pairs, intercepts = (
            PairSums(points, dual, counts.astype(np.int64)),
            solved.found.intercept / self._scales(solved),
        )
        own = intercepts[some.start : some.stop]
        return pair_margins(left_out, pairs, own, divided.classes[out], self.n_jobs, clock.limit)

    def _of_pairs(self, values: Vector) -> Vector:
        """(n, n_pairs) values of the pairs i < j, positive for class i, from those of the problems."""
        if len(self.classes_) == 2:
            return -values  # the second class is the positive one
        if self._one_against_one():
            return values
        return np.stack([values[:, i] - values[:, j] for i, j in combinations(range(len(self.classes_)), 2)], axis=1)


def _over_all(fitted: Fits, some: range, n: int) -> Vector:
    """(n_problems, n) coefficients of all samples in some problems."""
    out, first = np.zeros((len(some), n)), fitted.first[some.start : some.stop + 1]
    own = slice(first[0], first[-1])
    out[np.repeat(np.arange(len(some)), np.diff(first)), fitted.ids[own]] = fitted.beta[own]
    return out


def slope(margins: Vector, weight: Vector) -> float:
    """The slope of the sigmoid of all pairs of classes, >= 0, each from its own samples.

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


def coupled(logits: Vector, n_classes: int) -> Vector:
    """(n, n_classes) probabilities from the logarithms of the odds of each pair, (n, n_pairs)."""
    inverse = np.zeros((len(logits), n_classes))  # log(sum_j 1 / r_ij - (K - 2)), as 1 / r_ij = 1 + exp(-logit)
    for pair, (i, j) in enumerate(combinations(range(n_classes), 2)):
        inverse[:, i] = np.logaddexp(inverse[:, i], -logits[:, pair])
        inverse[:, j] = np.logaddexp(inverse[:, j], logits[:, pair])
    return softmax(-inverse, axis=1)


def agreeing(probabilities: Vector, codes: Ids) -> Vector:
    """The nearest probabilities of which the classes ``codes`` have the largest.

    That is isotonic regression: the predicted class and those above it share their mean, the largest over all ways to
    choose the latter.
    """
    wrong = np.flatnonzero(np.argmax(probabilities, axis=1) != codes)
    rows, own = np.arange(len(wrong)), codes[wrong]
    p = probabilities[wrong]
    mine = p[rows, own]
    p[rows, own] = 0.0
    sums = mine[:, None] + np.cumsum(-np.sort(-p, axis=1), axis=1)
    level = np.maximum(mine, (sums / np.arange(2, p.shape[1] + 2)).max(axis=1))
    p = np.minimum(p, level[:, None])
    p[rows, own] = np.nextafter(level, 2.0)  # argmax must not see a tie
    out = probabilities.copy()
    out[wrong] = p
    return out
