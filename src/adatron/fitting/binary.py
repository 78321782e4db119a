"""The binary problems that a classifier is made of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Vector
from ..problems import Dual, csvc
from ..solvers.plan import SMALL
from .folds import FOLDS, Folds
from .formulation import Formulation
from .layout import pairs
from .problems import Ids, Problem, Problems, ranges
from .samples import Samples


@dataclass(frozen=True)
class Common:
    """The common properties of the problems of a classifier.

    n_classes : number of classes, or of combinations of labels
    multi_class : 'ovo' or 'ovr'
    form : Formulation
    sides : (n_problems, n_classes) 1 or -1, the side of each class if every problem has all classes; None: as
        ``multi_class`` says
    """

    n_classes: int
    multi_class: str
    form: Formulation
    sides: Vector | None = None


class Binary(Problems):
    """One against one in scikit-learn's order (the first class is positive), or one against the rest.

    With two classes the second one is positive.

    Parameters
    ----------
    kind : Kind
    samples : Samples
    segments : the segments of each class, fold by fold if there are several folds
    out : (m,) the fold that leaves each sample out. There are then the problems of all folds; each has all samples of
        its classes, and those that its fold leaves out have no weight.
    """

    def __init__(self, kind: Common, samples: Samples, segments: list[list[int]], out: Ids | None = None) -> None:
        self._kind, self._samples, self._out, sides = kind, samples, out, kind.sides
        if len(segments) == 2 and out is None and sides is None:  # the code below would take a tenth of a small fit
            self.groups, self.first = np.array([*segments[0], *segments[1]]), np.array([0, sum(map(len, segments))])
            self._signs = np.array([-1.0] * len(segments[0]) + [1.0] * len(segments[1]))
            self._counts = samples.sizes[self.groups]
            return
        k = kind.n_classes
        if sides is not None:
            classes, signs = np.tile(np.arange(k), (len(sides), 1)), sides
        elif k == 2:
            classes, signs = np.array([[0, 1]]), np.array([[-1.0, 1.0]])
        elif kind.multi_class == "ovo":
            classes = pairs(k).T
            signs = np.tile([1.0, -1.0], (len(classes), 1))
        else:
            classes, signs = np.tile(np.arange(k), (k, 1)), 2.0 * np.eye(k) - 1.0
        folds = len(segments) // k
        if folds > 1:
            before = k * np.arange(folds)
            classes = (before[:, None, None] + classes).reshape(-1, classes.shape[1])
            signs = np.tile(signs, (folds, 1))
        elif out is not None:
            classes, signs = np.tile(classes, (FOLDS, 1)), np.tile(signs, (FOLDS, 1))
        counts = np.array([len(some) for some in segments])
        starts, flat = np.cumsum(counts) - counts, np.concatenate([np.array(some, np.int64) for some in segments])
        own = classes.ravel()
        self.groups = flat[ranges(starts[own], starts[own] + counts[own])]
        self.first = np.concatenate([[0], np.cumsum(counts[classes].sum(axis=1))])
        self._signs = np.repeat(signs.ravel(), counts[own])
        self._counts = samples.sizes[self.groups]
        if out is not None:
            gone = np.zeros((k, FOLDS + 1), np.int64)  # the last column is of those that no fold leaves out
            np.add.at(gone, (np.repeat(np.arange(k), samples.sizes), out), 1)
            fold = np.repeat(np.arange(FOLDS), len(self.groups) // FOLDS)
            self._counts = self._counts - gone[self.groups, fold]
        if kind.form.joinable:
            self.joined = self._joined

    def of_folds(self, divided: Folds) -> tuple[Samples, Binary]:
        """Return the samples, divided into folds, and these problems without those that each fold leaves out.

        Small problems keep them: their values within whole classes are shared, and read faster.
        """
        kind, sizes = self._kind, np.sort(self._samples.sizes)
        beside = kind.form.separable if kind.multi_class == "ovr" else int(sizes[-2:].sum()) <= SMALL
        if kind.form.joinable and kind.n_classes > 2 and beside:
            samples = divided.by_class()
            return samples, Binary(kind, samples, [[c] for c in range(kind.n_classes)], divided.out)
        segments = [own for fold in range(FOLDS) for own in divided.kept(fold)]
        return divided.samples, Binary(kind, divided.samples, segments)

    def problem(self, number: int) -> Problem:
        def of_samples(ids: Ids) -> Dual:
            some = range(number, number + 1)
            y, weight = self._labels(some), self._weights(some, ids)
            if abs(y[weight > 0.0].sum()) == np.count_nonzero(weight):
                # The other side has no weight: beta = 0 and b = y solve the problem without an error on this side.
                return csvc(y, np.zeros(len(y)), "none")
            return self._kind.form.program(y, weight)

        return Problem(self.segments(number), of_samples)

    def _joined(self, some: range, ids: Ids) -> Dual:
        ends = np.concatenate([[0], np.cumsum(self._sizes(some))])
        first = ends[self.first[some.start : some.stop] - self.first[some.start]]
        return self._kind.form.together(self._labels(some), self._weights(some, ids), first)

    def _weights(self, some: range, ids: Ids) -> Vector:
        weight = self._samples.weight[ids]
        if self._out is None:
            return weight
        folds = np.arange(some.start, some.stop) // (len(self) // FOLDS)
        each = np.repeat(folds, np.diff(self.first[some.start : some.stop + 1]))
        return np.where(self._out[ids] == np.repeat(each, self._sizes(some)), 0.0, weight)

    def _labels(self, some: range) -> Vector:
        own = slice(self.first[some.start], self.first[some.stop])
        return np.repeat(self._signs[own], self._sizes(some))

    def _sizes(self, some: range) -> Ids:
        return self._samples.sizes[self.groups[self.first[some.start] : self.first[some.stop]]]

    def sides(self) -> Vector:
        above, below = (np.add.reduceat(self._counts * (self._signs == sign), self.first[:-1]) for sign in (1.0, -1.0))
        return np.where(below == 0, np.where(above == 0, 0.0, 1.0), np.where(above == 0, -1.0, 0.0))
