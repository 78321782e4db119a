"""Ctrl-C during a fit: stop at the next chance and keep what there is."""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import Any

import click


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
