"""The progress of a command, and its end by Ctrl-C, which keeps what there is.

On a terminal there is a bar, elsewhere a line every few seconds. The bar of a fit shows how far the duality gap has
fallen, on a logarithmic scale.
"""

from __future__ import annotations

import math
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any

import click

from ..compiled.cache.spent import COMPILING
from ..progress import part_done

if TYPE_CHECKING:
    from ..solvers.watch import Progress

PATIENCE = 3.0  # Seconds before the remaining time can be estimated.
# Seconds between pictures of a bar on a terminal, and between lines elsewhere.
PICTURE_SECONDS = {True: 1.0, False: 5.0}
FOLLOWED = 1000  # Number of problems above which the progress within one of them is not followed.
# Forms of a bar: without a number, with one, and with the time that is left.
SHAPE_ALONE = "{desc} |{bar}| {elapsed}"
SHAPE = "{desc} {percentage:3.0f}%|{bar}| {elapsed}{postfix}"
SHAPE_WITH_REST = "{desc} {percentage:3.0f}%|{bar}| {elapsed}, about {remaining} left{postfix}"


def bar_of(total: float, shape: str, quiet: bool = False, **more: Any) -> Any:
    """Return a bar, which is drawn on a terminal only."""
    from tqdm import tqdm

    return tqdm(total=total, bar_format=shape, leave=False, disable=quiet or not sys.stderr.isatty(), **more)


@contextmanager
def shown(bar: Any, line: Callable[[], str], quiet: bool = False) -> Iterator[None]:
    """Show the progress from a thread until the block ends, as the main thread is busy.

    Parameters
    ----------
    bar : the bar that is drawn on a terminal
    line : returns the line that is printed elsewhere; called before each drawing, too
    quiet : whether nothing is shown
    """
    over, terminal = threading.Event(), sys.stderr.isatty()

    def work() -> None:
        while not over.wait(PICTURE_SECONDS[terminal]):
            text = line()
            if terminal:
                bar.refresh()
            else:
                click.echo(text, err=True)

    thread = threading.Thread(target=work, name="adatron-progress", daemon=True)
    with bar:
        if quiet:
            yield
            return
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()


class Interrupt:
    """While active, a first Ctrl-C sets ``asked``; a second one acts as Ctrl-C did before.

    Before ``begun`` is set there is nothing to keep, so that the first one acts as the second one.

    Parameters
    ----------
    wanted : bool
        If False, or on another thread than the main one, Ctrl-C stays as it is.
    begun : bool
        Whether there is something to keep.
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


class ProgressBar:
    """A callback of a fit that shows its progress.

    Parameters
    ----------
    target : float
        The relative duality gap that counts as done.
    quiet : bool
        Draw and print nothing.
    interrupt : Interrupt
        Says whether the fit is to stop.
    name : str
        What is fitted, if it is a part of something.
    """

    def __init__(self, target: float, quiet: bool, interrupt: Interrupt, name: str = "") -> None:
        self._target, self._interrupt, self._quiet = target, interrupt, quiet
        self._first: dict[int, float] = {}
        self._start, self._compiled = time.monotonic(), COMPILING.seconds()
        self._done, self._reached, self._name = 0.0, "", name
        self._bar = bar_of(1.0, SHAPE, quiet, desc=f"{name}duality gap", smoothing=0.05)
        self._open = ExitStack()

    def __enter__(self) -> ProgressBar:
        self._open.enter_context(shown(self._bar, self._line, self._quiet))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()

    def __call__(self, state: Progress) -> bool:
        """Move the bar; True asks for a stop."""
        self._interrupt.begun = True
        first = self._first.setdefault(state.problem, state.duality_gap)
        if not math.isfinite(first) or state.n_problems > FOLLOWED:
            del self._first[state.problem]
        done = (state.n_finished + part_done(first, state.duality_gap, self._target)) / state.n_problems
        # Problems run side by side, so their reports interleave: never step back.
        self._done = max(self._done, min(done, 1.0))
        self._reached = f"gap {state.duality_gap:.1e}, KKT {state.kkt_violation:.1e}"
        self._bar.update(max(0.0, self._done - self._bar.n))
        self._bar.set_postfix_str(self._reached, refresh=False)
        if time.monotonic() - self._start > PATIENCE:
            self._bar.bar_format = SHAPE_WITH_REST
        return self._interrupt.asked

    def _line(self) -> str:
        """Return how far the fit is, and about how long it will still take."""
        seconds = time.monotonic() - self._start
        words = [f"{self._name}{self._done:.0%} in {seconds:.0f} s"]
        if self._done > 0 and seconds > PATIENCE:
            repeated = seconds - (COMPILING.seconds() - self._compiled)
            words.append(f"about {repeated * (1.0 / self._done - 1.0):.0f} s left")
        return "; ".join([*words, *filter(None, [self._reached])])
