"""Surveys of a problem against NumPy: who violates most, which variables are free, and the objective."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adatron.kernels import Linear
from adatron.problems import Dual
from adatron.solvers.blocks import shard
from adatron.solvers.blocks.shard import Shard, Violators, worst
from adatron.threads import Pool
from problems import view_of

FORMS = ["none", "one", "signs", "two"]


def problem(rng, n, form, epsilon):
    """A program, and a point of it with many equal gradients, some of them not finite."""
    lower, upper = -rng.integers(0, 3, n) / 2.0, rng.integers(0, 3, n) / 2.0
    side = rng.integers(0, 2, n)
    more = {"none": {}, "one": {"totals": (0.0,)}, "signs": {"totals": (0.0,), "sign": 1.0 - 2.0 * side},
            "two": {"totals": (0.0, 0.0), "row": side}}[form]  # fmt: skip
    dual = Dual(rng.normal(size=n), lower, upper, epsilon=epsilon, **more)
    beta = np.where(rng.random(n) < 0.5, rng.choice([0.0, 1.0], n), rng.random(n)) * np.where(side, lower, upper)
    g = np.where(rng.random(n) < 0.5, rng.integers(-2, 3, n), rng.normal(size=n))
    g[rng.random(n) < 0.01] = rng.choice([np.inf, -np.inf])
    return dual, beta, g


def violators(dual, beta, g):
    """For every equality, or for all: what each variable gains by growing, and by shrinking."""
    ties = [np.arange(len(dual)) if len(dual.totals) < 2 else tie for tie in dual.ties()]
    return [[(tie, values[tie]) for values in (dual.growth(beta, g), dual.shrinkage(beta, g))] for tie in ties]


def survey(dual, beta, g, most, pool=None):
    return Shard(view_of(np.zeros((len(dual), 1)), Linear(), pool=pool), dual, beta, g).survey(most)


@given(st.sampled_from(FORMS), st.sampled_from([0.0, 0.5]), st.integers(0, 2**31), st.integers(0, 9000))
@settings(max_examples=60, deadline=None)
def test_a_survey_misses_no_violator(form, epsilon, seed, n):
    rng = np.random.default_rng(seed)
    dual, beta, g = problem(rng, n, form, epsilon)
    most = int(rng.integers(1, max(2, n // 3)))
    assert_right(survey(dual, beta, g, most), dual, beta, g, most)
    finite = np.where(np.isinf(g), 1.0, g)
    assert survey(dual, beta, finite, most).objective == pytest.approx(dual.objective(beta, finite), rel=1e-9, abs=1e-9)


def assert_right(found, dual, beta, g, most):
    """The violators and the free variables are those that NumPy finds."""
    for ends, wanted in zip(found.ends, violators(dual, beta, g), strict=True):
        for listed, (tie, gains) in zip(ends, wanted, strict=True):
            ids, values = tie[gains > -np.inf], gains[gains > -np.inf]
            order = np.lexsort((ids, -values))[:most]
            assert listed.largest == (values[order[0]] if len(order) else -np.inf)
            assert np.array_equal(worst(listed, most).ids, np.sort(ids[order]))
            assert np.array_equal(listed.values, values[np.searchsorted(ids, listed.ids)])
    assert np.array_equal(found.free, np.flatnonzero(dual.free(beta)))


def test_a_sample_that_misleads_costs_no_violator():
    """Half of what is wanted gains much, and all of these are in the sample: the guess is too high."""
    n, most = 20 * shard.SAMPLE, 1000
    dual, g = Dual(np.zeros(n), np.zeros(n), np.ones(n)), np.full(n, 9.0)
    g[: 10 * most : 20] = -5.0
    listed = survey(dual, np.zeros(n), g, most).ends[0].grow
    assert len(listed.ids) == n
    assert np.array_equal(worst(listed, most // 2).ids, np.arange(0, 10 * most, 20))


@pytest.mark.parametrize("form", FORMS)
def test_tasks_make_no_difference(form):
    dual, beta, g = problem(np.random.default_rng(3), 2 * shard.STRIPE + 5000, form, 0.0)
    one = survey(dual, beta, g, 300)
    assert_right(one, dual, beta, g, 300)
    with Pool(3) as pool:
        many = survey(dual, beta, g, 300, pool)
    for a, b in zip(one.ends, many.ends, strict=True):
        for x, y in zip(a, b, strict=True):
            assert np.array_equal(x.ids, y.ids)
            assert np.array_equal(x.values, y.values)
    assert np.array_equal(one.free, many.free)


def test_of_equal_violators_the_first_are_taken():
    found = worst(Violators(np.arange(6), np.array([1.0, 2.0, 1.0, 3.0, 1.0, 2.0])), 4)
    assert found.ids.tolist() == [0, 1, 3, 5]
    assert len(worst(found, 0).ids) == 0
