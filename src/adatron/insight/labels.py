"""Suspicious labels: samples that the model of all others puts elsewhere, with their nearest opponents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..estimators.base.methods import quiet
from .leave_one_out import LeftOut, left_out_of, requested
from .subject import Ids, Subject, Vector, unnamed
from .twin import Twin, twin_of

OPPONENTS = 3  # Nearest opponents of each suspicious sample: enough to look at.
VALUE_ROWS = 256  # Rows of kernel values that are made at a time.


@dataclass(frozen=True)
class Issues:
    """The result of ``label_issues``, one entry for each suspicious sample, the worst first.

    Attributes
    ----------
    numbers : ndarray of int of shape (n_issues,)
        The samples, by their row in X.
    given, proposed : ndarray of shape (n_issues,)
        The class or target of the sample, and what the model of all other samples says.
    score : ndarray of shape (n_issues,)
        By how much that model prefers the given class to the proposed one: negative, the margin is 1. In a regression
        the target minus the prediction; of a novelty detector the decision value.
    bound : ndarray of bool of shape (n_issues,)
        Whether the sample's coefficient is at its bound C.
    opponents : ndarray of int of shape (n_issues, n_opponents)
        Samples of the proposed class that the model of the others puts there, too, the nearest by the kernel first; -1
        where there are not enough. In a regression the nearest samples with smaller errors.
    left_out : LeftOut
        The exact leave-one-out result behind it.
    task : {'classification', 'regression', 'novelty'}
        What the model is for.

    Examples
    --------
    >>> from adatron import SVC
    >>> from adatron.insight import label_issues
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(60, noise=0.3, random_state=0)
    >>> found = label_issues(SVC(C=10).fit(X, y), X, y)
    >>> bool((y[found.numbers] == found.given).all() and (found.given != found.proposed).all())
    True
    """

    numbers: Ids
    given: NDArray[Any]
    proposed: NDArray[Any]
    score: Vector
    bound: NDArray[np.bool_]
    opponents: Ids
    left_out: LeftOut
    task: str


@quiet
@unnamed()
def label_issues(
    model: Any, X: Any, y: Any = None, *, sample_weight: Any = None, max_samples: int | None = None
) -> Issues:
    """Return the samples whose labels are suspicious by exact leave-one-out.

    Parameters
    ----------
    model, X, y, sample_weight, max_samples :
        As in :func:`leave_one_out`.

    Returns
    -------
    Issues

    Examples
    --------
    >>> from adatron import SVC
    >>> from adatron.insight import label_issues
    >>> from sklearn.datasets import make_blobs
    >>> X, y = make_blobs(80, centers=2, random_state=0, cluster_std=0.5)
    >>> y[7] = 1 - y[7]
    >>> int(label_issues(SVC().fit(X, y), X, y).numbers[0])
    7
    """
    subject = Subject.of(model, X, y, sample_weight)
    twin = twin_of(subject)
    return issues_of(subject, twin, left_out_of(subject, twin, requested(twin, max_samples)))


def issues_of(subject: Subject, twin: Twin, found: LeftOut) -> Issues:
    """Return the suspicious samples among those that were left out."""
    given = subject.wanted[found.numbers]
    scores = _scores(subject, found, given)
    if subject.task == "regression":
        size = np.abs(scores)
        some = np.flatnonzero(size > 3.0 * np.median(size))  # about two standard deviations of normal errors
        some = some[np.argsort(-size[some], kind="stable")]
    else:
        some = np.flatnonzero(found.predicted != given)
        some = some[np.argsort(scores[some], kind="stable")]
    opponents = _opponents(subject, twin, found, some, scores)
    return Issues(
        found.numbers[some], given[some], found.predicted[some], scores[some], found.bound[some], opponents, found,
        subject.task,
    )  # fmt: skip


def _scores(subject: Subject, found: LeftOut, given: NDArray[Any]) -> Vector:
    """Return by how much the model of the others prefers what is given."""
    if subject.task == "novelty":
        return given * found.values[:, 0]
    if subject.task == "regression":
        return given - found.predicted
    machine: Any = subject.machine
    own, other = (np.searchsorted(machine.classes_, labels) for labels in (given, found.predicted))
    return machine.readout.preference(found.values, own, 1 - own if len(machine.classes_) == 2 else other)


def _opponents(subject: Subject, twin: Twin, found: LeftOut, some: Ids, scores: Vector) -> Ids:
    """Return the nearest samples that speak against each of some others, by the distance in the kernel's space."""
    out = np.full((len(some), OPPONENTS), -1)
    if subject.task == "novelty" or not len(some):
        return out
    kernel, X = twin.learner.kernel, subject.rows[found.numbers]
    own = np.array([float(kernel(X[one : one + 1], X[one : one + 1])[0, 0]) for one in range(len(found.numbers))])
    for begin in range(0, len(some), VALUE_ROWS):
        part = some[begin : begin + VALUE_ROWS]
        distances = own - 2.0 * kernel(X[part], X)
        for line, (one, row) in enumerate(zip(part, distances, strict=True)):
            allowed = _against(subject, found, int(one), scores)
            near = allowed[np.argsort(row[allowed], kind="stable")[:OPPONENTS]]
            out[begin + line, : len(near)] = found.numbers[near]
    return out


def _against(subject: Subject, found: LeftOut, one: int, scores: Vector) -> Ids:
    """Return the samples that speak against one."""
    if subject.task == "regression":
        return np.flatnonzero(np.abs(scores) < 0.5 * abs(scores[one]))
    right = found.predicted == subject.y[found.numbers]
    return np.flatnonzero(right & (found.predicted == found.predicted[one]))
