"""The handbook's section 15.5 on few draws; its closed form against trying all points."""

import numpy as np
import pytest
from reproductions.handbook import conditions, pairs, sections, working_sets
from reproductions.report import Sheet
from reproductions.tests.sheets import NO_FIGURES, assert_holds


def test_optimality_and_incremental_learning():
    for section in (conditions.optimality(), conditions.incremental(), conditions.ball()):
        assert_holds(section)


@pytest.mark.slow
def test_pictures(tmp_path):
    assert_holds(pairs.constraints(Sheet(tmp_path)))
    assert_holds(working_sets.rates(3, Sheet(tmp_path)))
    assert {path.name for path in tmp_path.iterdir()} == {"figure_15_7.png", "convergence.png", "linear_rate.png"}


@pytest.mark.parametrize("labels", [(1.0, -1.0), (-1.0, 1.0), (1.0, 1.0), (-1.0, -1.0)])
def test_the_closed_form_is_the_best_point_of_the_segment(labels):
    rng, y = np.random.default_rng(1), np.array(labels)
    for _ in range(20):
        rows, at = rng.normal(size=(2, 3)), rng.uniform(0.0, 2.0, 2)
        found = pairs.closed_form(rows @ rows.T, y, 2.0, at)
        assert y @ found == pytest.approx(y @ at)
        assert ((found >= -1e-12) & (found <= 2.0 + 1e-12)).all()
        for share in np.linspace(0.0, 1.0, 21):  # no point between it and where it began, and none beyond, is better
            other = found + share * (at - found)
            assert value(rows @ rows.T, y, other) <= value(rows @ rows.T, y, found) + 1e-9


def value(K, y, alpha):
    return alpha.sum() - 0.5 * (alpha * y) @ K @ (alpha * y)


@pytest.mark.slow
def test_the_page_ends_with_its_claims():
    *others, last = sections(True, NO_FIGURES)
    for section in others:
        assert_holds(section)
    assert last.title == "Claims"
    assert "| ✓ |" in last.markdown()
