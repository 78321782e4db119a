"""The progress of a fit, and its end by Ctrl-C, which keeps what there is.

The bar of a fit shows how far the duality gap has fallen, on a logarithmic scale.
"""

from __future__ import annotations

import math
import signal
import threading
from types import FrameType
from typing import TYPE_CHECKING, Any

import click

from ..progress import ProgressDisplay, part_done

if TYPE_CHECKING:
    from ..solvers.watch import Progress

FOLLOWED = 1000  # Number of problems above which the progress within one of them is not followed.


class Interrupt:
    """While active, a first Ctrl-C sets ``asked``; a second one acts as Ctrl-C did before.

    wanted : if False, or on another thread than the main one, Ctrl-C stays as it is
    begun : whether there is something to keep; before that, the first one acts as the second one
    """

    def __init__(self, wanted: bool, begun: bool = True) -> None:
        self.asked, self.begun = False, begun
        self._wanted = wanted and threading.current_thread() is threading.main_thread()
        self._before: Any = None

    def __enter__(self) -> Interrupt:
        if self._wanted:
            self._before = signal.signal(signal.SIGINT, self._ask)
        return self

    def __exit__(self, *error: object) -> None:
        if self._wanted:
            signal.signal(signal.SIGINT, self._before)

    def _ask(self, number: int, frame: FrameType | None) -> None:
        if (self.asked or not self.begun) and callable(self._before):
            self._before(number, frame)
        self.asked = True
        click.echo("\nstopping; Ctrl-C again ends at once", err=True)


class ProgressBar(ProgressDisplay):
    """A callback of a fit that shows its progress.

    target : the relative duality gap that counts as done
    interrupt : says whether the fit is to stop
    name : what is fitted
    """

    def __init__(self, target: float, quiet: bool, interrupt: Interrupt, name: str = "fit") -> None:
        super().__init__(name, visible=not quiet)
        self._target, self._interrupt = target, interrupt
        self._first: dict[int, float] = {}

    def __call__(self, state: Progress) -> bool:
        """Move the bar; True asks for a stop."""
        self._interrupt.begun = True
        first = self._first.setdefault(state.problem, state.duality_gap)
        if not math.isfinite(first) or state.n_problems > FOLLOWED:
            del self._first[state.problem]
        done = (state.n_finished + part_done(first, state.duality_gap, self._target)) / state.n_problems
        # Problems run side by side, so their reports interleave: never step back.
        self.done = max(self.done, min(done, 1.0))
        self.note = f"duality gap {state.duality_gap:.1e}, KKT {state.kkt_violation:.1e}"
        return self._interrupt.asked
