"""Equal samples that are merged against a loop."""

from math import fsum

import numpy as np
import pytest

from adatron.compiled.merge import alike, merge

pytestmark = pytest.mark.plain


def test_places_that_may_be_equal_to_the_one_before():
    order, keys, codes = np.array([3, 0, 2, 1]), np.array([7, 8, 7, 7], np.uint64), np.array([0, 1, 1, 0])
    assert alike(order, keys, codes).tolist() == [1]
    assert alike(np.array([3, 1, 2, 0]), keys, codes).tolist() == []


def test_weights_and_members_are_those_of_the_distinct_samples():
    rng = np.random.default_rng(0)
    order, first = rng.permutation(50)[:40], rng.random(40) < 0.4
    first[0] = True
    codes, weight = rng.integers(0, 3, 50), rng.random(50)
    rows, sizes, total, group, own = merge(order, first, codes, 3, weight)
    np.testing.assert_array_equal(rows, order[first])
    np.testing.assert_array_equal(sizes, np.bincount(codes[rows], minlength=3))
    np.testing.assert_array_equal(group, np.cumsum(first) - 1)
    np.testing.assert_array_equal(own, weight[order])
    np.testing.assert_allclose(total, np.bincount(group, own))


def test_a_thousand_members_weigh_the_sum_of_their_weights():
    weight = np.full(1000, 0.1)
    first = np.arange(1000) == 0
    total = merge(np.arange(1000), first, np.zeros(1000, np.int64), 1, weight)[2]
    assert total[0] == fsum(weight) == 100.0
