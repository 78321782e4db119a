"""The progress bar of a fit."""

import math
from types import SimpleNamespace

import pytest

from adatron.cli.training import Interrupt, ProgressBar


def state(gap, **more):
    return SimpleNamespace(
        **{"problem": 0, "n_problems": 1, "n_finished": 0, **more}, kkt_violation=gap, duality_gap=gap
    )


def test_a_fit_is_followed_in_decades_and_never_steps_back():
    bar = ProgressBar(1e-2, True, Interrupt(False), "fold 1 of 5")
    for gap, done in ((1.0, 0.0), (0.1, 0.5), (0.5, 0.5), (1e-2, 1.0)):
        assert bar(state(gap)) is False
        assert bar.done == pytest.approx(done)
    assert bar.line() == "fold 1 of 5: 100% in 0 s; duality gap 1.0e-02, KKT 1.0e-02"


def test_other_problems_that_have_ended_count():
    bar = ProgressBar(1e-2, True, Interrupt(False))
    for gap in (math.inf, 1.0, 0.1):
        bar(state(gap, problem=1, n_problems=2, n_finished=1))
    assert bar.done == pytest.approx(0.75)
