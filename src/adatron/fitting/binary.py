"""The binary problems that a classifier is made of."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..problems import Dual, csvc
from ..problems.dual import Vector
from .problems import Ids, Problem, Problems, ranges
from .samples import Samples


class Binary(Problems):
    """One against one in scikit-learn's order (the first class is positive), or one against the rest.

    With two classes the second one is positive.

    Parameters
    ----------
    segments : the segments of each class, fold by fold if there are several folds
    n_classes : number of classes
    program : makes the programs of some problems, as one, from labels 1 and -1, weights, and where each problem begins
    separable : whether groups of samples, with equal or other labels, can be solved side by side as one program, and a
        sample without weight may stay in it. The one-against-the-rest problems of all folds then have all samples, and
        share one matrix.
    joined : whether programs may be made together
    """

    def __init__(
        self,
        segments: list[list[int]],
        n_classes: int,
        multi_class: str,
        samples: Samples,
        program: Callable[[Vector, Vector, Ids], Dual],
        separable: bool,
        joined: bool,
    ) -> None:
        self._samples, self._program = samples, program
        if len(segments) == 2:  # the one problem of a small fit; the code below would take a tenth of such a fit
            self.groups, self.first = np.array([*segments[0], *segments[1]]), np.array([0, sum(map(len, segments))])
            self._signs = np.array([-1.0] * len(segments[0]) + [1.0] * len(segments[1]))
            self._kept = np.ones(len(self.groups), bool)
            return
        k = n_classes
        if k == 2:
            classes, positive = np.array([[0, 1]]), np.array([1])
        elif multi_class == "ovo":
            classes = np.stack(np.triu_indices(k, 1), axis=1)
            positive = classes[:, 0]
        else:
            classes, positive = np.tile(np.arange(k), (k, 1)), np.arange(k)
        folds = len(segments) // k
        if folds > 1:
            before = k * np.arange(folds)
            classes = (before[:, None, None] + classes).reshape(-1, classes.shape[1])
            positive = (before[:, None] + positive).ravel()
        counts = np.array([len(some) for some in segments])
        starts, flat = np.cumsum(counts) - counts, np.concatenate([np.array(some, np.int64) for some in segments])
        own = classes.ravel()
        self.groups = flat[ranges(starts[own], starts[own] + counts[own])]
        self.first = np.concatenate([[0], np.cumsum(counts[classes].sum(axis=1))])
        self._signs = np.repeat(np.where(classes == positive[:, None], 1.0, -1.0).ravel(), counts[own])
        self._kept = np.ones(len(self.groups), bool)
        if separable and k > 2 and multi_class == "ovr" and folds > 1:
            self._keep_all(k)
        if joined:
            self.joined = self._joined

    def _keep_all(self, n_classes: int) -> None:
        """Give every problem all segments; those that its fold leaves out have no weight."""
        m, n = len(self._samples.sizes), len(self.first) - 1
        kept, signs = np.zeros((n, m), bool), np.empty((n, m))
        kept[np.repeat(np.arange(n), np.diff(self.first)), self.groups] = True
        of_class = np.arange(m) // (m // n_classes)
        signs[:] = np.where(of_class == (np.arange(n) % n_classes)[:, None], 1.0, -1.0)
        self.groups, self.first = np.tile(np.arange(m), n), m * np.arange(n + 1)
        self._kept, self._signs = kept.ravel(), signs.ravel()

    def problem(self, number: int) -> Problem:
        def of_samples(ids: Ids) -> Dual:
            some = range(number, number + 1)
            y, weight = self._labels(some), self._weights(some, ids)
            if abs(y[weight > 0.0].sum()) == np.count_nonzero(weight):
                # The other side has no weight: beta = 0 and b = y solve the problem without an error on this side.
                return csvc(y, np.zeros(len(y)), "none")
            return self._program(y, weight, np.zeros(1, np.int64))

        return Problem(self.segments(number), of_samples)

    def _joined(self, some: range, ids: Ids) -> Dual:
        sizes = self._samples.sizes[self.groups[self.first[some.start] : self.first[some.stop]]]
        ends = np.concatenate([[0], np.cumsum(sizes)])
        first = ends[self.first[some.start : some.stop] - self.first[some.start]]
        return self._program(self._labels(some), self._weights(some, ids), first)

    def _weights(self, some: range, ids: Ids) -> Vector:
        own = slice(self.first[some.start], self.first[some.stop])
        return self._samples.weight[ids] * np.repeat(self._kept[own], self._samples.sizes[self.groups[own]])

    def _labels(self, some: range) -> Vector:
        own = slice(self.first[some.start], self.first[some.stop])
        return np.repeat(self._signs[own], self._samples.sizes[self.groups[own]])

    def sides(self) -> Vector:
        sizes = self._samples.sizes[self.groups] * self._kept
        above, below = (np.add.reduceat(sizes * (self._signs == sign), self.first[:-1]) for sign in (1.0, -1.0))
        return np.where(below == 0, np.where(above == 0, 0.0, 1.0), np.where(above == 0, -1.0, 0.0))
