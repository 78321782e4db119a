"""A thread that tells something now and then, while the main thread is busy."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def every(seconds: float, tell: Callable[[], object]) -> Iterator[None]:
    """Call ``tell`` after each so many seconds, on a thread, until the block ends."""
    over = threading.Event()

    def work() -> None:
        while not over.wait(seconds):
            tell()

    thread = threading.Thread(target=work, name="adatron-progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
