"""The progress of a fit: the fall of the duality gap, on a log scale."""

from __future__ import annotations

import math
import time
from types import TracebackType
from typing import Protocol

from tqdm import tqdm

from .interrupt import Interrupt

PATIENCE = 3.0  # Seconds before the remaining time can be estimated.
SHAPE = "{desc} {percentage:3.0f}%|{bar}| {elapsed}{postfix}"
SHAPE_WITH_REST = "{desc} {percentage:3.0f}%|{bar}| {elapsed}, about {remaining} left{postfix}"


class State(Protocol):
    """The part of an estimator's report to its callback that is used here."""

    @property
    def problem(self) -> int:
        """Index of the binary problem."""
        ...

    @property
    def n_problems(self) -> int:
        """Number of binary problems."""
        ...

    @property
    def n_finished(self) -> int:
        """Number of binary problems that are solved."""
        ...

    @property
    def kkt_violation(self) -> float:
        """The largest violation of the optimality conditions."""
        ...

    @property
    def duality_gap(self) -> float:
        """The relative duality gap."""
        ...


def part_done(first: float, now: float, target: float) -> float:
    """Return the fraction of the way from the first gap to the target, 0 to 1, in decades.

    Examples
    --------
    >>> part_done(1.0, 0.1, 0.01)
    0.5
    """
    if not (0 < target < first < math.inf and 0 < now < math.inf):
        return 0.0
    return min(1.0, max(0.0, math.log(first / now) / math.log(first / target)))


class ProgressBar:
    """A callback that draws a bar on the terminal; it draws nothing elsewhere.

    Parameters
    ----------
    target : float
        The relative duality gap that counts as done.
    quiet : bool
        Draw nothing.
    interrupt : Interrupt
        Says whether the fit is to stop.
    """

    def __init__(self, target: float, quiet: bool, interrupt: Interrupt) -> None:
        self._target, self._interrupt = target, interrupt
        self._first: dict[int, float] = {}
        self._start = time.monotonic()
        # disable=None leaves the bar out if stderr is not a terminal.
        disable = True if quiet else None
        self._bar = tqdm(total=1.0, desc="duality gap", bar_format=SHAPE, leave=False, smoothing=0.05, disable=disable)

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.close()

    def __call__(self, state: State) -> bool:
        """Move the bar; True asks for a stop."""
        first = self._first.setdefault(state.problem, state.duality_gap)
        if not math.isfinite(first):
            del self._first[state.problem]
        done = (state.n_finished + part_done(first, state.duality_gap, self._target)) / state.n_problems
        # Problems run side by side, so their reports interleave: never step back.
        self._bar.update(max(0.0, min(done, 1.0) - self._bar.n))
        self._bar.set_postfix_str(f"gap {state.duality_gap:.1e}, KKT {state.kkt_violation:.1e}", refresh=False)
        if time.monotonic() - self._start > PATIENCE:
            self._bar.bar_format = SHAPE_WITH_REST
        return self._interrupt.asked
