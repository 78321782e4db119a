"""Exact influence: what changes if one sample is deleted.

Each sample leaves the solution along its exact path (decremental learning), so the model without it is the exact one,
not an approximation of first order. Samples that are no support vectors change nothing and are not tried, except those
that hold the bias: they end its interval where no support vector is free, or they are free at 0, if epsilon is 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import r2_score

from ..estimators.base.methods import quiet
from ..gram import Source
from ..learning.leave_out import Optimum, without
from ..threads import Clock
from .subject import Ids, Subject, Vector, counted, drawn, rows_of, stored_as, taken, unnamed
from .twin import Twin, at_bound, candidates, twin_of

MOST_PROBE_VALUES = 4_000_000  # Most kernel values of probes with samples that are held.
PROVEN = 10  # Deletions whose solution is proven by a gradient computed anew.


@dataclass(frozen=True)
class Influence:
    """The result of ``influence``, one entry for each deleted sample, the largest change first.

    Attributes
    ----------
    numbers : ndarray of int of shape (n_deleted,)
        The deleted samples, by their row in X.
    coefficient : ndarray of shape (n_deleted,)
        The largest size of the sample's coefficients.
    bound : ndarray of bool of shape (n_deleted,)
        Whether that coefficient is at its bound C.
    change : ndarray of shape (n_deleted,)
        The mean change of the decision value (of the prediction, in a regression) over the probes.
    flips : ndarray of int of shape (n_deleted,)
        The number of probes whose predicted class changes; 0 in a regression.
    score : ndarray of shape (n_deleted,)
        The score on the probes without the sample, minus the score with it (accuracy, R²); nan without ``y_test``.
    path_violation : ndarray of shape (n_deleted,)
        The violation of the optimality conditions by the solution without the sample: an estimate by the gradient that
        its path keeps.
    proven : ndarray of shape (n_deleted,)
        A proven bound of this violation, from a gradient computed anew in float64, for the first entries; nan for the
        others.
    n_candidates : int
        The number of samples that can matter.
    n_samples, n_probes : int
        How many samples the solution has, and at how many the changes were measured.
    probes : {'test', 'training'}
        Where changes were measured.
    base : float
        The score with all samples; nan without ``y_test``.
    difference : float
        Largest difference of the decision values of the exact solution from those of the model.
    task : {'classification', 'regression', 'novelty'}
        What the model is for.

    Examples
    --------
    >>> from adatron import SVC
    >>> from adatron.insight import influence
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(60, noise=0.3, random_state=0)
    >>> found = influence(SVC(C=10).fit(X, y), X, y)
    >>> bool((found.change[:-1] >= found.change[1:]).all())
    True
    """

    numbers: Ids
    coefficient: Vector
    bound: NDArray[np.bool_]
    change: Vector
    flips: Ids
    score: Vector
    path_violation: Vector
    proven: Vector
    n_candidates: int
    n_samples: int
    n_probes: int
    probes: str
    base: float
    difference: float
    task: str

    @property
    def complete(self) -> bool:
        """Whether every sample that can matter was deleted."""
        return len(self.numbers) == self.n_candidates


@quiet
@unnamed()
def influence(
    model: Any, X: Any, y: Any = None, X_test: Any = None, y_test: Any = None, *, sample_weight: Any = None,
    max_deletions: int | None = None,
) -> Influence:  # fmt: skip
    """Return what changes if single samples are deleted, exactly.

    Parameters
    ----------
    model : SVC, NuSVC, SVR, OneClassSVM, SVDD or their incremental forms
        Fitted; also as the last step of a pipeline, or the best estimator of a search. Steps before the machine stay
        as they are.
    X, y : array-like
        The samples that the model was fitted to, in their order. An incremental model that has forgotten samples keeps
        the others in the order of ``ids_``.
    X_test, y_test : array-like, default=None
        Samples at which changes are measured, and their targets for the score; by default the training samples.
    sample_weight : array-like of shape (n_samples,), default=None
        The weights of the fit.
    max_deletions : int, default=None
        Most samples to delete; if more can matter, chance draws them, always the same ones. None is as many as take
        some ten seconds: a deletion costs about n_samples times the free support vectors.

    Returns
    -------
    Influence

    Raises
    ------
    ValueError
        The samples are not those of the fit, or the machine has no exact deletion.

    Examples
    --------
    >>> from adatron import SVC
    >>> from adatron.insight import influence
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(60, noise=0.2, random_state=0)
    >>> found = influence(SVC(C=10).fit(X, y), X, y)
    >>> bool(found.complete and (found.path_violation < 1e-9).all())
    True
    """
    subject = Subject.of(model, X, y, sample_weight)
    X_test, y_test = subject.tests(X_test, y_test)
    most = None if max_deletions is None else counted("max_deletions", max_deletions, 1)
    return influence_of(subject, twin_of(subject), X_test, y_test, most)


def influence_of(
    subject: Subject, twin: Twin, X_test: Any = None, y_test: Any = None, most: int | None = None,
    clock: Clock | None = None,
) -> Influence:  # fmt: skip
    """Return the influence of the samples of a twin, of as many as there is time for.

    Other samples are those that ``Subject.tests`` gave.
    """
    clock = clock or Clock()
    probes = _Probes.of(subject, twin, X_test, y_test)
    able = candidates(twin)
    slots = able[drawn(len(able), twin.affordable if most is None else most)]
    if clock.left() is not None:  # those that there is time for are drawn by chance, too
        slots = np.random.default_rng(0).permutation(slots)
    out, done = np.zeros((6, len(slots))), len(slots)
    whole = probes.values(Optimum.of(twin.learner))
    base, bound = probes.score(whole), at_bound(twin)
    for k, lefts in enumerate(_without(twin, slots)):
        values = whole.copy()
        for column, left in lefts:
            values[:, column] = probes.values([left])[:, 0]
        coefficients = (float(abs(left.track.beta[left.track.numbers == slots[k]][0])) for _, left in lefts)
        out[:2, k] = max(coefficients, default=0.0), bound[slots[k]]
        out[2:4, k] = np.abs(values - whole).max(axis=1).mean(), probes.flips(whole, values)
        out[4:, k] = probes.score(values) - base, max((left.kkt_violation for _, left in lefts), default=0.0)
        if clock.late:
            done = k + 1
            break
    slots, out = slots[:done], out[:, :done]
    order = np.lexsort((slots, -out[2]))
    proven = np.full(len(order), np.nan)
    for k, lefts in enumerate(_without(twin, slots[order[:PROVEN]])):
        proven[k] = max((float(left.prove().kkt_violation) for _, left in lefts), default=0.0)
        if clock.late:
            break
    coefficient, held, change, flips, score, violation = out[:, order]
    return Influence(
        twin.numbers[slots[order]], coefficient, held > 0.0, change, flips.astype(np.int64), score, violation, proven,
        len(able), twin.n, probes.n, probes.kind, base, twin.difference, subject.task,
    )  # fmt: skip


def _without(twin: Twin, slots: Ids) -> Iterator[list[tuple[int, Optimum]]]:
    """Yield, for each sample, the problems that change without it: their numbers, and their solutions."""
    paths: list[tuple[Ids, Iterator[tuple[int, Optimum]]]] = []
    for own in Optimum.of(twin.learner):
        place, decides = np.full(twin.n, -1), np.flatnonzero(own.deciding())
        place[own.track.numbers[decides]] = decides
        mine = place[slots]
        paths.append((mine, without(own, mine[mine >= 0])))
    for k in range(len(slots)):
        yield [(column, next(path)[1]) for column, (mine, path) in enumerate(paths) if mine[k] >= 0]


@dataclass(frozen=True)
class _Probes:
    """The samples at which changes are measured.

    K : (n_probes, n) kernel values with the samples of the twin
    own : (n_probes,) k(x, x) of the probes, where decision values subtract it; else 0
    y : targets, or None
    """

    subject: Subject
    K: Vector
    own: Vector
    y: Any
    kind: str

    @classmethod
    def of(cls, subject: Subject, twin: Twin, X_test: Any, y_test: Any) -> _Probes:
        rows = subject.rows[twin.numbers] if X_test is None else rows_of(subject.way, X_test)
        some = drawn(rows.shape[0], max(100, MOST_PROBE_VALUES // max(1, twin.n)))
        kernel, store = twin.learner.kernel, twin.learner.store
        probes = store.moved(stored_as(store.X, rows[some]))
        K = np.asarray(kernel(probes, store.near()), np.float64)
        own = np.zeros(len(some))
        if twin.learner.problem.sphere:
            own = kernel.diagonal(Source.of(probes, np.arange(len(some)), kernel).sizes)
        y = None if y_test is None else taken(y_test, some)
        return cls(subject, K, own, y, "training" if X_test is None else "test")

    @property
    def n(self) -> int:
        return len(self.K)

    def values(self, optima: list[Optimum]) -> Vector:
        """Return values of some problems at the probes, (n_probes, n_optima)."""
        out = np.zeros((self.n, len(optima)))
        for column, one in zip(out.T, optima, strict=True):
            if len(one.dual):
                used = np.flatnonzero(one.beta)
                total = self.K[:, one.track.numbers[used]] @ one.beta[used] + one.intercept
                column[:] = (total - 0.5 * self.own) / one.divisor
        return out

    def flips(self, before: Vector, after: Vector) -> int:
        """Return how many predictions differ; numbers of a regression do not count."""
        if self.subject.task == "regression":
            return 0
        readout = self.subject.machine.readout
        return int(np.count_nonzero(readout.predictions(before) != readout.predictions(after)))

    def score(self, values: Vector) -> float:
        if self.y is None:
            return float("nan")
        predicted = self.subject.machine.readout.predictions(values)
        if self.subject.task == "regression":
            return float(r2_score(self.y, predicted)) if len(self.y) > 1 else float("nan")
        return float(np.mean(predicted == self.y))
