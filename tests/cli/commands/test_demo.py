"""The demonstration."""

import importlib
from dataclasses import replace

import pytest

from adatron import files
from adatron.cli import main
from moments import at


def test_the_demo_shows_its_checks(capsys):
    assert main(["demo"]) == 0
    out = capsys.readouterr().out
    assert "relative duality gap" in out
    assert out.count("\nyes  ") == 3


@pytest.mark.parametrize(("ours", "theirs"), [(2.0, 1.0), (1.0, 2.0)])
def test_the_demo_says_why_it_is_slower(ours, theirs, capsys):
    demo = importlib.import_module("adatron.cli.commands.demo")
    demo._compare(0.9, 0.9, 1.0, [(ours, theirs)] * 3)
    assert ("overhead" in capsys.readouterr().out) == (ours > theirs)


def test_a_failed_check_of_the_demo_ends_with_3(capsys):
    def damage(given):
        loaded = given["return"]
        vars(loaded)["_model"] = replace(loaded.model_, intercepts=loaded.intercept_ + 1e-12)

    with at(files.load, damage, number=None, end=True):
        assert main(["demo"]) == 3
    assert "\nNO   saved" in capsys.readouterr().out
