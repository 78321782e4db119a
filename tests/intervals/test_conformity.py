"""Scores and counts against what their definitions say, one by one."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adatron.intervals.conformity import SCORES, allowed, fewest, interval, members, p_value, rounding, scores_of, tie

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
    ("alpha", "n", "wanted"),
    [
        (0.1, 9, 1),
        (0.1, 8, 0),
        (0.1, 29, 3),
        (0.29, 99, 29),
        (0.5, 1, 1),
        (1 / 3, 29, 10),
        (np.nextafter(0.1, 0.0), 9, 0),  # less than one of ten
        (0.0999999999, 9, 0),
        (np.float32(0.7), 9, 6),  # less than seven of ten
        (0.1, 10**6 - 2, 99_999),
        (0.0999999999999, 10**9 - 1, 99_999_999),
    ],
)
def test_how_many_places_are_too_strange(alpha, n, wanted):
    assert allowed(alpha, n) == wanted


@given(st.integers(1, 10**6 - 1), st.integers(1, 10**8))
def test_the_count_is_that_of_the_decimal(millionths, n):
    assert allowed(millionths / 1e6, n) == Fraction(millionths, 10**6) * (n + 1) // 1


@given(st.floats(1e-9, 1.0, exclude_max=True))
def test_the_fewest_samples_are_those_that_allow_one(alpha):
    n = fewest(alpha)
    assert allowed(alpha, n) > 0
    assert n == 0 or allowed(alpha, n - 1) == 0


def test_ends_are_the_order_statistics_of_the_paper():
    left_out, residuals = RNG.normal(size=(4, 19)), RNG.exponential(size=19)
    ends = interval(left_out, residuals, 0.1)
    for row, (low, high) in zip(left_out, ends, strict=True):
        assert low == np.sort(row - residuals)[int(0.1 * 20) - 1]
        assert high == np.sort(row + residuals)[int(np.ceil(0.9 * 20)) - 1]
    assert np.isinf(interval(left_out[:, :8], residuals[:8], 0.1)).all()


def test_members_are_the_classes_that_few_samples_beat():
    left_out, scores = RNG.normal(size=(3, 19, 4)), RNG.normal(size=19)
    sets = members(left_out, scores, 0.2, 0.0)
    wanted = [[sum(scores < one[:, c]) < 0.8 * 20 for c in range(4)] for one in left_out]
    assert sets.tolist() == wanted


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e12])
def test_scores_that_rounding_separates_are_equal(scale):
    beta, K = RNG.normal(size=50), RNG.uniform(-scale, scale, size=(8, 50))
    beta *= 10.0 ** RNG.integers(-5, 5, 50)
    shuffled = RNG.permutation(50)
    bound = rounding(50, scale, beta, 1.0)
    one, other = K @ beta + 1.0, K[:, shuffled] @ beta[shuffled] + 1.0
    assert (np.abs(one - other) <= 2 * bound).all()
    assert bound < 1e-13 * (scale * np.abs(beta).sum() + 1.0)
    for first, second in zip(one, other, strict=True):
        assert p_value(np.array([second, first - 1.0 - 100 * bound]), first, tie(bound, 2)) == 2 / 3
        assert members(np.full((1, 2, 1), first), np.full(2, second), 0.5, tie(bound, 2)).all()
