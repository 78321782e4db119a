"""Observation of a running fit: its trace, its reports, and requests to stop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from time import monotonic

import numpy as np
from numpy.typing import NDArray

from ..problems import Dual
from .results import STOP, trace_of

Reporter = Callable[[int, float, float, float], bool]  # n_iter, violation, relative gap, dual objective -> stop?


@dataclass(frozen=True)
class Progress:
    """The state of a running fit, as shown to the outside.

    Attributes
    ----------
    problem : int
        The binary problem of this report, from 0.
    n_problems, n_finished : int
        How many problems there are; how many of them are solved.
    n_iter : int
        Iterations of the problem, as the solver counts them.
    kkt_violation, dual_objective : float
        Values of the tracked gradient. They are certified in the last report of a problem, which comes when it is
        solved.
    duality_gap : float
        The relative gap, tracked or certified as they are; inf if no bound is known, nan if the kernel was found not
        to be positive semi-definite.
    seconds : float
        Since the problems were begun.

    Examples
    --------
    >>> from adatron import SVC
    >>> from sklearn.datasets import load_iris
    >>> reports = []
    >>> model = SVC(callback=reports.append).fit(*load_iris(return_X_y=True))
    >>> reports[-1].n_problems
    3
    """

    problem: int
    n_problems: int
    n_finished: int
    n_iter: int
    kkt_violation: float
    duality_gap: float
    dual_objective: float
    seconds: float


@dataclass
class Watch:
    """Traces a solver's progress, reports it, and says when to stop.

    ``flag`` (2,) is shared with the compiled loops: a nonzero first entry asks them to stop, and they set the second
    one when they meet negative curvature. ``names`` are the further quantities that a solver traces. The gap of the
    tracked gradient takes several passes. It is asked for after 0.05 s, then when a tenth more time and fifty times
    its own cost have passed. ``whole`` has the violation and the gap of the whole problem while a part is solved.
    """

    dual: Dual
    report: Reporter | None
    flag: NDArray[np.int64]
    names: tuple[str, ...] = ()
    start: float = field(default_factory=monotonic)
    rows: list[tuple[float, ...]] = field(default_factory=list)
    whole: tuple[float, Callable[[], float]] | None = None
    _next: float = 0.05

    def within(self, violation: float, relative_gap: Callable[[], float]) -> Watch:
        """Return the watch for a part of the problem; the violation and the gap are those of the whole problem."""
        return replace(self, whole=(violation, relative_gap))

    def look(
        self,
        n_iter: int,
        violation: float,
        objective: float,
        relative_gap: Callable[[], float],
        extra: tuple[float, ...] = (),
    ) -> bool:
        """Record where the solver is; returns whether the callback or another thread asked to stop."""
        violation, relative_gap = self.whole or (violation, relative_gap)
        seconds = monotonic() - self.start
        gap = np.nan
        if seconds >= self._next:
            gap = relative_gap()
            taken = monotonic() - self.start - seconds
            stop = self.report is not None and self.report(n_iter, violation, gap, -objective)
            now = monotonic() - self.start
            self._next = now + max(0.1 * now, 50.0 * taken)
            if stop:
                return True
        self.rows.append((seconds, n_iter, violation, gap, -objective, *extra))
        return bool(self.flag[STOP])

    def until(self, deadline: float) -> Callable[[], bool]:
        """Return a function that says whether to stop: the deadline has passed, or somebody asked to stop."""
        return lambda: bool(self.flag[STOP]) or monotonic() >= deadline

    def trace(self) -> dict[str, NDArray[np.float64]]:
        return trace_of(self.rows, self.names)
