"""The programs of a fit, over segments of the samples, each made on request."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self, overload

import numpy as np

from ..arrays import Ids, Vector
from ..model.layout import pairs
from ..problems import Dual, Problem, csvc
from ..problems.problem import no_diagonal
from ..solvers.plan import SMALL
from .fits import Fits
from .samples import FOLDS, Folds, Samples


@dataclass(frozen=True)
class Program:
    """One program: the segments (classes) of its samples, and what makes it of them.

    ``copies``: variables of each sample; the program has all first ones, then all second ones.
    """

    segments: list[int]
    dual: Callable[[Ids], Dual]
    copies: int = 1


class Programs(Sequence[Program]):
    """The programs of a fit, made on request.

    Attributes
    ----------
    groups, first : the segments of all programs, one program after the other, and where those of each begin
    joined : makes one program that has a range of programs as its parts, given their samples; None if impossible
    """

    groups: Ids
    first: Ids
    joined: Callable[[range, Ids], Dual] | None = None

    def __len__(self) -> int:
        return len(self.first) - 1

    @overload
    def __getitem__(self, index: int) -> Program: ...
    @overload
    def __getitem__(self, index: slice) -> list[Program]: ...
    def __getitem__(self, index: int | slice) -> Program | list[Program]:
        if isinstance(index, slice):
            return [self.program(i) for i in range(*index.indices(len(self)))]
        return self.program(range(len(self))[index])

    def program(self, number: int) -> Program:
        """Return one program."""
        raise NotImplementedError

    def sides(self) -> Vector:
        """Return 1 or -1 for programs with all samples on that side, else 0; only for programs that can be joined."""
        raise NotImplementedError

    def segments(self, number: int) -> list[int]:
        """Return the segments of a program."""
        return self.groups[self.first[number] : self.first[number + 1]].tolist()


class Listed(Programs):
    """Programs from a list."""

    def __init__(self, programs: list[Program]) -> None:
        self._programs = programs
        self.groups = np.concatenate([np.array(one.segments, np.int64) for one in programs])
        self.first = np.concatenate([[0], np.cumsum([len(one.segments) for one in programs])])

    def program(self, number: int) -> Program:
        return self._programs[number]


class Binary(Programs):
    """One against one in scikit-learn's order (the first class is positive), or one against the rest.

    With two classes the second one is positive.

    Parameters
    ----------
    problem : that of all programs
    samples : Samples
    segments : the segments of each class, fold by fold if there are several folds
    n_classes : number of classes, or of combinations of labels
    in_pairs : whether there is a program for each pair of more than two classes, not one for each class
    sides : (n_programs, n_classes) 1 or -1, the side of each class if every program has all classes in another way
    out : (m,) the fold that leaves each sample out. There are then the programs of all folds; each has all samples of
        its classes, and those that its fold leaves out have no weight.
    """

    def __init__(
        self,
        problem: Problem,
        samples: Samples,
        segments: list[list[int]],
        n_classes: int,
        in_pairs: bool,
        sides: Vector | None = None,
        out: Ids | None = None,
    ) -> None:
        self._problem, self._samples, self._out = problem, samples, out
        self._classes = n_classes, in_pairs
        if len(segments) == 2 and out is None and sides is None:  # the code below would take a tenth of a small fit
            self.groups, self.first = np.array([*segments[0], *segments[1]]), np.array([0, sum(map(len, segments))])
            self._signs = np.array([-1.0] * len(segments[0]) + [1.0] * len(segments[1]))
            self._counts = samples.sizes[self.groups]
            return
        k = n_classes
        if sides is not None:
            classes, signs = np.tile(np.arange(k), (len(sides), 1)), sides
        elif k == 2:
            classes, signs = np.array([[0, 1]]), np.array([[-1.0, 1.0]])
        elif in_pairs:
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
        if problem.joinable:
            self.joined = self._joined

    @classmethod
    def of_classes(cls, problem: Problem, samples: Samples, in_pairs: bool, sides: Vector | None = None) -> Self:
        """Return the programs of samples with a segment for each class."""
        k = len(samples.sizes)
        return cls(problem, samples, [[c] for c in range(k)], k, in_pairs, sides)

    def of_folds(self, divided: Folds) -> tuple[Samples, Binary]:
        """Return the samples, divided into folds, and these problems without those that each fold leaves out.

        Small problems keep them: their values within whole classes are shared, and read faster.
        """
        (n_classes, in_pairs), sizes, problem = self._classes, np.sort(self._samples.sizes), self._problem
        beside = int(sizes[-2:].sum()) <= SMALL if in_pairs else problem.separable
        if problem.joinable and n_classes > 2 and beside:
            samples = divided.by_class()
            segments = [[c] for c in range(n_classes)]
            return samples, Binary(problem, samples, segments, n_classes, in_pairs, out=divided.out)
        segments = [own for fold in range(FOLDS) for own in divided.kept(fold)]
        return divided.samples, Binary(problem, divided.samples, segments, n_classes, in_pairs)

    def program(self, number: int) -> Program:
        def of_samples(ids: Ids) -> Dual:
            some = range(number, number + 1)
            y, weight = self._labels(some), self._weights(some, ids)
            if abs(y[weight > 0.0].sum()) == np.count_nonzero(weight):
                # The other side has no weight: beta = 0 and b = y solve the problem without an error on this side.
                return csvc(y, np.zeros(len(y)), "none")
            return self._problem.dual(y, weight, no_diagonal)

        return Program(self.segments(number), of_samples)

    def _joined(self, some: range, ids: Ids) -> Dual:
        ends = np.concatenate([[0], np.cumsum(self._sizes(some))])
        first = ends[self.first[some.start : some.stop] - self.first[some.start]]
        return self._problem.together(self._labels(some), self._weights(some, ids), first)

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


def starts(
    divided: Folds, whole: Programs, fitted: Fits, samples: Samples, parts: Programs
) -> Callable[[range], Vector]:
    """Return a function that gives the starts of some programs of the folds: the solutions for all samples.

    Parameters
    ----------
    whole, fitted : the programs of all samples, and their solutions
    samples, parts : the same samples as divided, in other segments, and the programs of all folds, fold by fold
    """
    lengths, of_class = samples.sizes, divided.by_class().sizes
    k, many = len(of_class), len(lengths) // len(of_class)
    segment, sample = (np.cumsum(counts) - counts for counts in (lengths, of_class))  # where each begins
    counts = of_class[whole.groups]
    keys = k * np.repeat(np.arange(len(whole)), np.diff(whole.first)) + whole.groups
    coefficient = np.cumsum(counts) - counts

    def start(some: range) -> Vector:
        first = parts.first[some.start : some.stop + 1]
        groups = parts.groups[first[0] : first[-1]]
        number, classes = np.repeat(np.arange(some.start, some.stop) % len(whole), np.diff(first)), groups // many
        shift = coefficient[np.searchsorted(keys, k * number + classes)] - sample[classes]
        own = ranges(segment[groups], segment[groups] + lengths[groups])
        return fitted.beta[divided.before[own] + np.repeat(shift, lengths[groups])]

    return start


def ranges(first: Any, stop: Any) -> Ids:
    """Return the numbers first[0], ..., stop[0] - 1, first[1], ..., stop[1] - 1 and so on."""
    counts = stop - first
    before = np.cumsum(counts) - counts
    return np.arange(int(counts.sum())) + np.repeat(first - before, counts)
