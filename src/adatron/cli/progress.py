"""The progress of a fit: the fall of the duality gap, on a log scale."""

from __future__ import annotations

import math
import sys
import time
from contextlib import ExitStack
from types import TracebackType
from typing import Protocol

import click
from tqdm import tqdm

from ..progress import part_done
from .interrupt import Interrupt
from .ticker import every

PATIENCE = 3.0  # Seconds before the remaining time can be estimated.
SECONDS = {True: 1.0, False: 5.0}  # Seconds between two pictures of a bar on a terminal, and two lines elsewhere.
MANY = 1000  # Number of problems above which the progress within one of them is not followed.
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


class ProgressBar:
    """A callback that draws a bar on the terminal; elsewhere it prints a line every few seconds.

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
        self._terminal = sys.stderr.isatty()
        self._first: dict[int, float] = {}
        self._start = time.monotonic()
        self._done, self._reached, self._name = 0.0, "", name
        self._bar = tqdm(
            total=1.0, desc=f"{name}duality gap", bar_format=SHAPE, leave=False, smoothing=0.05,
            disable=quiet or not self._terminal,
        )  # fmt: skip
        self._open = ExitStack()

    def __enter__(self) -> ProgressBar:
        if not self._quiet:
            self._open.enter_context(
                every(SECONDS[self._terminal], self._bar.refresh if self._terminal else self._tell)
            )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()
        self._bar.close()

    def __call__(self, state: State) -> bool:
        """Move the bar; True asks for a stop."""
        self._interrupt.begun = True
        first = self._first.setdefault(state.problem, state.duality_gap)
        if not math.isfinite(first) or state.n_problems > MANY:
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

    def _tell(self) -> None:
        """Print a line: how far the fit is, and about how long it will still take."""
        seconds = time.monotonic() - self._start
        words = [f"{self._name}{self._done:.0%} in {seconds:.0f} s"]
        if self._done > 0 and seconds > PATIENCE:
            words.append(f"about {seconds * (1.0 / self._done - 1.0):.0f} s left")
        click.echo("; ".join([*words, *filter(None, [self._reached])]), err=True)
