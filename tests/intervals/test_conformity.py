"""Scores and counts against what their definitions say, one by one."""

import numpy as np
import pytest

from adatron.intervals.conformity import SCORES, allowed, interval, members, p_value, scores_of

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("kind", sorted(SCORES))
def test_scores_of_many_classes(kind):
    values = RNG.normal(size=(5, 3, 4))
    values[0, 0] = [1.0, 1.0, 0.0, 2.0]  # a tie
    found = scores_of(kind, values, 4)
    share = np.exp(values) / np.exp(values).sum(axis=-1, keepdims=True)
    for place in np.ndindex(5, 3, 4):
        row, own = values[place[:2]], values[place]
        ahead = share[place[:2]][row > own].sum()
        wanted = np.delete(row, place[2]).max() - own if kind == "margin" else ahead
        assert found[place] == pytest.approx(wanted, abs=1e-12)


def test_scores_of_two_classes():
    f = RNG.normal(size=(6, 2))
    np.testing.assert_allclose(scores_of("margin", f, 2), np.stack([f, -f], axis=-1))
    assert (scores_of("adaptive", f, 2).min(axis=-1) == 0.0).all()  # that of the predicted class


@pytest.mark.parametrize(
    ("alpha", "n", "wanted"), [(0.1, 9, 1), (0.1, 8, 0), (0.1, 29, 3), (0.29, 99, 29), (0.5, 1, 1)]
)
def test_how_many_places_are_too_strange(alpha, n, wanted):
    assert allowed(alpha, n) == wanted


def test_ends_are_the_order_statistics_of_the_paper():
    left_out, residuals = RNG.normal(size=(4, 19)), RNG.exponential(size=19)
    ends = interval(left_out, residuals, 0.1)
    for row, (low, high) in zip(left_out, ends, strict=True):
        assert low == np.sort(row - residuals)[int(0.1 * 20) - 1]
        assert high == np.sort(row + residuals)[int(np.ceil(0.9 * 20)) - 1]
    assert np.isinf(interval(left_out[:, :8], residuals[:8], 0.1)).all()


def test_members_are_the_classes_that_few_samples_beat():
    left_out, scores = RNG.normal(size=(3, 19, 4)), RNG.normal(size=19)
    sets = members(left_out, scores, 0.2)
    wanted = [[sum(scores < one[:, c]) < 0.8 * 20 for c in range(4)] for one in left_out]
    assert sets.tolist() == wanted


def test_scores_that_rounding_separates_are_equal():
    assert p_value(np.array([1.0, 1.0 - 1e-12, 0.5]), 1.0) == 3 / 4
    assert members(np.full((1, 2, 1), 1.0), np.array([1.0 - 1e-12, 1.0 - 1e-12]), 0.5).all()
