"""The gap at given multipliers and errors, and the best multipliers, against their definitions."""

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest

from adatron.certificates import best_multipliers, duality_gap
from adatron.certificates.gap import crossing
from adatron.compiled.precision import UNIT
from adatron.problems import Dual, csvc, svr, with_targets
from twins import programs
from twins.points import PROGRAMS, grid, point
from twins.primal import BIASES, data, drawn

L = np.longdouble


def terms(dual, beta, h):
    """The most of h (beta - v) + epsilon (|beta| - |v|) over v: at a bound or at 0."""
    ends = [dual.lower, dual.upper, np.clip(0.0, dual.lower, dual.upper)]
    return np.max([h.astype(L) * (beta - v) + dual.epsilon * L(1) * (abs(beta) - abs(v)) for v in ends], axis=0)


@drawn(name=tuple(PROGRAMS), bias=BIASES, size=(0.0, 0.02, 2.0))
def test_the_gap_is_the_sum_of_the_largest_terms(seed, name, bias, size):
    dual, beta, g, rng = point(seed, name, bias)
    mu, errors = grid(rng.normal(size=len(dual.totals))), grid(size * rng.random(len(dual)))
    errors[rng.random(len(dual)) < 0.2] = 0.0
    h = g + programs.matrix(dual).T @ mu
    low, high = terms(dual, beta, h - errors), terms(dual, beta, h + errors)
    for found, true in (
        (duality_gap(dual, beta, g, mu, errors), np.maximum(low, high).sum()),
        (duality_gap(dual, beta, g, mu), terms(dual, beta, h).sum()),
    ):
        rounding = UNIT * (len(dual) + 8)  # of the sum, which the gap covers
        assert true * (1 + 3 * rounding) <= found <= true * (1 + 5 * rounding)


@drawn(name=tuple(PROGRAMS), bias=BIASES)
def test_the_best_multipliers_minimise_the_gap(seed, name, bias):
    dual, beta, g, _ = point(seed, name, bias)
    zero = replace(dual, t=-g, lambda2=0.0)  # g is the gradient where all kernel values are 0
    found = duality_gap(dual, beta, g, best_multipliers(dual, beta, g))
    assert found == pytest.approx(programs.gap(np.zeros((len(dual), len(dual))), zero, beta), rel=1e-12)


@drawn(name=tuple(PROGRAMS))
def test_if_the_conditions_hold_on_an_interval_its_middle_is_best(seed, name):
    dual, _, _, rng = point(seed, name, "explicit")
    one = rng.integers(0, 3, len(dual))
    zero = (one == 0) & (dual.epsilon > 0) & (dual.lower <= 0) & (dual.upper >= 0)
    top = (one == 2) & ~zero
    beta = np.where(zero, 0.0, np.where(top, dual.upper, dual.lower))
    h = np.where(zero, dual.epsilon * rng.uniform(-0.9, 0.9, len(dual)), rng.uniform(0.2, 1.0, len(dual)))
    h = np.where(zero, h, np.where(top, -dual.epsilon - h, dual.epsilon + h))
    g = h - programs.matrix(dual).T @ rng.normal(size=len(dual.totals))
    mu, up, down = best_multipliers(dual, beta, g), *programs.slopes(dual, beta, g)
    for r, a in enumerate(programs.matrix(dual)):
        least = np.where(a > 0, up, down)[a != 0].max(initial=-np.inf)
        most = -np.where(a > 0, down, up)[a != 0].max(initial=-np.inf)
        assert least < most
        if np.isfinite(least) and np.isfinite(most):
            assert mu[r] == pytest.approx(0.5 * (least + most), rel=1e-12, abs=1e-15)


def hard(seed, epsilon=None):
    """A program without upper bounds, a point on its equality, and kernel values."""
    K, y, w, t = data(seed)
    rng, infinite = np.random.default_rng(seed), np.full(len(y), np.inf)
    beta = y * rng.random(len(y)) * (rng.random(len(y)) < 0.7)
    beta[:2] += y[:2]
    beta[beta > 0] /= beta[beta > 0].sum()
    beta[beta < 0] /= -beta[beta < 0].sum()
    dual = with_targets(csvc(y, infinite), w) if epsilon is None else svr(t, infinite, epsilon)
    return K + 3.0 * np.outer(y, y), dual, beta


