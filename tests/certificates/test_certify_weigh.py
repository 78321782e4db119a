"""What a certificate says of a point and the errors of its gradient, against the sums that define it."""

from dataclasses import replace

import numpy as np
import pytest

from adatron.certificates import Certificate, best_multipliers, bounded, duality_gap
from adatron.certificates.certify import MEASURES, conclude_all, unproven, weigh
from adatron.compiled.precision import UNIT
from adatron.problems import Dual, csvc
from twins import programs
from twins.certified import CARE, by_definition, compare
from twins.points import PROGRAMS, point
from twins.primal import BIASES, data


def on_equalities(dual, beta):
    """The point, and the program whose equalities it keeps."""
    return replace(dual, totals=tuple(dual.sums(beta).tolist())) if dual.totals else dual


def weighed(dual, beta, g, errors):
    """The numbers of one program among many."""
    found, bounds = np.empty((1, MEASURES)), (dual.lower, dual.upper, dual.epsilon)
    mu, totals = best_multipliers(dual, beta, g), np.array(dual.totals)
    weigh(beta, g, errors, dual.t, *bounds, *dual.membership, totals, mu, found[0])
    return found


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("size", [0.0, 1e-3])
@pytest.mark.parametrize("miss", [0.0, 1e-10])
@pytest.mark.parametrize("further", [0.0, 0.1])
def test_certificates_are_the_sums_that_define_them(name, size, miss, further):
    for seed, bias in enumerate(BIASES):
        dual, beta, g, rng = point(seed, name, bias)
        dual = on_equalities(dual, beta)
        dual = replace(dual, totals=tuple(total + miss * (k + 1) for k, total in enumerate(dual.totals)))
        errors = size * rng.random(len(dual))
        before = errors.copy()
        found = bounded(dual, beta, g, errors, 3.0, further)
        np.testing.assert_array_equal(errors, before)
        compare(found, by_definition(dual, beta, g, errors, 3.0 + dual.lambda2, further))
        assert found.convex
        if not further and not dual.hard_margin:
            measures = weighed(dual, beta, g, errors)
            np.testing.assert_array_equal(
                conclude_all(measures, 3.0 + dual.lambda2)[:, 0], [float(one) for one in vars(found).values()]
            )
            most = beta @ (g + dual.t) + np.abs(beta) @ before  # of |w|^2
            assert measures[0, 2] == pytest.approx(most, rel=1e-10, abs=1e-12)


@pytest.mark.parametrize("name", PROGRAMS)
def test_an_equality_that_rounding_does_not_explain_proves_nothing(name):
    for seed, bias in enumerate(BIASES):
        dual, beta, g, _ = point(seed, name, bias)
        dual = on_equalities(dual, beta)
        own = np.abs(beta).sum()
        for k, total in enumerate(dual.totals):
            for part, proven in ((0.99e-9, True), (1.01e-9, False), (-1.01e-9, False)):
                away = part * (own + abs(total)) / (1.0 - abs(part))
                totals = (*dual.totals[:k], total + away, *dual.totals[k + 1 :])
                for magnitude in (0.0, 1.0):
                    found = bounded(replace(dual, totals=totals), beta, g, np.zeros(len(dual)), magnitude)
                    numbers = np.array([found.gap, found.kkt_violation, found.slip])
                    assert (np.isfinite(numbers) if proven else numbers == np.inf).all()


@pytest.mark.parametrize("name", ["csvc", "svr", "quantile"])
def test_the_gap_of_a_solution_is_rounding(name):
    dual, _, h, rng = point(0, name, "none")
    top = rng.random(len(dual)) < 0.5
    beta = np.where(top, dual.upper, dual.lower)
    g = np.where(top, -1.0, 1.0) * (abs(h) + 2.0 * dual.epsilon + 0.5)
    compare(bounded(dual, beta, g, np.zeros(len(dual)), 1.0), by_definition(dual, beta, g, np.zeros(len(dual)), 1.0))
    if name == "csvc":
        dual = csvc(dual.t, np.ones(len(dual)), "none")
        beta = np.where(top, dual.upper, dual.lower)
        found = bounded(dual, beta, g, np.zeros(len(dual)), 1.0)
        compare(found, by_definition(dual, beta, g, np.zeros(len(dual)), 1.0))


