"""Akaho's figures on few draws, and their pictures."""

import numpy as np

from adatron.papers.akaho import draws, stability
from adatron.papers.report import Sheet
from sheets import NO_FIGURES, assert_holds


def test_stability(tmp_path):
    section = stability.section(Sheet(tmp_path))
    assert_holds(section)
    assert [path.name for path in section.pictures] == ["figure_1.png"]


def test_one_draw(tmp_path):
    section = draws.example(Sheet(tmp_path))
    assert_holds(section)
    assert len(section.pictures) == 2


def test_a_few_draws(tmp_path):
    for section in draws.sections(3, Sheet(tmp_path)):
        assert_holds(section)
        assert len(section.pictures) == 1


def test_a_draw_has_both_classes():
    data = draws.draw(1)
    assert NO_FIGURES.folder is None
    assert data.X.shape == (20, 2)
    assert np.bincount((data.y_test > 0).astype(int)).tolist() == [500, 500]
