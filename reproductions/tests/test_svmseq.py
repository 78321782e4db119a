"""The paper on SVMseq: its quick sections."""

import numpy as np
import pytest
from reproductions.report import Section, Sheet
from reproductions.svmseq import angles, cost, regression, sonar
from reproductions.tests.sheets import NO_FIGURES, assert_holds


def lines(section):
    return {line.what: line for line in section.lines}


@pytest.mark.slow
def test_svmseq_angles(tmp_path):
    found = list(angles.sections(True, Sheet(tmp_path), count=6))
    assert [path.name for path in tmp_path.iterdir()] == ["figure-1.png"]
    assert any("Table 1" in section.title for section in found)
    for section in found:
        assert section.lines
        assert_holds(section)


@pytest.mark.slow
def test_svmseq_regression(tmp_path):
    (section,) = regression.sections(Sheet(tmp_path))
    assert_holds(section)
    optimum, printed = lines(section)["λ = 0: objective, optimum and after 60 epochs as printed"].reproduced
    assert optimum > 0
    assert printed < -10 * optimum
    assert [path.name for path in section.pictures] == ["regression.png"]


@pytest.mark.data
def test_svmseq_sonar(data_dir, monkeypatch):
    monkeypatch.setenv("ADATRON_DATA", str(data_dir))
    found = list(sonar.sections(NO_FIGURES, np.array([0.2, 0.6, 1.3]), repeats=2))
    assert any("Table 3" in section.title for section in found)
    for section in found:
        assert section.lines
        assert_holds(section)


@pytest.mark.data
def test_svmseq_cost(data_dir, monkeypatch, tmp_path):
    monkeypatch.setenv("ADATRON_DATA", str(data_dir))
    found = list(cost.sections(True, Sheet(tmp_path)))
    for section in found:
        assert section.lines
        assert_holds(section)
    assert [path.name for path in tmp_path.iterdir()] == ["factors.png"]


def test_a_gain_within_its_standard_error_is_none():
    section = Section("Title")
    before = np.array([True] * 50 + [False] * 50)
    sonar.add_gain(section, "same", before, before)
    sonar.add_gain(section, "shuffled", before, np.roll(before, 25))
    sonar.add_gain(section, "better", before, np.ones(100, bool))
    sonar.add_gain(section, "worse", np.ones(100, bool), before)
    assert [line.holds for line in section.lines] == [None, None, True, False]
    assert not section.failures
