"""How far a fit is."""

import math
import sys
import time
from importlib import import_module

import pytest

from adatron.compiled.cache.uninterrupted import COMPILING
from adatron.progress import ProgressDisplay, part_done


class Terminal:
    """A stderr that claims to be a terminal, or not."""

    def __init__(self, terminal):
        self.terminal = terminal
        self.text = ""

    def isatty(self):
        return self.terminal

    def write(self, text):
        self.text += text

    def flush(self):
        pass


@pytest.fixture
def often(monkeypatch):
    for terminal in (True, False):
        monkeypatch.setitem(import_module("adatron.progress").PICTURE_SECONDS, terminal, 0.02)


@pytest.mark.parametrize(("terminal", "visible"), [(True, True), (True, False), (False, True), (False, False)])
def test_a_bar_on_a_terminal_and_lines_elsewhere(terminal, visible, often, monkeypatch):
    stream = Terminal(terminal)
    monkeypatch.setattr(sys, "stderr", stream)
    with ProgressDisplay("search", "fit", 4, visible) as display:
        display.done, display.note = 2, "a note"
        time.sleep(0.3)
    assert ("search: 2 of 4 fits in 0 s; a note" in stream.text) == visible
    assert ("|" in stream.text) == (terminal and visible)
    told = stream.text
    time.sleep(0.1)
    assert stream.text == told  # the work is over


@pytest.mark.parametrize("at", [0.0, 1000.0])
def test_compilation_is_no_work_that_repeats(at, monkeypatch):
    """The first of 500 fits takes 45 seconds to compile and 1 second to solve."""
    now = at
    for module in ("progress", "compiled.cache.uninterrupted"):
        monkeypatch.setattr(f"adatron.{module}.monotonic", lambda: now)
    display = ProgressDisplay("search", "fit", 500)
    assert display.line() == "search: 0 of 500 fits in 0 s"
    with COMPILING.running():
        now = at + 45.0
    now = at + 46.0
    display.done = 1.0
    assert display.line() == "search: 1 of 500 fits in 46 s; about 499 s left"


def test_work_without_parts_or_without_a_known_end(monkeypatch):
    now = 0.0
    monkeypatch.setattr("adatron.progress.monotonic", lambda: now)
    fit, warm_up = ProgressDisplay("fit"), ProgressDisplay("compiling", "function", 0)
    now, fit.done, warm_up.done = 12.0, 0.75, 37
    assert fit.line() == "fit: 75% in 12 s; about 4 s left"
    assert warm_up.line() == "compiling: 37 functions in 12 s"


def test_progress_is_counted_in_decades():
    assert part_done(1.0, 0.1, 0.01) == pytest.approx(0.5)
    assert part_done(1.0, 1e-9, 0.01) == 1.0
    assert part_done(1.0, 2.0, 0.01) == 0.0
    for nonsense in (math.nan, math.inf, 0.0):
        assert part_done(nonsense, 0.5, 0.01) == 0.0
        assert part_done(1.0, nonsense, 0.01) == 0.0
