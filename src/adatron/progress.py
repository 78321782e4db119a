"""How far some work is, and its display: a bar in a terminal or notebook, elsewhere a line every few seconds."""

from __future__ import annotations

import math
import sys
import warnings
from threading import Event, Thread
from time import monotonic
from typing import Any, Self

from .compiled.cache.uninterrupted import COMPILING

PATIENCE = 3.0  # Seconds before the remaining time can be estimated.
# Seconds between pictures of a bar, and between lines.
PICTURE_SECONDS = {True: 1.0, False: 5.0}


class ProgressDisplay:
    """Shows how far some work is, from a thread of its own, as the main thread may be busy.

    what : name of the work
    unit : name of a part of it; empty: the work is told in per cent
    total : number of parts; 0 if it is not known
    visible : whether anything is shown
    done : number of parts that are done
    note : a text behind the numbers
    """

    def __init__(self, what: str, unit: str = "", total: float = 1.0, visible: bool = True) -> None:
        self.what, self.unit, self.total, self.visible = what, unit, total, visible
        self.done, self.note = 0.0, ""
        self._start, self._compiled = monotonic(), COMPILING.seconds()
        self._bar, self._over = None, Event()
        self._thread = Thread(target=self._work, name="adatron-progress", daemon=True)

    def __enter__(self) -> Self:
        if self.visible:
            self._bar = _bar(self.what)
            self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self.visible:
            self._over.set()
            self._thread.join()
        if self._bar is not None:
            self._bar.close()

    def line(self) -> str:
        """Return how far the work is, and about how long the rest takes; compiling is not repeated."""
        seconds, done = monotonic() - self._start, f"{int(self.done + 1e-6)}"
        part = f"{done} of {self.total:.0f} {self.unit}s" if self.total else f"{done} {self.unit}s"
        words = [f"{self.what}: {part if self.unit else f'{self.done / self.total:.0%}'} in {seconds:.0f} s"]
        if 0 < self.done <= self.total and seconds > PATIENCE:
            repeated = seconds - (COMPILING.seconds() - self._compiled)
            words.append(f"about {repeated * (self.total / self.done - 1.0):.0f} s left")
        return "; ".join([*words, *filter(None, [self.note])])

    def _work(self) -> None:
        while not self._over.wait(PICTURE_SECONDS[self._bar is not None]):
            if self._bar is None:
                print(self.line(), file=sys.stderr)
            else:
                self._bar.total, self._bar.n = self.total or None, min(self.done, self.total)
                self._bar.set_description_str(self.line())


def _bar(what: str) -> Any:
    """Return a bar in a terminal or notebook, else None."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # without ipywidgets a notebook gets lines
        from tqdm.auto import tqdm
    notebook = any(kind.__module__ == "tqdm.notebook" for kind in tqdm.__mro__)
    if not (notebook or sys.stderr.isatty()):
        return None
    return tqdm(total=1, desc=what, bar_format="{desc} |{bar}|", leave=False)


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
