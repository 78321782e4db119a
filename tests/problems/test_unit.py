"""Units of programs: powers of two, in which a program with numbers of any size is the one with numbers of about 1."""

from math import frexp

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adatron.problems import Dual, nusvc, nusvr, oneclass, quantile, svr
from adatron.problems.unit import by_margin, by_sums, power_of_two, scaled, unit_of, units_of
from twins import programs
from twins.primal import BIASES, data, drawn


@settings(deadline=None)
@given(st.floats(1e-300, 1e300))
def test_a_power_of_two_is_the_largest_below(value):
    found = power_of_two(value)
    assert frexp(found)[0] == 0.5
    assert found <= value < 2.0 * found


@drawn(bias=BIASES, size=(2.0**-200, 2.0**-20, 1.0))
def test_in_its_unit_a_program_of_any_size_is_the_same(seed, bias, size):
    K, _, C, y = data(seed)
    plain, small = svr(y, C, 0.1, bias), svr(size * y, size * C, 0.1 * size, bias)
    one, other = unit_of(plain, 1.0), unit_of(small, 1.0)
    assert other == size * one  # a power of two, so no digit is lost
    first, second = scaled(plain, one), scaled(small, other)
    for name in ("t", "lower", "upper"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))
    assert (first.totals, first.epsilon, first.lambda2) == (second.totals, second.epsilon, second.lambda2)
    beta = programs.solve(K, first, tol=1e-9)
    rescaled = programs.objective(K, plain, one * beta)
    assert rescaled == pytest.approx(one**2 * programs.objective(K, first, beta), abs=1e-12)
    assert programs.kkt(K, plain, one * beta) <= 1.001e-9 * one


def test_targets_of_about_one_and_larger_ones_have_the_unit_one():
    y, C = np.array([3.0, -5.0, 0.0]), np.ones(3)
    assert unit_of(svr(y, C, 0.1), 1.0) == 1.0
    assert scaled(svr(y, C, 0.1), 1.0).t is y
    assert unit_of(svr(np.zeros(0), np.zeros(0), 0.1), 1.0) == 1.0
    assert unit_of(svr(np.full(3, 7.0), C, 0.1), 1.0) == 1.0  # targets without a range


@drawn(spread=(1e-6, 0.01, 1.0))
def test_programs_without_targets_have_the_unit_of_their_sums(seed, spread):
    _, y, w, t = data(seed)
    duals = [nusvc(y, w, 0.3), nusvc(y, 0.1 * w, 0.3)]
    assert [by_sums(one) for one in (*duals, oneclass(w, 0.3), nusvr(t, w, 0.3), svr(t, w, 0.1))] == [
        True, True, True, False, False
    ]  # fmt: skip
    t[0] = 0.0  # one target of 0 does not make a program without targets
    assert not by_sums(nusvr(t, w, 0.3))
    assert by_sums(Dual(np.zeros(2), np.zeros(2), np.ones(2), totals=(0.0, 1.0), row=np.arange(2)))
    assert scaled(duals[0], 0.25).totals == tuple(4.0 * total for total in duals[0].totals)
    units = [unit_of(one, spread) for one in duals]
    for unit, dual in zip(units, duals, strict=True):
        size = 2.0**-4 * np.abs(dual.totals).sum() * spread
        assert unit == min(1.0, power_of_two(size))
    totals, most = np.array([one.totals for one in duals]), np.array([w.max(), 0.1 * w.max()])
    np.testing.assert_array_equal(units_of(totals, most, spread), units)


def test_a_small_margin_of_a_classifier_with_nu_is_its_unit():
    _, y, w, _ = data(0)
    dual = nusvc(y, w, 0.3)
    assert by_margin(dual, -0.3 * 2.0**-10, 2.0**-5, 2.0**-5) == 2.0**-12
    assert by_margin(dual, -1.0, 2.0**-5, 2.0**-5) == 2.0**-5  # the unit is small enough
    assert by_margin(dual, 0.0, 2.0**-5, 2.0**-5) == 2.0**-5  # no margin
    smallest = 2.0**-45  # of a first unit of 2**-5
    assert by_margin(dual, -1.5 * smallest, 2.0**-5, 2.0**-5) == smallest
    assert by_margin(dual, -smallest, 2.0**-5, 2.0**-5) == 2.0**-5
    assert by_margin(oneclass(w, 0.3), -(2.0**-12), 2.0**-5, 2.0**-5) == 2.0**-5  # no classifier


@pytest.mark.parametrize("y", [[0.0, 2.0**-500], [-(2.0**-500), 0.0]])
@pytest.mark.parametrize(
    ("bound", "unit"),
    [(1.0, 2.0**-400), (2.0**520, 2.0**-380), (0.7 * 2.0**900, 0.5), (2.0**950, 1.0), (np.inf, 2.0**-400)],
)
def test_tiny_targets_and_large_bounds_stay_in_the_range(y, bound, unit):
    y, small, large = np.array(y), np.ones(2), np.full(2, bound)
    for below, above in ((small, large), (large, small), (large, large)):
        assert unit_of(quantile(y, below, above), 1.0) == unit
        assert unit_of(quantile(2.0**490 * y, below, above), 1.0) == max(unit, 2.0**-11)
