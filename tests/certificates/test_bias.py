"""Multipliers against their definitions, and the range of the best bias against a slow twin that sorts all kinks."""

from itertools import product

import numpy as np
import pytest

from adatron.certificates import half_width, intercept, multipliers
from adatron.certificates.bias import CARE, SLACK, confine
from adatron.certificates.gap import kkt_violation
from adatron.problems import csvc, nusvc, svr
from twins import programs
from twins.points import PROGRAMS, point
from twins.primal import BIASES, data, drawn


def by_definition(dual, beta, g):
    """The mean over the free variables of each equality, else the middle or the finite end of the interval."""
    up, down = programs.slopes(dual, beta, g)
    inside = (beta > dual.lower) & (beta < dual.upper) & ((dual.epsilon == 0) | (beta != 0))
    for a in programs.matrix(dual):
        more, free = np.where(a > 0, up, down), inside & (a != 0)
        low, high = more[a != 0].max(), -np.where(a > 0, down, up)[a != 0].max()
        if free.any():
            yield more[free].mean()
        else:
            yield high if np.isinf(low) else low if np.isinf(high) else 0.5 * (low + high)


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("where", ["anywhere", "at bounds", "lowest", "highest", "one inside"])
def test_multipliers_are_those_of_the_definition(name, where):
    for seed, bias in enumerate(BIASES):
        dual, beta, g, rng = point(seed, name, bias)
        if where != "anywhere":
            share = {"at bounds": 0.5, "one inside": 0.5, "lowest": 0.0, "highest": 1.0}[where]
            beta = np.where(rng.random(len(dual)) < share, dual.upper, dual.lower)
            if dual.epsilon:  # 0 counts as a bound
                beta = np.where(rng.random(len(dual)) < 0.5 * (where == "at bounds"), 0.0, beta)
        if where == "one inside":
            one = rng.integers(len(dual))
            beta[one] = 0.25 * dual.lower[one] + 0.75 * dual.upper[one]
        check(dual, beta, g)
        if len(dual.totals) < 2:
            for one in range(0, len(dual), 5):
                check(dual.take([one]), beta[[one]], g[[one]])


def check(dual, beta, g):
    """Compare the multipliers, and what they say, with the definition."""
    expected = list(by_definition(dual, beta, g))
    np.testing.assert_allclose(multipliers(dual, beta, g), expected, rtol=1e-12, atol=1e-14)
    of_bias = dual.totals and dual.sign is None
    bias = np.mean(expected) if of_bias else dual.lambda2 * beta.sum()
    assert intercept(dual, beta, g) == pytest.approx(bias, rel=1e-12, abs=1e-14)
    if dual.totals:
        width = expected[0] if len(expected) == 1 else 0.5 * (expected[0] - expected[1])
        assert half_width(dual, beta, g) == pytest.approx(width, rel=1e-12, abs=1e-14)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_rounding_beside_a_bound_is_at_the_bound(name):
    """Otherwise one coefficient of 1e-16 decides what the solution leaves open."""
    for seed, (bias, share) in enumerate(product(BIASES, (0.5, 0.0))):
        dual, beta, g, rng = point(seed, name, bias)
        inner = beta if dual.hard_margin else np.where(rng.random(len(dual)) < share, dual.upper, dual.lower)
        inner = np.where((rng.random(len(dual)) < share) & (dual.lower < 0.0) & (dual.upper > 0.0), 0.0, inner)
        size = np.minimum(dual.upper - dual.lower, np.abs(inner).max())
        knots = ((inner == dual.lower, 2.0**-50), (inner == 0.0, 2.0**-47), (inner == dual.upper, -(2.0**-50)))
        beside = inner + np.select(*zip(*knots, strict=True)) * size
        np.testing.assert_array_equal(multipliers(dual, beside, g), multipliers(dual, inner, g))


OF_KKT = {
    "csvc": lambda y, w, t, bias: csvc(y, w, bias, 0.7),
    "svr": lambda y, w, t, bias: svr(t, w, 0.1, bias, 0.7),
    "nusvc": lambda y, w, t, bias: nusvc(y, w, 0.3, bias, 0.7),
}


@drawn(name=tuple(OF_KKT), bias=BIASES, part=(0.0, 0.3, 1.0))
def test_violations_are_those_of_the_definition(seed, name, bias, part):
    K, y, w, t = data(seed)
    dual = OF_KKT[name](y, w, t, bias)
    beta = np.where(np.random.default_rng(seed).random(len(y)) < 0.5, part * dual.upper, 0.5 * part * dual.lower)
    g = programs.gradient(K, dual, beta)
    found = kkt_violation(dual, beta, g)
    assert found == pytest.approx(programs.kkt(K, dual, beta))
    errors = np.full(len(y), 0.1)
    rng = np.random.default_rng(seed)
    for _ in range(5):  # an upper bound of what is true of any gradient within the errors
        near = g + errors * rng.uniform(-1, 1, len(y))
        assert kkt_violation(dual, beta, g, errors) >= kkt_violation(dual, beta, near)
    solution = programs.solve(K, dual, tol=1e-9)
    assert kkt_violation(dual, solution, programs.gradient(K, dual, solution)) <= 1.1e-9


@pytest.mark.parametrize(("size", "narrow"), [(1e-15, 1.0), (1.0, 1e-20)])
def test_small_is_not_beside_a_bound(size, narrow):
    """All coefficients may be tiny, and so may the range of one: what is inside of its own range is free."""
    dual = csvc(np.array([1.0, 1.0, -1.0, -1.0]), np.array([narrow, 1.0, 1.0, 1.0]))
    beta = np.array([0.25 * min(size, narrow), 0.5 * size, -0.5 * size, 0.0])
    g = np.array([1.0, 2.0, 4.0, 8.0])
    assert multipliers(dual, beta, g)[0] == -g[:3].mean()


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


def drawn_programs(equalities, epsilon, count=60):
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
    generator, some = drawn_programs(equalities, epsilon)
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
