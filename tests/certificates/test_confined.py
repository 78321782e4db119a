"""The range of the best bias, compared with a slow twin that sorts all kinks."""

import numpy as np
import pytest

from adatron.certificates.bias import CARE, SLACK, confine


def extreme(lower, upper, total, epsilon, at, side):
    """The lowest (side -1) or the highest (1) minimiser of the convex function whose kinks are around ``at``."""
    kinks, steps = np.concatenate([at - epsilon, at + epsilon]), np.concatenate([upper, -lower])
    order = np.argsort(kinks, kind="stable")
    passed, rounding = np.cumsum(steps[order]), SLACK * np.abs(steps).sum()
    needed = upper.sum() - total
    where = passed > needed + rounding if side > 0 else passed >= needed - rounding
    if not where.any() or (side < 0 and needed <= rounding):
        return side * np.inf
    return kinks[order][np.argmax(where)]


def programs(equalities, epsilon, count=60):
    generator, out = np.random.default_rng(equalities), []
    for _ in range(count):
        n = generator.integers(2, 40)
        y = np.where(generator.random(n) < 0.5, -1.0, 1.0)
        C = 10.0 * generator.random(n) * (generator.random(n) < 0.8)
        lower, upper = (-C, C) if epsilon else (np.minimum(y * C, 0.0), np.maximum(y * C, 0.0))
        row = np.where(y > 0.0, 0, 1)
        sums = [0.3 * upper[row == r].sum() + 0.3 * lower[row == r].sum() for r in range(2)]
        out.append((lower, upper, row, [0.0] if equalities == 1 else sums, generator.normal(size=n)))
    return generator, out


@pytest.mark.parametrize("epsilon", [0.0, 0.1])
@pytest.mark.parametrize("equalities", [1, 2])
def test_the_range_of_the_bias_is_that_of_sorted_kinks(equalities, epsilon):
    generator, some = programs(equalities, epsilon)
    first = np.cumsum([0, *(len(one[0]) for one in some)])
    lower, upper, row, g = (np.concatenate([one[k] for one in some]) for k in (0, 1, 2, 4))
    totals, n = np.array([one[3] for one in some]), len(some)
    roots, widths, errors = generator.random(len(g)), generator.random(n), 0.01 * generator.random(n)
    low, high = np.empty(n), np.empty(n)
    rows = row if equalities == 2 else np.zeros(0, np.int64)
    confine(first, lower, upper, rows, totals, np.full(n, epsilon), g, roots, widths, errors, low, high)
    for k in range(n):
        part = slice(first[k], first[k + 1])
        far = CARE * widths[k] * roots[part] + errors[k]
        for side, found in ((-1, low[k]), (1, high[k])):
            ends = []
            for r in range(equalities):
                own = row[part] == r if equalities == 2 else slice(None)
                bounds = lower[part][own], upper[part][own], totals[k, r], epsilon
                ends.append(extreme(*bounds, (side * far - g[part])[own], side))
            assert found == pytest.approx(np.mean(ends))


def test_infinite_bounds_confine_nothing():
    low, high, one = np.empty(1), np.empty(1), np.ones(1)
    bounds = np.array([-np.inf, 0.0]), np.array([0.0, np.inf])
    rest = np.zeros(0, np.int64), np.zeros((1, 1)), np.zeros(1), np.array([0.3, -0.2]), np.ones(2)
    confine(np.array([0, 2]), *bounds, *rest, one, one, low, high)
    assert low[0] == -np.inf
    assert high[0] == np.inf


def range_of(total):
    """The range of the bias for kinks at 1, 2, 3 and 4, and steps of 1."""
    low, high, zero = np.empty(1), np.empty(1), np.zeros(1)
    bounds = np.array([0.0, -1.0, 0.0, -1.0]), np.array([1.0, 0.0, 1.0, 0.0])
    rest = np.zeros(0, np.int64), np.array([[total]]), zero, -np.arange(1.0, 5.0), np.ones(4)
    confine(np.array([0, 4]), *bounds, *rest, zero, zero, low, high)
    return low[0], high[0]


def test_sums_that_rounding_may_have_moved_past_a_kink_narrow_nothing():
    rounding = 4e-9  # of steps that sum up to 4
    assert range_of(0.0) == (2.0, 3.0)
    assert range_of(-0.9 * rounding) == (2.0, 3.0)
    assert range_of(-1.1 * rounding) == (3.0, 3.0)
    assert range_of(1.8 * rounding) == (2.0, 3.0)
    assert range_of(2.2 * rounding) == (2.0, 2.0)
    assert range_of(2.0 - 0.9 * rounding) == (-np.inf, 1.0)  # at most one bound of all, perhaps
    assert range_of(2.0 - 1.1 * rounding) == (1.0, 1.0)
    assert range_of(-2.0) == (4.0, np.inf)
    assert range_of(-2.0 + 1.9 * rounding) == (4.0, np.inf)
    assert range_of(-2.0 + 2.1 * rounding) == (4.0, 4.0)
    assert range_of(-2.0 - 0.9 * rounding) == (4.0, np.inf)
    assert range_of(-2.0 - 1.1 * rounding) == (-np.inf, np.inf)