@drawn(size=(0.0, 1e-3, 0.1), doubt=(0.0, 0.01))
def test_the_gap_of_a_hard_margin_is_that_of_the_divided_point(seed, size, doubt):
    K, dual, beta = hard(seed)
    g, rng = programs.gradient(K, dual, beta), np.random.default_rng(seed)
    mu = best_multipliers(dual, beta, g)
    z = g + dual.t
    best = np.subtract.outer(z[dual.t > 0], z[dual.t < 0]) / np.subtract.outer(dual.t[dual.t > 0], dual.t[dual.t < 0])
    assert ((z + mu) / dual.t).min() == pytest.approx(best.min(), rel=1e-12)
    errors = size * rng.random(len(dual))
    margin = ((z + mu) / dual.t - errors / np.abs(dual.t)).min()
    unsure = doubt + np.abs(beta) @ errors
    value = 0.5 * beta @ (g - dual.t) + 0.5 * unsure
    true = np.inf if margin <= 0.0 else 0.5 * (beta @ z + unsure) / margin**2 + value
    assert duality_gap(dual, beta, g, mu, errors, doubt) == pytest.approx(true, rel=1e-12)
    if size == doubt == 0.0:
        assert duality_gap(dual, beta, g, mu) == pytest.approx(programs.gap(K, dual, beta), rel=1e-12)


def test_a_hard_margin_of_nothing_or_of_one_class_has_no_gap():
    dual = csvc(np.array([1.0, -1.0]), np.full(2, np.inf))
    assert duality_gap(dual, np.zeros(2), -dual.t, np.zeros(1)) == np.inf  # a margin of 0
    for label in (1.0, -1.0):  # any bias far enough is right
        one = csvc(np.full(2, label), np.full(2, np.inf))
        assert best_multipliers(one, np.zeros(2), -one.t)[0] == label * np.inf


@drawn(epsilon=(0.0, 0.1))
def test_a_regression_without_bounds_has_the_multiplier_in_the_middle(seed, epsilon):
    K, dual, beta = hard(seed, epsilon)
    g = programs.gradient(K, dual, beta)
    up, down = programs.slopes(dual, beta, g)
    assert best_multipliers(dual, beta, g)[0] == pytest.approx(0.5 * (up.max() - down.max()), rel=1e-12)


@drawn()
def test_signs_of_an_equality_without_bounds_are_those_of_the_variables(seed):
    K, y, w, _ = data(seed)
    dual = Dual(w * y, np.where(y > 0, 0.0, -np.inf), np.where(y > 0, np.inf, 0.0), totals=(1.0,), sign=y)
    g = programs.gradient(K, dual, y * w)
    plain = best_multipliers(dual.unsigned(), w, y * g)
    np.testing.assert_allclose(best_multipliers(dual, y * w, g), plain)
    two = replace(dual, sign=None, totals=(1.0, -1.0), row=(y < 0).astype(np.int64))
    for r, own in enumerate((y > 0, y < 0)):
        alone = replace(two.take(own), row=None, totals=(0.0,))
        assert best_multipliers(two, y * w, g)[r] == best_multipliers(alone, (y * w)[own], g[own])[0]


@pytest.mark.parametrize("beta", [[0.5, -0.5], [0.0, 0.0]])
@pytest.mark.parametrize("epsilon", [0.0, 0.1])
def test_no_number_stays_none(beta, epsilon):
    dual, g = svr(np.zeros(2), np.ones(2), epsilon), np.array([np.nan, 0.0])
    assert np.isnan(duality_gap(dual, np.array(beta), g, np.zeros(1)))
    assert np.isnan(duality_gap(dual, np.array(beta), g, np.zeros(1), np.full(2, 0.1)))


@pytest.mark.parametrize(("total", "kink"), [(0.0, 1.0), (0.5, 1.0), (1.0, 1.0), (1.5, 2.0), (2.0, 2.0), (3.0, 3.0)])
def test_a_total_of_steps_is_reached_at_the_first_kink(total, kink):
    for kinks in permutations([3.0, 1.0, 2.0, 4.0, 5.0]):
        assert crossing(np.array(kinks), np.ones(5), total) == kink


