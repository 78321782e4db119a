"""Exact leave-one-out: what the model of all other samples says of a sample."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binomtest, norm
from sklearn.base import clone

from ..estimators.base.methods import quiet
from ..learning.leave_out import loo_values
from ..quoted import quoted
from ..threads import Clock, OutOfTime
from .subject import Ids, Subject, Unavailable, Vector, counted, drawn, in_time, unnamed
from .twin import Twin, at_bound, candidates, twin_of

CHANCE_LEVEL = 0.025  # Probability of calling another C clearly better although it is not.


@dataclass(frozen=True)
class LeftOut:
    """The result of ``leave_one_out``, one entry or row for each sample that was asked for.

    Attributes
    ----------
    numbers : ndarray of int of shape (n_asked,)
        The samples, by their row in X; those without weight are left out.
    values : ndarray of shape (n_asked, n_problems)
        Values of the binary problems, predictions of a regression, or decision values of a novelty detector.
    predicted : ndarray of shape (n_asked,)
        The class, the number, or 1 (inside) and -1 (outside).
    bound : ndarray of bool of shape (n_asked,)
        Whether a coefficient of the sample is at its bound C.
    error : float
        The fraction of wrong classes, the mean squared error, or the fraction outside.
    uncertainty : float
        0 if all samples were asked for; otherwise the standard error of ``error``, as chance drew the samples.
    difference : float
        Largest difference of the decision values of the exact solution from those of the model.
    n_samples : int
        The number of samples that could be asked for: those with weight.

    Examples
    --------
    >>> from adatron import SVC
    >>> from adatron.insight import leave_one_out
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(60, noise=0.3, random_state=0)
    >>> found = leave_one_out(SVC(C=10).fit(X, y), X, y)
    >>> found.complete, found.uncertainty
    (True, 0.0)
    """

    numbers: Ids
    values: Vector
    predicted: NDArray[Any]
    bound: NDArray[np.bool_]
    error: float
    uncertainty: float
    difference: float
    n_samples: int

    @property
    def complete(self) -> bool:
        """Whether all samples were asked for."""
        return len(self.numbers) == self.n_samples


@quiet
@unnamed()
def leave_one_out(
    model: Any, X: Any, y: Any = None, *, sample_weight: Any = None, max_samples: int | None = None
) -> LeftOut:
    """Return what the model of all other samples says of each sample, exactly.

    Each support vector leaves the solution along its exact path and comes back; other samples cost nothing. The steps
    of a pipeline before the machine stay as they are.

    Parameters
    ----------
    model : SVC, NuSVC, SVR, OneClassSVM, SVDD or their incremental forms
        Fitted; also as the last step of a pipeline, or the best estimator of a search.
    X, y : array-like
        The samples that the model was fitted to, in their order. An incremental model that has forgotten samples keeps
        the others in the order of ``ids_``.
    sample_weight : array-like of shape (n_samples,), default=None
        The weights of the fit.
    max_samples : int, default=None
        Most samples to ask for; chance draws them, always the same ones. None is as many as take some ten seconds.

    Returns
    -------
    LeftOut

    Raises
    ------
    ValueError
        The samples are not those of the fit, or the machine has no exact leave-one-out.

    Examples
    --------
    >>> from adatron import SVC
    >>> from adatron.insight import leave_one_out
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(60, noise=0.2, random_state=0)
    >>> found = leave_one_out(SVC(C=10).fit(X, y), X, y)
    >>> bool(found.error == (found.predicted != y).mean())
    True
    """
    subject = Subject.of(model, X, y, sample_weight)
    twin = twin_of(subject)
    return left_out_of(subject, twin, requested(twin, max_samples))


def left_out_of(subject: Subject, twin: Twin, slots: Ids, clock: Clock | None = None) -> LeftOut:
    """Return the result for some samples of a twin, or for those of them that there is time for."""
    done, found = in_time(slots, clock or Clock(), lambda part: loo_values(twin.learner, slots=part))
    order = np.argsort(done, kind="stable")
    slots, values = done[order], np.concatenate(found)[order]
    numbers = twin.numbers[slots]
    predicted, losses = _judged(subject, values, numbers)
    spread = 0.0 if len(slots) == twin.n else _spread(losses, subject.task)
    bound = at_bound(twin)[slots]
    return LeftOut(numbers, values, predicted, bound, float(losses.mean()), spread, twin.difference, twin.n)


def _spread(losses: Vector, task: str) -> float:
    """Return the standard error of the mean; one error more and one less keep a fraction of 0 or 1 from being sure."""
    more = losses if task == "regression" else np.append(losses, [0.0, 1.0])
    return float(more.std() / np.sqrt(len(more)))


def requested(twin: Twin, most: int | None = None) -> Ids:
    """Return the slots of the samples that are asked for: as many as are affordable."""
    return _some(twin) if most is None else drawn(twin.n, counted("max_samples", most, 1))


def _some(twin: Twin, times: int = 1) -> Ids:
    """Return the slots of as many samples as can be asked for so many times."""
    part = min(1.0, twin.affordable / max(1, times * len(candidates(twin))))
    return drawn(twin.n, max(2, int(part * twin.n)))


def _judged(subject: Subject, values: Vector, numbers: Ids) -> tuple[NDArray[Any], Vector]:
    """Return predictions, and the loss of each."""
    predicted = subject.machine.readout.predictions(values)
    if subject.task == "regression":
        return predicted, (predicted - subject.y[numbers]) ** 2
    return predicted, (predicted != subject.wanted[numbers]).astype(np.float64)


@dataclass(frozen=True)
class AlongC:
    """Exact leave-one-out errors for several C.

    C : (k,) ascending
    error : (k,) the fraction of wrong classes, or the root of the mean squared error
    uncertainty : (k,) their standard errors; 0 if all samples were asked for
    n_asked : samples that were asked at each C
    best, own : positions of the smallest error, the smallest C of equal ones, and of the model's own C
    clear : whether chance alone would hardly make the smallest error so much smaller than that at the own C: a paired
        test at the level 2.5 %, divided by the number of other C
    n_wanted : values of C that were to be tried, more than k if there was no time for some
    """

    C: Vector
    error: Vector
    uncertainty: Vector
    n_asked: int
    best: int
    own: int
    clear: bool
    n_wanted: int


def _clear(gain: Vector, tries: int, task: str) -> bool:
    """Return whether the best of so many other parameters is better, by the gain for each sample."""
    won, lost = int((gain > 0.0).sum()), int((gain < 0.0).sum())
    if tries < 1 or not won:
        return False
    if task == "regression":
        return bool(gain.mean() > norm.isf(CHANCE_LEVEL / tries) * _spread(gain, task))
    return bool(binomtest(won, won + lost, alternative="greater").pvalue < CHANCE_LEVEL / tries)


def refitted(subject: Subject, twin: Twin, **parameters: Any) -> Twin:
    """Return a twin with other parameters, of the same samples, weights and kernel."""
    model: Any = clone(twin.model)
    known = model.get_params(deep=False)
    same = {"kernel": twin.learner.kernel, "class_weight": None}  # the weights have those of the classes in them
    model.set_params(**{name: value for name, value in same.items() if name in known}, **parameters)
    rows, weight = subject.rows[twin.numbers], twin.learner.store.weight
    try:
        if subject.task == "classification":
            y, classes = subject.y[twin.numbers], subject.machine.classes_
            model.partial_fit(rows, y, classes=classes, sample_weight=weight)
        else:
            model.fit(rows, subject.y[twin.numbers], sample_weight=weight)
    except (ValueError, ArithmeticError) as error:
        raise Unavailable(f"A fit with other parameters failed: {error}") from error
    return Twin(model, twin.numbers, 0.0)


@quiet
@unnamed()
def along_C(
    subject: Subject, twin: Twin, factors: Any = None, clock: Clock | None = None, known: LeftOut | None = None
) -> AlongC:
    """Return exact leave-one-out errors for multiples of the model's C; the same samples are asked for each C.

    When the time is over, the C that are left are not tried. ``known`` is the result for the model's own C, perhaps of
    more samples. Its error is then the error at that C, and the samples tell by how much another C changes it.
    """
    clock = Clock() if clock is None else clock
    own = getattr(twin.model, "C", None)
    if own is None or not np.isfinite(own):
        raise Unavailable(f"A path in C needs a machine with a finite C. Got {quoted(type(subject.machine).__name__)}.")
    factors = np.logspace(-2.0, 2.0, 9) if factors is None else np.sort(np.asarray(factors, np.float64).ravel())
    if not len(factors) or not (np.isfinite(factors) & (factors > 0.0)).all():
        raise ValueError(f"The 'factors' parameter must hold finite numbers above 0. Got {quoted(factors.tolist())}.")
    slots = _some(twin, len(factors))
    away = np.abs(np.log(factors))
    found: dict[int, LeftOut] = {}
    for k in np.argsort(away, kind="stable").tolist():  # what is next to the model's C comes first
        try:
            other = refitted(subject, twin, C=float(factors[k] * own), max_time=clock.left())
            one = left_out_of(subject, other, slots, clock)
        except (TimeoutError, OutOfTime):
            break
        if len(one.numbers) < len(slots):  # errors of other samples are not comparable
            break
        found[k] = one
    if not found:
        raise Unavailable("There was no time for fits with other C.")
    there = np.sort(list(found))
    near = int(np.argmin(away[there]))
    losses = np.stack([_judged(subject, found[k].values, found[k].numbers)[1] for k in there])
    errors, spreads = losses.mean(axis=1), np.array([found[k].uncertainty for k in there])
    if known is not None and away[there[near]] == 0.0 and len(known.numbers) > len(slots):
        more = losses - losses[near]
        doubts = np.array([_spread(one, subject.task) if k != near else 0.0 for k, one in enumerate(more)])
        errors, spreads = np.maximum(known.error + more.mean(axis=1), 0.0), np.hypot(known.uncertainty, doubts)
    best = int(np.argmin(errors))
    clear = _clear(losses[near] - losses[best], len(there) - 1, subject.task)
    if subject.task == "regression":  # the root of a mean square has half the relative error
        errors = np.sqrt(errors)
        spreads = spreads / (2.0 * np.maximum(errors, np.finfo(float).tiny))
    return AlongC(factors[there] * own, errors, spreads, len(slots), best, near, clear, len(factors))
