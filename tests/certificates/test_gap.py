"""The gap at given multipliers and errors against its definition; a relative gap is one of the objective."""

import warnings
from dataclasses import replace
from itertools import permutations
from math import inf, nan

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from adatron import SVC, SVDD, SVR, NuSVC, NuSVR, OneClassSVM, QuantileSVR
from adatron.certificates import best_multipliers, duality_gap, relative
from adatron.certificates.certify import Certificate
from adatron.certificates.gap import crossing
from adatron.compiled.precision import UNIT
from adatron.problems import Dual, csvc, svr, with_targets
from twins import programs
from twins.fitted import truths
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


EXACT = 1 - 1e-9
SCALES = tuple(2.0**k for k in (-30, -20, -10, 0, 10, 20, 40))  # 1e-9 ... 1e12, and no number is rounded by them
KINDS = (SVC, NuSVC, SVR, NuSVR, QuantileSVR, OneClassSVM, SVDD)
SMALLEST = float(np.finfo(float).tiny)
NUMBERS = st.floats(-1e300, 1e300)


@given(gap=st.floats(0.0, 1e300), dual=NUMBERS, doubt=st.floats(0.0, 1e300), place=st.floats(0.0, 1.0))
@example(gap=1.0, dual=-0.5, doubt=0.0, place=0.5)
def test_no_optimum_within_the_bounds_makes_the_part_larger(gap, dual, doubt, place):
    found, low, high = relative(gap, dual, doubt), dual - doubt, dual + gap + doubt
    optimum = low + place * (high - low)
    if gap == 0.0:
        assert found == 0.0
    elif low <= 0.0 <= high:
        assert found == inf
    else:
        assert abs(optimum) * found >= EXACT * gap or not abs(optimum) > 1e-300


def test_nothing_known_is_an_infinite_part():
    for gap, dual in ((nan, 1.0), (1.0, nan), (1.0, 0.0), (1e-320, 1e-320), (inf, -inf), (inf, inf)):
        assert relative(gap, dual) == inf
    assert relative(0.0, 0.0) == 0.0
    assert relative(0.5, 1.0) == 0.5
    assert relative(0.5 * SMALLEST, SMALLEST) == 0.5  # no digits are lost yet
    assert Certificate(1.0, 0.5, 0.0).relative_gap == 0.5
    assert Certificate(1.0, 0.5, 0.0, slip=0.5).relative_gap == 1.0
    assert Certificate(-1.0, 0.5, 0.0, doubt=0.25).relative_gap == 2.0


def made(kind, rng, C, unit):
    """A machine with its parameters."""
    own = {
        SVC: {"C": rng.choice([C, np.inf])},
        SVR: {"C": C, "epsilon": 0.125 * unit},
        NuSVR: {"C": C},
        QuantileSVR: {"C": C, "quantile": float(rng.choice([0.125, 0.5, 0.875]))},
    }
    bias = (
        {} if kind in (OneClassSVM, SVDD, QuantileSVR) else {"bias": str(rng.choice(["explicit", "augmented", "none"]))}
    )
    share = {"nu": 0.25} if kind in (NuSVC, NuSVR, OneClassSVM, SVDD) else {}
    return kind(max_iter=20_000, **own.get(kind, {}), **bias, **share)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1), kind=st.sampled_from(KINDS), spread=st.sampled_from(SCALES),
    unit=st.sampled_from(SCALES), C=st.sampled_from([1e-12, 1e-6, 1.0, 50.0, 1e6, 1e12]), linear=st.booleans(),
)  # fmt: skip
@example(seed=0, kind=SVC, spread=2.0**20, unit=1.0, C=1.0, linear=True)
@example(seed=5, kind=QuantileSVR, spread=1.0, unit=2.0**-30, C=50.0, linear=True)
def test_claims_are_parts_of_the_objective(seed, kind, spread, unit, C, linear):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(8, 40))
    X = spread * np.round(16.0 * rng.normal(size=(n, 3))) / 16.0
    side = np.where(X[:, 0] + 0.5 * X[:, 1] * (rng.random(n) < 0.8) > 0, 1.0, -1.0)
    side[:2] = 1.0, -1.0
    y = side if kind in (SVC, NuSVC) else unit * rng.normal(size=n)
    spec = ("linear",) if linear else ("poly", 1.0, 3, 1.0)
    machine = made(kind, rng, C, unit).set_params(kernel="linear" if linear else "poly", gamma=1.0, coef0=1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model = machine.fit(X) if kind in (OneClassSVM, SVDD) else machine.fit(X, y)
        except ValueError as error:  # nu, or a kernel value beyond the range of floats
            if not any(word in str(error) for word in ("nu", "finite", "large")):
                raise
            return
    for true in truths(model, spec, X, y):
        if np.isfinite(model.duality_gap_):
            assert model.duality_gap_ >= EXACT * true.gap.least


def circle(n=40):
    """Points whose sum is 0, by exact opposites."""
    X = np.random.default_rng(3).normal(size=(n, 2))
    return np.concatenate([X, -X])


AT_ZERO = {
    "around the origin": (OneClassSVM(kernel="linear", nu=0.5), circle(), None),
    "without a margin": (NuSVC(kernel="linear", nu=0.5), circle(), np.tile([1, -1], 40)),
    "many rows": (NuSVC(kernel="linear", nu=0.5), circle(600), np.tile([1, -1], 600)),
    "equal samples": (SVDD(nu=0.5), np.full((5, 2), 0.3), None),
    "one target": (NuSVR(nu=0.5), circle(), np.full(80, 0.1)),
}


@pytest.mark.filterwarnings("ignore:Two classes have no margin")
@pytest.mark.parametrize("name", AT_ZERO)
def test_a_fit_whose_optimum_is_0_ends_and_claims_no_part_of_it(name):
    machine, X, y = AT_ZERO[name]
    model = clone(machine).set_params(max_iter=100_000).fit(X, y)
    assert model.fit_status_ == 0
    assert model.kkt_violation_ <= model.tol
    assert model.dual_objective_ <= 0.0 <= model.primal_objective_ <= 1e-6
    assert model.duality_gap_ == inf or model.dual_objective_ == model.primal_objective_
    if model.duality_gap_ == inf:
        assert "no gap below 1e-03 is proven" in str(model.certificate_)
        with pytest.warns(ConvergenceWarning, match="optimum may be 0"):
            model.set_params(gap_tol=1e-6).fit(X, y)
        assert model.fit_status_ == 1


@pytest.mark.parametrize("C", [1e-300, 1e-12, 1e-6])
@pytest.mark.parametrize("kind", [SVC, SVR, NuSVR, QuantileSVR])
def test_a_tiny_C_needs_its_steps_and_no_more(kind, C):
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = X[:, 0] + 0.5 * X[:, 1] ** 2
    model = kind(C=C, max_iter=10_000).fit(X, y > 0.3 if kind is SVC else y)
    assert model.fit_status_ == 0
    assert 0 < np.max(model.n_iter_) <= 10 * len(X)
    assert model.duality_gap_ <= 1e-3
    assert 0.0 < model.dual_objective_ <= model.primal_objective_ <= (1.0 + 1e-3) * model.dual_objective_
