"""A pause of the garbage collector for work that makes many objects and no garbage: imports, reading machine code."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["collector_paused"]


@contextmanager
def collector_paused() -> Iterator[None]:
    """Collect no cycles meanwhile: the collector would look at every new object again and again, and find nothing.

    Afterwards all objects count as old, or the next collection would look at all that are new.
    """
    was_on = gc.isenabled()
    try:
        gc.disable()
        yield
    finally:
        if was_on:
            if not gc.get_freeze_count():  # else somebody's objects are frozen, and would no longer be
                gc.freeze()
                gc.unfreeze()
            gc.enable()
