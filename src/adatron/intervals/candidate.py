"""Solutions with one more sample: a copy of the path takes it in with a label, and the learner stays as it is."""

from __future__ import annotations

from threading import RLock
from typing import Any

import numpy as np

from ..arrays import Ids, Matrix, Vector
from ..certificates import intercept
from ..learning.learner import Learner
from ..learning.track import Track
from ..problems import Dual
from ..solvers.path import Stalled
from .conformity import rounding


class Candidates:
    """Samples that join the others for a question, one at a time.

    Parameters
    ----------
    learner : of a classifier; it is not changed
    weights : (n_classes,) weight of a candidate of each class

    Attributes
    ----------
    error : a bound of the rounding of the last values, and of the distance of free samples from the margin
    """

    def __init__(self, learner: Learner, weights: Vector) -> None:
        self.learner, self.weights = learner, weights
        store = learner.store
        n = self.n = store.n
        self.K: Matrix = np.empty((n + 1, n + 1))
        self.K[:n, :n] = learner.kernel(near := store.near(), near)

    def meet(self, row: Any) -> None:
        """Take a sample, (1, d), stored as the others are."""
        self.row, n, store = row, self.n, self.learner.store
        near = store.moved(row)
        self.K[n, :n] = self.K[:n, n] = self.learner.kernel(near, store.near())[0]
        self.K[n, n] = self.learner.kernel(near, near)[0, 0]

    def values(self, code: int) -> Matrix:
        """Return the values of all samples and of the candidate, (n + 1, n_problems), by the solution with it.

        code : the candidate's class
        """
        self.error = 0.0
        try:
            return np.stack([self._of_program(track, code) for track in self.learner.tracks], axis=1)
        except Stalled:  # rounding leaves no way: a copy of the learner solves the problem anew
            other = self.learner.copy(RLock())
            other.limits = other.limits._replace(max_time=None)  # that of a step; this is a part of a prediction
            other.learn(self.row, np.array([float(code)]), self.weights[[code]], None)
            return np.stack([self._values(t, t.dual(other.program), t, t.numbers) for t in other.tracks], axis=1)

    def _of_program(self, track: Track, code: int) -> Vector:
        learner = self.learner
        if track.slots is not None and track.sides is not None and code not in track.sides:
            return self._values(track, track.dual(learner.program), track, track.numbers)
        numbers = np.append(track.numbers, self.n)
        label = 1.0 if track.sides is not None and code == track.sides[0] else -1.0
        labels, weights = np.append(track.labels(), label), np.append(track.weights(), self.weights[code])
        goal = learner.program(labels, weights, lambda: self.K[numbers, numbers])
        whole = len(numbers) == self.n + 1
        rows = self.K.__getitem__ if whole else lambda ids: self.K[np.ix_(numbers[ids], numbers)]
        return self._values(track, goal, track.path(learner.program).including(goal, rows), numbers)

    def _values(self, track: Track, dual: Dual, solution: Any, numbers: Ids) -> Vector:
        every, b, free = np.zeros(self.n + 1), intercept(dual, solution.beta, solution.g), dual.free(solution.beta)
        every[numbers] = solution.beta
        values = self.K @ every + b
        off = float(np.abs(values[numbers] - dual.t)[free].max(initial=0.0))
        bound = rounding(int(np.count_nonzero(every)), float(self.K.diagonal().max()), every, b)
        self.error = max(self.error, off + bound)
        return values
