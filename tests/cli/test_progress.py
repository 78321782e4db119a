"""The progress bar."""

import math
import re
import sys
import time
from importlib import import_module
from itertools import count
from types import SimpleNamespace

import pytest

from adatron.cli.progress import Interrupt, ProgressBar


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


@pytest.mark.parametrize(("terminal", "quiet"), [(True, False), (True, True), (False, False)])
def test_the_bar_is_drawn_on_a_terminal_only(monkeypatch, terminal, quiet):
    stream = Terminal(terminal)
    monkeypatch.setattr(sys, "stderr", stream)
    with ProgressBar(1e-2, quiet, Interrupt(False)) as bar:
        for gap in (math.inf, 1.0, 0.1, 0.5):
            state = SimpleNamespace(problem=1, n_problems=2, n_finished=1, kkt_violation=gap, duality_gap=gap)
            assert bar(state) is False
    assert ("duality gap" in stream.text) == (terminal and not quiet)


def test_after_a_while_the_bar_tells_the_time_left(monkeypatch):
    monkeypatch.setattr(time, "monotonic", count(0.0, 10.0).__next__)
    stream = Terminal(True)
    monkeypatch.setattr(sys, "stderr", stream)
    with ProgressBar(1e-2, False, Interrupt(False)) as bar:
        for gap in (1.0, 0.5, 0.1):
            bar(SimpleNamespace(problem=0, n_problems=1, n_finished=0, kkt_violation=gap, duality_gap=gap))
            bar._bar.refresh()
    assert re.search(r"about \d\d:\d\d left", stream.text)


def test_elsewhere_a_line_now_and_then_tells_how_far_it_is(monkeypatch):
    progress = import_module("adatron.cli.progress")
    monkeypatch.setattr(progress, "PATIENCE", -1.0)
    monkeypatch.setitem(progress.PICTURE_SECONDS, False, 0.02)
    stream = Terminal(False)
    monkeypatch.setattr(sys, "stderr", stream)
    with ProgressBar(1e-2, False, Interrupt(False), "fold 1 of 5: ") as bar:
        for gap in (1.0, 0.1):
            bar(SimpleNamespace(problem=0, n_problems=1, n_finished=0, kkt_violation=gap, duality_gap=gap))
        time.sleep(0.2)
    assert "fold 1 of 5: 50% in 0 s; about 0 s left; gap 1.0e-01, KKT 1.0e-01\n" in stream.text
    told = stream.text
    time.sleep(0.1)
    assert stream.text == told  # the fit is over
