"""A few steps that belong together: Ctrl-C waits until they are done."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Hold Ctrl-C back; on other threads it does not come, and a handler that is not Python's stays."""
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGINT) is None:
        yield
        return
    asked: list[tuple[Any, Any]] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: asked.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if asked and callable(before):
            before(*asked[0])
