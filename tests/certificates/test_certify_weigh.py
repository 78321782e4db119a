"""What a certificate says of a point and the errors of its gradient, against the sums that define it."""

from dataclasses import replace

import numpy as np
import pytest

from adatron.certificates import Certificate, best_multipliers, bounded, duality_gap
from adatron.certificates.certify import MEASURES, conclude_all, weigh
from adatron.compiled.precision import UNIT
from adatron.problems import csvc
from twins import programs
from twins.certified import CARE, by_definition, compare
from twins.points import PROGRAMS, point
from twins.primal import BIASES, data


def on_equalities(dual, beta):
    """The point, and the program whose equalities it keeps."""
    return replace(dual, totals=tuple(dual.sums(beta).tolist())) if dual.totals else dual


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
            measures = np.empty((1, MEASURES))
            bounds = dual.lower, dual.upper, dual.epsilon
            mu, totals = best_multipliers(dual, beta, g), np.array(dual.totals)
            weigh(beta, g, errors, dual.t, *bounds, *dual.membership, totals, mu, measures[0])
            np.testing.assert_array_equal(
                conclude_all(measures, 3.0 + dual.lambda2)[:, 0], [float(one) for one in vars(found).values()]
            )


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
                found = bounded(replace(dual, totals=totals), beta, g, np.zeros(len(dual)), 1.0)
                assert np.isfinite([found.gap, found.kkt_violation, found.slip]).all() == proven
                assert np.isfinite(found.gap) == np.isfinite(found.kkt_violation) == np.isfinite(found.slip)


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


def test_what_is_no_number_proves_nothing():
    dual, beta, g, _ = point(0, "csvc", "explicit")
    beta[0] = np.nan
    found = bounded(dual, beta, g, np.zeros(len(dual)), 1.0)
    assert found.gap == found.kkt_violation == np.inf


def test_the_level_of_many_rows_stays_in_doubt():
    rng = np.random.default_rng(0)
    for n, many in ((1000, False), (1001, True)):
        dual = csvc(np.where(np.arange(n) % 2, -1.0, 1.0), np.ones(n), "none")
        found = bounded(dual, 0.5 * dual.t, rng.normal(size=n), np.zeros(n), 1.0)
        assert (found.doubt >= 0.125 * abs(found.dual)) == many
        assert found.slip < 1e-6 * abs(found.dual)


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


def test_no_coefficient_has_a_sum_to_lack():
    dual = csvc(np.array([1.0, -1.0]), np.ones(2))
    found = bounded(dual, np.zeros(2), -dual.t, np.zeros(2), np.inf)
    assert found.slip == 0.0


def test_ends_and_units_of_a_certificate():
    one = Certificate(-1.0, 0.5, 0.25, 0.125, 2.0**-5, slip=0.0625)
    assert one.convex
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
