"""The exact path of the solution while C changes: every breakpoint can be read."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Vector
from ..problems import Problem
from ..quoted import quoted
from ..solvers.path import Homotopy
from .learner import Learner
from .track import Track


@dataclass(frozen=True)
class CPath:
    """The solutions of one program from one C to another: between breakpoints they change linearly.

    Parameters
    ----------
    C : ndarray of shape (n_breakpoints,)
        The first and the last one are the ends of the path.
    coefficients : ndarray of shape (n_breakpoints, n_samples)
        Coefficients of the samples, in the order of ``ids_``.
    intercepts : ndarray of shape (n_breakpoints,)
        The intercept at each breakpoint.

    Examples
    --------
    >>> from adatron import IncrementalSVC
    >>> model = IncrementalSVC(C=1.0, gamma=1.0).fit([[0.0], [0.4], [0.5], [1.0]], [0, 1, 0, 1])
    >>> (path,) = model.C_path(10.0)
    >>> coefficients, intercept = path.at(3.0)
    >>> coefficients.shape
    (4,)
    """

    C: Vector
    coefficients: Vector
    intercepts: Vector

    def at(self, C: float) -> tuple[Vector, float]:
        """Return coefficients, (n_samples,), and intercept for any C on the path.

        Raises
        ------
        ValueError
            A C is beyond the ends.
        """
        low, high = sorted((self.C[0], self.C[-1]))
        if not low <= C <= high:
            raise ValueError(f"C must be on the path, from {low:g} to {high:g}. Got {quoted(C)}.")
        rising = self.C[0] <= self.C[-1]
        k = int(np.searchsorted(self.C if rising else -self.C, C if rising else -C, side="right"))
        k = min(max(k, 1), len(self.C) - 1)
        room = self.C[k] - self.C[k - 1]
        part = (C - self.C[k - 1]) / room if room else 1.0
        coefficients, intercepts = (
            (1.0 - part) * table[k - 1] + part * table[k] for table in (self.coefficients, self.intercepts)
        )
        return coefficients, float(intercepts)


def paths_in_C(learner: Learner, goal: Problem, begin: float, end: float) -> list[CPath]:
    """Return the paths of all programs from one C to another; the learner stays as it is."""
    with learner.in_time():
        return [_of_program(track, learner.problem, goal, begin, end) for track in learner.tracks]


def _of_program(track: Track, problem: Problem, goal: Problem, begin: float, end: float) -> CPath:
    found: list[tuple[float, Vector, float]] = []
    path: Homotopy = track.path(problem).copy()

    def keep(done: float) -> None:
        beta = np.zeros(track.store.n)
        beta[track.numbers] = path.beta
        found.append((begin + done * (end - begin), beta, path.offset - track.missing(path.beta)))

    def watch(done: float) -> None:
        if done < 1.0:  # the end is reached when the last rounding is removed
            keep(done)

    keep(0.0)
    dual = track.dual(goal)
    if len(dual):
        path.follow(dual, watch)
    keep(1.0)
    return CPath(*(np.array(part) for part in zip(*found, strict=True)))
