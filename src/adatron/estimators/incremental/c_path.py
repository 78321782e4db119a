"""Changes of C: the solution follows, and every breakpoint of its path can be read."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from numbers import Real
from typing import Any, TypeVar

import numpy as np

from ...arrays import Vector
from ...fitting.formulation import CompleteMaker
from ...quoted import quoted
from ...solvers.path import Homotopy
from .machine import Incremental
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


Learned = TypeVar("Learned", bound=Incremental)


def set_C(self: Learned, C: float) -> Learned:
    """Change C: the solution becomes that of the same samples with another C.

    Parameters
    ----------
    C : float
        > 0. From a finite C to ``inf``, or back, the solution is found anew.

    Returns
    -------
    self : the estimator

    Raises
    ------
    ValueError
        C is not a number > 0.
    ArithmeticError
        Rounding leaves no way to the solution; the estimator is then as it was.
    """
    _check(C)
    with self.turn:
        learner = self.for_step()
        with learner.step() as undo:
            undo.append(partial(self.set_params, C=learner.foundation.fixed["C"]))
            learner.follow(self.foundation(C=C))
            self.set_params(C=C)
    return self


def C_path(self: Incremental, C: float) -> list[CPath]:
    """Return all breakpoints of the exact path from the present C to another one; the model stays as it is.

    Parameters
    ----------
    C : float
        > 0 and finite.

    Returns
    -------
    paths : list of CPath
        One for each binary problem.

    Raises
    ------
    ValueError
        C is not a finite number > 0.
    ArithmeticError
        Rounding leaves no way.
    """
    _check(C)
    with self.turn:
        learner = self.for_step()
        begin: float = learner.foundation.fixed["C"]
        if not np.isfinite([C, begin]).all():
            raise ValueError(f"A path in C needs finite ends. Got {quoted(begin)} and {quoted(C)}.")
        goal = self.foundation(C=C).form.made
        with learner.in_time():
            return [_of_program(track, learner.program, goal, begin, C) for track in learner.tracks]


def _of_program(track: Track, program: CompleteMaker, goal: CompleteMaker, begin: float, end: float) -> CPath:
    found: list[tuple[float, Vector, float]] = []
    path: Homotopy = track.path(program).copy()

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


def _check(C: Any) -> None:
    if not isinstance(C, Real) or not float(C) > 0.0:
        raise ValueError(f"The 'C' parameter must be a float in the range (0.0, inf]. Got {quoted(C)} instead.")
