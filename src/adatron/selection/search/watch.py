"""The progress of many fits, such as those of a search, and their early end: by Ctrl-C, or after a limit of time."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ...progress import ProgressDisplay
from ...quoted import quoted
from ...threads import Clock, OutOfTime

UNREACHED_NAMED = 5  # Most candidates that a warning names.
NONE_COMPLETE = "The search ended {} before all folds of any candidate were finished{}."
UNREACHED = (
    "The search ended {}: {} of {} fits were not finished, and the scores of their {} candidates are NaN: {}. The best "
    "of the other {} candidates is chosen."
)


class SearchWatch(ProgressDisplay):
    """Counts the cells of a search and says when it has to end. Use it as a context manager.

    interrupted : whether Ctrl-C asked for the end
    clock : the limit of time
    """

    def __init__(self, max_time: float | None, visible: bool, what: str = "search", unit: str = "fit") -> None:
        super().__init__(what, unit, 0, visible)
        self.max_time, self.clock, self.interrupted = max_time, Clock.starting(max_time), False
        self._lock = threading.Lock()

    @property
    def over(self) -> bool:
        """Whether no further cell may begin."""
        return self.interrupted or self.clock.late

    @property
    def reason(self) -> str:
        """Return why the search ended early."""
        return "by Ctrl-C" if self.interrupted else f"after max_time={self.max_time:g} seconds"

    def begin(self, cells: int) -> None:
        """Expect further cells."""
        self.total += cells

    def advance(self, cells: float) -> None:
        """Count cells, or parts of cells, that are done; threads may call it."""
        with self._lock:
            self.done = min(self.done + cells, self.total)

    @contextmanager
    def keeping(self) -> Iterator[None]:
        """Let Ctrl-C end the statements inside, and nothing else."""
        try:
            yield
        except KeyboardInterrupt:
            self.interrupted = True
        except SystemError as error:
            if not by_interrupt(error):
                raise
            self.interrupted = True

    def tell(self, cells: int, unreached: dict[int, int], params: list[Any]) -> None:
        """Warn of candidates that were not finished.

        If no candidate is complete, raise a KeyboardInterrupt or a ValueError.

        unreached : the number of unfinished cells of each such candidate, by its number
        """
        if not unreached:
            return
        if len(unreached) == len(params):
            if self.interrupted:
                raise KeyboardInterrupt
            raise ValueError(NONE_COMPLETE.format(self.reason, "; allow more time, or fewer candidates or folds"))
        named = some_of(params, list(unreached), UNREACHED_NAMED)
        count = sum(unreached.values())
        text = UNREACHED.format(self.reason, count, cells, len(unreached), named, len(params) - len(unreached))
        warnings.warn(text, UserWarning, stacklevel=2)


def some_of(params: list[Any], numbers: list[int], most: int) -> str:
    """Return the first of some candidates in words."""
    return ", ".join(quoted(params[number]) for number in numbers[:most]) + ", ..." * (len(numbers) > most)


class CellCount:
    """Counts cells that are solved together, from the reports of the engine on their problems."""

    def __init__(self, watch: SearchWatch, cells: int, problems: int) -> None:
        self._watch, self._cells, self._problems = watch, cells, problems
        self._seen, self._before, self._counted = 0, 0, 0.0

    @property
    def callback(self) -> Callable[[Any], bool] | None:
        """Return the function that the engine reports to; None if progress is not shown."""
        return self._report if self._watch.visible else None

    def _report(self, state: Any) -> bool:
        if state.n_finished < self._seen:  # problems that start from others come in several calls
            self._before += self._seen
        self._seen = state.n_finished
        self._count(self._cells * min(1.0, (self._before + self._seen) / max(1, self._problems)))
        return False

    def _count(self, cells: float) -> None:
        if cells > self._counted:
            self._watch.advance(cells - self._counted)
            self._counted = cells

    def end(self) -> None:
        """Count the rest."""
        self._count(float(self._cells))


def by_interrupt(error: BaseException) -> bool:
    """Return whether Ctrl-C is behind an error; leaving compiled code, it may become the cause of another error."""
    return isinstance(error, KeyboardInterrupt) or isinstance(error.__cause__ or error.__context__, KeyboardInterrupt)


@contextmanager
def left_to_them() -> Iterator[None]:
    """Ignore the end of the time or of the memory: single fits need less, and begin only if there is time."""
    try:
        yield
    except (MemoryError, OutOfTime):
        pass
    except SystemError as error:
        if by_interrupt(error):
            raise KeyboardInterrupt from error
        raise