def test_a_total_of_steps_that_is_never_reached_has_the_last_kink():
    assert crossing(np.array([2.0, 1.0]), np.ones(2), 3.0) == 2.0


@drawn(epsilon=(0.0, 0.1))
def test_so_are_signs_of_a_regression(seed, epsilon):
    K, y, w, t = data(seed)
    dual = replace(svr(t, np.full(len(y), np.inf), epsilon), sign=y)
    beta = w * (np.arange(len(y)) % 3 - 1.0)
    g = programs.gradient(K, dual, beta)
    assert best_multipliers(dual, beta, g)[0] == best_multipliers(dual.unsigned(), y * beta, y * g)[0]


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_one_variable_and_none(sign):
    one = Dual(np.ones(1), np.zeros(1), np.ones(1), totals=(0.0,), sign=np.array([sign]))
    for beta in (0.0, 0.5, 1.0):  # any multiplier that keeps the variable where it is
        mu = best_multipliers(one, np.array([beta]), np.array([0.25]))
        assert duality_gap(one, np.array([beta]), np.array([0.25]), mu) == 0.0
    none = one.take([])
    assert best_multipliers(none, np.zeros(0), np.zeros(0)).tolist() == [0.0]
    assert duality_gap(none, np.zeros(0), np.zeros(0), np.zeros(1)) == 0.0


def test_a_hard_margin_that_is_the_largest_has_no_gap():
    y = np.array([1.0, -1.0])
    dual = csvc(y, np.full(2, np.inf))
    g = programs.gradient(np.outer(y, y), dual, 0.5 * y)
    assert duality_gap(dual, 0.5 * y, g, best_multipliers(dual, 0.5 * y, g)) == 0.0


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("end", ["lower", "upper"])
def test_a_point_where_all_are_at_one_end_has_finite_multipliers(name, end):
    for bias in BIASES:
        dual, _, g, _ = point(0, name, bias)
        beta = getattr(dual, end)
        mu = best_multipliers(dual, beta, g)
        assert np.isfinite(mu).all()
        zero = replace(dual, t=-g, lambda2=0.0)
        best = programs.gap(np.zeros((len(dual), len(dual))), zero, beta)
        assert duality_gap(dual, beta, g, mu) == pytest.approx(best, rel=1e-12)


def test_infinite_bounds_that_do_not_pay_add_nothing():
    dual, beta = svr(np.zeros(4), np.full(4, np.inf), 0.125), np.array([0.0, 0.0, 1.0, -1.0])
    g = np.array([-0.125, 0.125, -0.125, 0.125])  # the slopes of the kinks
    assert duality_gap(dual, beta, g, np.zeros(1)) == 0.0


def test_within_a_wide_tube_nothing_is_to_be_gained():
    dual = svr(np.zeros(2), np.ones(2), 1.0, "none")
    assert duality_gap(dual, np.zeros(2), np.array([0.5, -0.5]), np.zeros(0)) == 0.0


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_term_next_to_a_bound_keeps_its_digits(sign):
    dual, away = svr(np.zeros(1), np.ones(1), 0.1, "none"), 2.0**-50
    found = duality_gap(dual, np.array([sign * (1.0 - away)]), np.array([-0.3 * sign]), np.zeros(0))
    assert found == pytest.approx((0.3 - 0.1) * away, rel=1e-12, abs=0.0)


@pytest.mark.parametrize("slope", [0.0, 1.0, -1.0])
def test_terms_without_a_tube_are_slopes_times_ways(slope):
    dual = csvc(np.ones(1), np.full(1, 2.0), "none")
    beta = np.array([0.5])
    assert duality_gap(dual, beta, np.array([slope]), np.zeros(0)) == pytest.approx(max(0.5 * slope, -1.5 * slope))
    infinite = svr(np.zeros(1), np.full(1, np.inf), 0.0, "none")
    assert duality_gap(infinite, beta, np.array([slope]), np.zeros(0)) == (np.inf if slope else 0.0)
