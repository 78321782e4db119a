"""A running fit, seen from outside: its trace, its reports, and who may stop it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from time import monotonic

import numpy as np
from numpy.typing import NDArray

from ..problems import Dual
from .solution import trace_of
from .status import STOP

Report = Callable[[int, float, float, float], bool]  # n_iter, violation, relative gap, dual objective -> stop?


@dataclass(frozen=True)
class Progress:
    """What a running fit shows to the outside.

    problem, n_problems, n_finished : the binary problem that this is about, from 0; how many there are; how many of
        them are solved
    n_iter : its iterations, as the solver counts them
    kkt_violation, dual_objective : as the tracked gradient has them; certified in the last report of a problem, which
        comes when it is solved
    duality_gap : the same of the relative gap; inf where no bound is known, nan where the kernel was found not to be
        positive semi-definite
    seconds : since the problems were begun
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
    one when they meet negative curvature. ``names`` are those of what a solver traces besides. The gap of the tracked
    gradient takes several passes, so it is asked for after 0.05 s and then when a tenth more time has passed, and fifty
    times what it took. ``whole``: where a part of a problem is solved, the violation and the gap of all of it.
    """

    dual: Dual
    report: Report | None
    flag: NDArray[np.int64]
    names: tuple[str, ...] = ()
    start: float = field(default_factory=monotonic)
    rows: list[tuple[float, ...]] = field(default_factory=list)
    whole: tuple[float, Callable[[], float]] | None = None
    _next: float = 0.05

    def within(self, violation: float, relative_gap: Callable[[], float]) -> Watch:
        """The same for a part of the problem, of which only iterations and objective are news of all of it."""
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
        """What says whether it is time to stop: it is too late, or somebody asked to."""
        return lambda: bool(self.flag[STOP]) or monotonic() >= deadline

    def trace(self) -> dict[str, NDArray[np.float64]]:
        return trace_of(self.rows, self.names)
