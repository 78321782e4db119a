"""Akaho's figures on few draws, and their pictures."""

import numpy as np
import pytest
from reproductions.akaho import costs, draws, metrics, stability
from reproductions.report import Sheet
from reproductions.tests.sheets import NO_FIGURES, assert_holds


def test_stability(tmp_path):
    section, claims = stability.section(Sheet(tmp_path))
    assert_holds(section)
    assert [path.name for path in section.pictures] == ["figure_1.png"]
    assert all(claim.held for claim in claims)


def test_one_draw(tmp_path):
    section = draws.example(Sheet(tmp_path))
    assert_holds(section)
    assert len(section.pictures) == 2


@pytest.mark.slow
def test_a_few_draws(tmp_path):
    found = draws.measured(3)
    for section in draws.sections(found, Sheet(tmp_path)):
        assert_holds(section)
        assert len(section.pictures) == 1
    for name, margins in found.margins.items():
        assert (margins <= found.half * (1 + 1e-6)).all(), name  # no boundary is farther from both classes
    assert {claim.section for claim in draws.claims(found)} >= {"abstract", "4, Fig. 4", "6"}


@pytest.mark.slow
def test_errors_are_ticked_beyond_one_standard_error_only():
    found = draws.measured(2)
    for name in found.errors:
        found.errors[name][:] = found.error + np.array([0.02, -0.03])
    ticks = [line.holds for line in next(reversed([*draws.sections(found, NO_FIGURES)])).lines]
    assert True not in ticks
    told = [claim for claim in draws.claims(found) if claim.claim.startswith("better")]
    assert [claim.held for claim in told] == [None] * len(told)


@pytest.mark.slow
def test_costs_and_metrics():
    section, _ = costs.section(quick=True)
    assert_holds(section)
    (memory,) = (line for line in section.lines if line.what.startswith("memory"))
    assert memory.holds
    (time,) = (line for line in section.lines if line.what.startswith("time"))
    assert time.holds is None  # other work may disturb it
    section, claims = metrics.section(2)
    assert_holds(section)
    assert claims[0].held  # the margin in the Fisher metric grows


def test_metrics_are_positive_definite():
    for metric in (metrics.fisher, metrics.tangent):
        assert (np.linalg.eigvalsh(metric(np.array([0.3, 0.8]))) > 0).all()
    x = np.array([0.6, 0.8])
    around = np.array([-0.8, 0.6])
    assert x @ metrics.tangent(x) @ x > around @ metrics.tangent(x) @ around


def test_a_draw_has_both_classes():
    data = draws.draw(1)
    assert NO_FIGURES.folder is None
    assert data.X.shape == (20, 2)
    assert np.bincount((data.y_test > 0).astype(int)).tolist() == [500, 500]