@pytest.mark.parametrize("miss", [0.0, 2.0**-30])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_gap_of_a_solution_with_equalities_is_what_they_miss(miss, sign):
    for name in ("csvc", "svr", "nusvc", "nusvr"):
        dual, _, h, rng = point(0, name, "explicit")
        top = rng.random(len(dual)) < 0.5
        beta = np.where(top, dual.upper, dual.lower)
        dual = on_equalities(dual, beta)
        mu = sign * 1e3 * (1.0 + np.arange(len(dual.totals)))
        g = np.where(top, -1.0, 1.0) * (abs(h) + 2.0 * dual.epsilon + 0.5) - programs.matrix(dual).T @ mu
        dual = replace(dual, totals=tuple(total + miss for total in dual.totals))
        found, none = bounded(dual, beta, g, np.zeros(len(dual)), 1.0), np.zeros(len(dual))
        assert duality_gap(dual, beta, g, best_multipliers(dual, beta, g)) == 0.0
        assert found.gap > 0.0
        compare(found, by_definition(dual, beta, g, none, 1.0))


def test_what_is_no_number_proves_nothing():
    dual, beta, g, _ = point(0, "csvc", "explicit")
    beta[0] = np.nan
    found = bounded(dual, beta, g, np.zeros(len(dual)), 1.0)
    assert found.gap == found.kkt_violation == np.inf


def test_the_level_of_many_rows_stays_in_doubt():
    rng = np.random.default_rng(0)
    for n, many in ((1000, False), (1001, True)):
        dual = csvc(np.where(np.arange(n) % 2, -1.0, 1.0), np.ones(n), "none")
        for slope in (0.0, 3.0):  # levels of both signs
            found = bounded(dual, 0.5 * dual.t, slope * dual.t + 0.1 * rng.normal(size=n), np.zeros(n), 1.0)
            assert (found.dual < 0.0) == (slope > 0.0)
            assert (found.doubt >= 0.125 * abs(found.dual)) == many
            assert found.slip < 1e-6 * abs(found.dual)


def test_what_equalities_of_many_rows_miss_is_in_doubt():
    dual = csvc(np.where(np.arange(1002) % 2, -1.0, 1.0), np.ones(1002))
    dual = replace(dual, totals=(2.0**-22,))
    found = bounded(dual, 0.5 * dual.t, dual.t, np.zeros(1002), 1.0)
    assert found.dual == 0.0
    compare(found, by_definition(dual, 0.5 * dual.t, dual.t, np.zeros(1002), 1.0))
    among = conclude_all(weighed(dual, 0.5 * dual.t, dual.t, np.zeros(1002)), 1.0)[:, 0]
    np.testing.assert_array_equal(among, [float(one) for one in vars(found).values()])


def test_a_substitute_of_the_gradient_proves_nothing_but_has_a_level():
    dual, beta, g, _ = point(0, "svr", "none")
    found = unproven(dual, beta, g)
    assert found.dual == pytest.approx(0.5 * beta @ (dual.t - g) - dual.epsilon * np.abs(beta).sum())
    assert found.gap == found.kkt_violation == found.slip == np.inf


@pytest.mark.parametrize("size", [0.0, 1e-3])
def test_the_gap_of_a_hard_margin_covers_the_rounding_of_its_norm(size):
    K, y, _, _ = data(1)
    rng, dual = np.random.default_rng(1), csvc(y, np.full(len(y), np.inf))
    beta = np.where(y > 0, 1.0 / (y > 0).sum(), -1.0 / (y < 0).sum())
    g = programs.gradient(K + 3.0 * np.outer(y, y), dual, beta)
    errors = size * rng.random(len(y))
    expected, mu = by_definition(dual, beta, g, errors, 1.0), best_multipliers(dual, beta, g)
    found = bounded(dual, beta, g, errors, 1.0)
    n, own, e = len(y), np.abs(beta).sum(), errors + 4 * UNIT * (np.abs(g) + 1.0 + np.abs(mu[0]))
    off = 0.5 * np.abs(beta) @ e + (n + 4) * UNIT * np.abs(beta) @ (np.abs(g) + 1.0)
    lack = abs(beta.sum()) + (n + 4) * UNIT * own
    gap = CARE * duality_gap(dual, beta, g, mu, e, 4.0 * off) + abs(mu[0]) * lack
    compare(found, {**expected, "gap": gap, "resolution": None})


