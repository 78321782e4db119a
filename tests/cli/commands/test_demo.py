"""The demonstration."""

import sys
from dataclasses import replace

import pytest

from adatron import files
from lines import told, tool
from moments import at


@pytest.mark.slow
def test_the_demo_shows_its_claims_and_numbers_on_a_screen(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["/my tools/adatron", "demo"])  # which is not on PATH
    out = told(capsys, "demo").out
    lines = out.splitlines()
    assert out.count("\n   yes  ") == 6
    assert "NO " not in out
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 100
    names = ("scikit-learn", "adatron", "proven", "accuracy", "seconds", "best", "picture")
    numbers = [line for line in lines if line[3:15].strip() in names]
    assert len(numbers) >= 10
    assert all(line[15] == " " != line[16] for line in numbers)
    assert {one.name for one in (tmp_path / "adatron-demo").iterdir()} == {"digits.adatron", "search.png"}
    assert files.load(tmp_path / "adatron-demo" / "digits.adatron").certificate_.converged
    assert lines[-1].startswith("Next: '/my tools/adatron' info ")


@pytest.mark.slow
def test_a_failed_claim_of_the_demo_ends_with_3(tmp_path, capsys):
    def damage(given):
        loaded = given["return"]
        vars(loaded)["_model"] = replace(loaded.model_, intercepts=loaded.intercept_ + 1e-12)

    with at(files.load, damage, number=None, end=True):
        assert tool("demo", "--folder", tmp_path) == 3
    assert "\n   NO   saved" in capsys.readouterr().out