def test_a_hard_margin_pays_for_what_its_equality_misses():
    K, y, _, _ = data(1)
    dual = csvc(y, np.full(len(y), np.inf))
    beta = np.where(y > 0, 1.0 / (y > 0).sum(), -1.0 / (y < 0).sum())
    g = programs.gradient(K + 3.0 * np.outer(y, y), dual, beta) + 1e6
    exact = bounded(dual, beta, g, np.zeros(len(y)), 1.0)
    missed = bounded(replace(dual, totals=(1e-9,)), beta, g, np.zeros(len(y)), 1.0)
    mu = best_multipliers(dual, beta, g)
    assert missed.gap - exact.gap == pytest.approx(abs(mu[0]) * 1e-9, rel=1e-3)
    assert bounded(replace(dual, totals=(1e-3,)), beta, g, np.zeros(len(y)), 1.0).gap == np.inf


@pytest.mark.parametrize("label", [1.0, -1.0])
def test_a_multiplier_beyond_all_numbers_leaves_the_level_known(label):
    t = np.full(2, label)
    dual = Dual(t, np.array([0.0, -np.inf]), np.array([np.inf, 0.0]), totals=(0.0,))
    beta, g = np.array([0.5, -0.5]), np.array([0.25, -0.125])
    assert best_multipliers(dual, beta, g)[0] == label * np.inf
    expected = by_definition(dual, beta, g, np.zeros(2), 1.0)
    found = bounded(dual, beta, g, np.zeros(2), 1.0)
    compare(found, {name: expected[name] for name in ("dual", "kkt_violation", "doubt", "slip")})
    assert found.gap == np.inf


def test_an_infinite_error_that_only_the_slip_covers_makes_it_infinite():
    dual, beta, g, _ = point(0, "csvc", "none")
    found = bounded(dual, beta, g, np.zeros(len(dual)), 1.0, np.inf)
    assert found.slip == np.inf
    assert np.isfinite([found.gap, found.doubt]).all()


def test_where_no_coefficient_can_move_nothing_is_violated():
    dual = csvc(np.ones(1), np.ones(1))
    found = bounded(dual, np.zeros(1), -dual.t, np.full(1, 0.1), 1.0)
    assert (found.kkt_violation, found.resolution) == (0.0, 0.0)


def test_no_coefficient_has_a_sum_to_lack():
    dual = csvc(np.array([1.0, -1.0]), np.ones(2))
    found = bounded(dual, np.zeros(2), -dual.t, np.zeros(2), np.inf)
    among = conclude_all(weighed(dual, np.zeros(2), -dual.t, np.zeros(2)), np.inf)[:, 0]
    assert found.slip == among[5] == 0.0


def test_ends_and_units_of_a_certificate():
    plain = Certificate(-1.0, 0.5, 0.25)
    assert (plain.resolution, plain.doubt, plain.slip, plain.convex) == (0.0, 0.0, 0.0, True)
    one = replace(plain, resolution=0.125, doubt=2.0**-5, slip=0.0625)
    assert (one.lower, one.primal) == (-1.0625, -0.4375)
    half = one.times(0.5)
    assert (half.dual, half.gap, half.doubt, half.slip) == (-0.25, 0.125, 2.0**-7, 0.015625)
    assert (half.kkt_violation, half.resolution) == (0.25, 0.125)  # what the tolerance was compared with
    assert one.times(1.0) is one
    assert replace(one, gap=0.0).times(0.5).gap == 0.0
    assert one.times(2.0**-540).gap > 0.0  # a gap that is not 0 stays so
    assert replace(one, gap=np.inf).primal == np.inf
    assert np.isnan(replace(one, convex=False).relative_gap)
    assert replace(one, gap=np.inf).relative_gap == np.inf
    assert replace(plain, gap=0.25, slip=0.25).relative_gap == replace(plain, gap=0.25, doubt=0.25).relative_gap == 0.5
