"""Which rows a proof computes, and what it says of those that it does not, with a dense kernel matrix as the view."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from adatron.certificates import Exact, best_multipliers, certify, duality_gap, loosely, prove, semidefinite
from adatron.compiled.precision import UNIT
from adatron.kernels import Function, Precomputed
from adatron.problems import Dual, csvc, nusvc, svr, with_targets
from problems import view_of
from twins import programs
from twins.certified import CARE, by_definition, compare

TURNED = np.array([[1.0, 2.0, 0.0], [-2.0, 1.0, 0.0], [0.0, 0.0, 1.0]])  # its mean with the transposed one is 1


class Dense:
    """A view of a matrix that remembers which sums were asked for."""

    def __init__(self, K, convex=True, rounding=1e-12):
        self.K, self.magnitude, self.asked, self.rounding = K, float(np.abs(K).max()), [], rounding
        self.gram = SimpleNamespace(kernel=SimpleNamespace(convex=convex), rounding=1e-9)

    def exact(self, rows, ids, values):
        self.asked.append((rows.tolist(), ids.tolist()))
        K = self.K[np.ix_(rows, ids)]
        return K @ values, self.rounding * K @ np.abs(values)


def example(n, bias="explicit", seed=0):
    """A classifier of ``n`` samples, a point that keeps its equality, with most coefficients at bounds, and K."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2, -1.0, 1.0)
    A = rng.normal(size=(n, 4)) + 0.5 * y[:, None]
    C = 0.25 * (1.0 + (np.arange(n) // 2) % 3)
    part = rng.choice([0.0, 0.5, 1.0], p=[0.6, 0.05, 0.35], size=n // 2).repeat(2)
    return csvc(y, C, bias, 0.5), part * y * C, A @ A.T / n


@pytest.mark.parametrize("bias", ["explicit", "augmented", "none"])
def test_few_rows_are_all_computed_anew(bias):
    dual, beta, K = example(60, bias)
    view, exact, tracked = Dense(K), Exact(dual), np.zeros(60)
    found = certify(view, exact, beta, tracked, np.zeros(60))
    g = programs.gradient(K, dual, beta)
    assert exact.known.all()
    np.testing.assert_allclose(tracked, g, rtol=0.0, atol=1e-13)
    errors = exact.errors.copy()
    parts = errors - CARE * 1e-12 * K @ np.abs(beta) - UNIT * np.abs(tracked)  # what lambda^2 sum(beta) adds
    added = np.abs(K @ beta) + dual.lambda2 * abs(beta.sum())
    assert (parts <= bool(dual.lambda2) * 5.0 * UNIT * added + 1e-25).all()
    assert (parts >= bool(dual.lambda2) * 4.0 * UNIT * added - 1e-25).all()
    compare(found, by_definition(dual, beta, tracked, errors, view.magnitude + dual.lambda2))
    # A second proof computes what has changed.
    near, view.asked = beta.copy(), []
    near[:2] = 0.1, -0.1
    found = certify(view, exact, near, tracked, np.zeros(60))
    assert [ids for rows, ids in view.asked if rows] == [[0, 1]]
    np.testing.assert_allclose(tracked, programs.gradient(K, dual, near), rtol=0.0, atol=1e-13)
    change = near - beta
    added = np.abs(K @ change) + dual.lambda2 * abs(change.sum())
    expected = errors + CARE * 1e-12 * K @ np.abs(change) + UNIT * np.abs(tracked)
    lambdas = bool(dual.lambda2) * UNIT * added
    assert (np.abs(exact.errors - expected - 4.5 * lambdas) <= 0.5 * lambdas + 1e-9 * np.abs(expected)).all()
    compare(found, by_definition(dual, near, tracked, exact.errors, view.magnitude + dual.lambda2))
    # If more than that has changed, a proof begins at 0.
    view.asked, few = [], np.where(np.arange(60) < 2, near, 0.0)
    certify(view, exact, few, tracked, np.zeros(60))
    assert [ids for rows, ids in view.asked if rows] == [[0, 1]]
    np.testing.assert_allclose(tracked, programs.gradient(K, dual, few), rtol=0.0, atol=1e-13)


@pytest.mark.parametrize("bias", ["explicit", "none"])
@pytest.mark.parametrize("g_error", [1e-3, 0.02])
def test_of_many_rows_only_those_that_may_matter_are(bias, g_error):
    dual, beta, K = example(1002, bias)
    g, rng = programs.gradient(K, dual, beta), np.random.default_rng(1)
    g_errors, view, exact = g_error * rng.random(1002), Dense(K), Exact(dual)
    tracked = g + g_errors * rng.uniform(-1.0, 1.0, 1002)
    corrected = tracked.copy()
    found = certify(view, exact, beta, corrected, g_errors)
    known = exact.known
    assert known[dual.free(beta)].all()
    assert (~known & (beta != 0.0)).sum() > 0
    np.testing.assert_allclose(corrected[known], g[known], rtol=0.0, atol=1e-12)
    np.testing.assert_array_equal(corrected[~known], tracked[~known])
    h = corrected + dual.push(best_multipliers(dual, beta, corrected))
    assert (dual.inward(beta, h) + g_errors <= 0.0)[~known].all()
    # Nothing is asked for that was sure already.
    first = tracked + dual.push(best_multipliers(dual, beta, tracked))
    sure = (dual.inward(beta, first) + 2.5 * g_error < 0.0) & ~dual.free(beta)
    assert sure.any()
    assert not known[sure].any()
    sizes = np.abs(beta[~known])
    doubt, judged = sizes @ g_errors[~known], exact.missed(np.flatnonzero(~known & (beta != 0.0)))
    errors = np.where(known, exact.errors, 0.0)
    further = {"unknown": doubt, "judged": min(judged, 0.5 * doubt)}
    compare(found, by_definition(dual, beta, corrected, errors, view.magnitude, **further))


@pytest.mark.parametrize("bias", ["explicit", "augmented"])
def test_a_later_proof_computes_the_whole_sums_of_new_rows_alone(bias):
    dual, beta, K = example(1002, bias)
    view, exact, g = Dense(K), Exact(dual), programs.gradient(K, dual, beta)
    certify(view, exact, beta, g.copy(), np.full(1002, 1e-3))
    old, before = exact.known, exact.errors
    near = beta.copy()
    near[:2] = (0.1, -0.1) if bias == "explicit" else (0.1, -0.2)
    tracked = programs.gradient(K, dual, near)
    certify(view, exact, near, tracked.copy(), np.full(1002, 0.3))
    new = exact.known & ~old
    assert new.any()
    assert (exact.known & old).any()
    np.testing.assert_allclose(exact.g[exact.known], tracked[exact.known], rtol=0.0, atol=1e-12)
    for rows, point, given in ((new, near, np.zeros(1002)), (exact.known & old, near - beta, before)):
        rest = exact.errors - given - CARE * 1e-12 * K @ np.abs(point) - UNIT * np.abs(exact.g)
        added = bool(dual.lambda2) * UNIT * (np.abs(K @ point) + dual.lambda2 * abs(point.sum()))
        assert (4.0 * added - 1e-20 <= rest)[rows].all()
        assert (rest <= 5.0 * added + 1e-20)[rows].all()


def test_a_gradient_without_errors_is_not_computed_anew():
    t = np.where(np.arange(1002) % 2, -1.0, 1.0)
    dual = Dual(t, np.where(t > 0.0, 0.0, 1.0), np.where(t > 0.0, 1.0, 2.0))
    exact, view = Exact(dual), Dense(np.zeros((1002, 1002)))
    found = certify(view, exact, np.ones(1002), -t, np.zeros(1002))
    assert found.dual == 0.0
    assert found.gap < 1e-9
    assert not exact.known.any()


def solved(violation, scale=1.0):
    """A program that ``example``'s point solves, but for the slope of one free variable; far from it slopes are 1."""
    dual, beta, K = example(1002)
    K *= scale
    h = np.where(beta == dual.lower, 1.0, np.where(beta == dual.upper, -1.0, 0.0))
    h[np.flatnonzero(dual.free(beta))[0]] = violation
    dual = replace(dual, t=K @ beta - h)
    g = programs.gradient(K, dual, beta)
    unknown = ~dual.free(beta) & (beta != 0.0)
    return dual, beta, K, g, unknown


@pytest.mark.parametrize(("part", "computed"), [(0.9, False), (1.1, True)])
@pytest.mark.parametrize("violation", [0.0, 0.1])
def test_rows_are_computed_if_the_level_is_too_much_in_doubt(part, computed, violation):
    dual, beta, K, g, unknown = solved(violation)
    level, mass = abs(dual.objective(beta, g)), np.abs(beta[unknown]).sum()
    # By what is proven.
    exact = Exact(dual)
    certify(Dense(K), exact, beta, g.copy(), np.where(unknown, part * 2.0**-2 * level / mass, 0.0))
    assert exact.known[unknown].all() == computed
    # By what known rows let expect, as a fraction of the gap or of the level.
    gap = duality_gap(dual, beta, g, best_multipliers(dual, beta, g))
    assert (0.1 * gap > 1e-6 * level) == (violation > 0.0)
    size = part * max(0.1 * gap, 1e-6 * level) / (0.5 * mass)
    exact = Exact(dual)
    certify(Dense(K), exact, beta, g + np.where(unknown, 0.0, size * np.sign(beta)), np.full(1002, 0.01))
    assert exact.known[unknown].all() == computed
    # The smaller one of both numbers counts.
    for g_error in (1e-9 * size, 0.5 * size):
        exact, tracked = Exact(dual), g + np.where(unknown, 0.0, size * np.sign(beta))
        found = certify(Dense(K), exact, beta, tracked, np.full(1002, g_error))
        assert not exact.known[unknown].any()
        errors, doubt = np.where(exact.known, exact.errors, 0.0), g_error * mass
        known = by_definition(dual, beta, tracked, errors, np.abs(K).max(), unknown=doubt, judged=0.5 * doubt)
        compare(found, {"slip": known["slip"]})


def test_the_level_is_in_doubt_by_known_and_by_unknown_rows():
    dual, beta, K, g, unknown = solved(0.0)
    level, free, size = abs(dual.objective(beta, g)), dual.free(beta), np.abs(beta)
    rounding = 0.06 * level / (size[free] @ (K @ size)[free])
    g_error = np.where(unknown, 0.9 * 2.0**-2 * level / size[unknown].sum(), 0.0)
    view, exact = Dense(K, rounding=rounding), Exact(dual)
    found = certify(view, exact, beta, g.copy(), g_error)
    np.testing.assert_array_equal(exact.known, free)
    errors = np.where(free, exact.errors, 0.0)
    expected = by_definition(dual, beta, g, errors, view.magnitude, unknown=size[unknown] @ g_error[unknown])
    assert expected["doubt"] > 2.0**-3 * level
    compare(found, {"doubt": expected["doubt"], "slip": expected["slip"]})


@pytest.mark.parametrize(("n", "all_known"), [(1000, True), (1002, False)])
def test_a_thousand_rows_are_few(n, all_known):
    dual, beta, K = example(n)
    exact = Exact(dual)
    certify(Dense(K), exact, beta, programs.gradient(K, dual, beta), np.full(n, 1e-9))
    assert exact.known.all() == all_known


def test_errors_of_unknown_rows_are_judged_by_known_ones():
    dual, beta, _ = example(60)
    beta, rng = np.where(beta == 0.0, 0.01 * dual.t, beta), np.random.default_rng(0)
    beta[59] = 0.0  # without an effect on the level
    exact, off = Exact(dual), 0.1 * rng.normal(size=60) + 0.05
    exact.at(beta)
    exact.known[:29] = True
    exact.compare(off)  # too few
    assert exact.missed(np.arange(30, 60)) == np.inf
    exact.known[:] = False
    exact.known[20:60] = True  # 30 new ones, and the last one
    exact.compare(off)
    along = (np.sign(beta) * off)[29:59]
    drift, spread = abs(along.mean()) + 4.0 * along.std() / np.sqrt(30), along.std()

    def missed(rows):
        sizes = np.abs(beta[rows])
        return 0.5 * (drift * sizes.sum() + 4.0 * spread * np.sqrt(sizes @ sizes))

    for rows in (np.arange(30), np.arange(5, 60)):
        assert exact.missed(rows) == pytest.approx(missed(rows), rel=1e-12)
    exact.seen[:] = False
    exact.known[:] = True
    exact.compare(3.0 * off)  # larger errors count, smaller ones later do not lessen them
    along = (np.sign(beta) * 3.0 * off)[:59]
    drift, spread = max(drift, abs(along.mean()) + 4.0 * along.std() / np.sqrt(59)), max(spread, along.std())
    assert exact.missed(np.arange(60)) == pytest.approx(missed(np.arange(60)), rel=1e-12)
    exact.seen[:] = False
    exact.compare(0.01 * off)
    assert exact.missed(np.arange(60)) == pytest.approx(missed(np.arange(60)), rel=1e-12)


def test_a_hard_margin_asks_for_the_rows_that_may_be_nearest():
    n = 1002
    y, rng = np.where(np.arange(n) % 2, -1.0, 1.0), np.random.default_rng(0)
    x = y * (1.0 + np.floor(np.arange(n) / 2) / 100.0) * rng.choice([1.0, 2.0], n)
    x[:2] = 1.0, -1.0
    margins, size = y * x, rng.choice([0.5, 1.0, 2.0], n)  # of the margin that a row asks for
    size[:2] = 1.0
    x *= size
    dual, K, beta = with_targets(csvc(y, np.full(n, np.inf)), size), np.outer(x, x), np.zeros(n)
    beta[:2] = 0.5, -0.5
    exact, g, view = Exact(dual), programs.gradient(K, dual, beta), Dense(K)
    found = certify(view, exact, beta, g.copy(), 0.5 * size)
    assert exact.known[margins < 1.49].all()
    assert not exact.known[margins > 1.51].any()
    assert found.gap == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("lambda2", [0.0, 0.25])
def test_sums_in_float64_have_errors_of_their_length(lambda2):
    dual, beta, K = example(60, "augmented" if lambda2 else "explicit")
    g, view = programs.gradient(K, dual, beta), Dense(K)
    rate = 1e-9 + UNIT * (np.count_nonzero(beta) + 8.0) * (view.magnitude + lambda2)
    errors = np.full(60, CARE * rate * np.abs(beta).sum())
    compare(prove(view, dual, beta, g), by_definition(dual, beta, g, errors, view.magnitude + lambda2))
    none = np.zeros(60)  # has a gradient without errors
    compare(prove(view, dual, none, -dual.t), by_definition(dual, none, -dual.t, none, view.magnitude + lambda2))


def test_a_tracked_gradient_proves_nothing_if_the_kernel_may_not_be_convex():
    dual, beta, K = example(60)
    g, g_error = programs.gradient(K, dual, beta), np.full(60, 1e-3)
    compare(loosely(Dense(K), dual, beta, g, g_error), by_definition(dual, beta, g, g_error, np.abs(K).max()))
    assert loosely(Dense(K, convex=False), dual, beta, g, g_error).gap == np.inf


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("claimed", [True, False])
def test_a_kernel_without_a_guarantee_is_looked_at(sign, claimed):
    dual, beta, K = example(20)
    K = sign * (K + 0.1 * np.eye(20))
    view, g = view_of(K, Precomputed()), programs.gradient(K, dual, beta)
    assert semidefinite(view, np.flatnonzero(beta)) == (sign > 0.0)
    found = prove(view, dual, beta, g, claimed)
    assert found.convex == (claimed and sign > 0.0)
    assert np.isnan(found.relative_gap) == (not found.convex)
    assert prove(Dense(K), dual, beta, g, claimed).convex  # a guarantee


def test_a_regression_has_two_variables_of_a_sample():
    K = np.eye(12)
    K[0, 1] = K[1, 0] = 2.0
    dual, view = svr(np.arange(12.0), np.ones(12), 0.0), view_of(K, Precomputed(), copies=1)
    assert len(dual) == 12
    assert not semidefinite(view, np.arange(3, 12))


def test_no_more_than_512_rows_are_looked_at_the_support_vectors_first():
    n = 700
    for pair, support, seen in (((600, 601), np.arange(590, 610), True), ((0, 1), np.arange(600), True),
                                ((600, 601), np.arange(512), False), ((0, 511), np.arange(600), True),
                                ((0, 512), np.arange(600), False)):  # fmt: skip
        K = np.eye(n)
        K[pair] = K[pair[::-1]] = 2.0
        assert semidefinite(view_of(K, Precomputed()), support) == (not seen)


@pytest.mark.parametrize("seed", range(5))
def test_rounding_of_eigenvalues_that_are_zero_is_no_sign_of_negative_ones(seed):
    _, beta, K = example(60, seed=seed)
    assert semidefinite(view_of(K, Precomputed()), np.flatnonzero(beta))


@pytest.mark.parametrize("scale", [2.0**-40, 1.0, 2.0**40])
@pytest.mark.parametrize("given", [np.float64, np.float32])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_an_eigenvalue_is_negative_beyond_the_rounding_of_the_values(scale, given, dtype):
    eps = max(np.finfo(given).eps, np.finfo(dtype).eps)
    for below, hidden in ((12.0, True), (20.0, False)):  # less than 8 roundings of each of two values, and more
        for sign in (1.0, -1.0):
            away = sign * (1.0 + below * eps)
            K = (scale * np.array([[1.0, away], [away, 1.0]])).astype(given)
            assert semidefinite(view_of(K, Precomputed(), dtype), np.arange(2)) == hidden


@pytest.mark.parametrize(("K", "fine"), [(0 * np.eye(3), True), (-np.eye(3), False), (TURNED, True)])
def test_zeros_and_means_of_the_two_values_of_a_pair_have_no_negative_eigenvalues(K, fine):
    assert semidefinite(view_of(K, Precomputed()), np.arange(3)) == fine


def test_a_negative_norm_is_a_sign_of_negative_eigenvalues():
    dual, beta, K = example(20)
    view, g = view_of(K + 0.1 * np.eye(20), Precomputed()), programs.gradient(K, dual, beta)
    assert prove(view, dual, beta, g).convex
    assert not prove(view, dual, beta, -g - 2.0 * dual.t).convex
    assert prove(view, dual, np.zeros(20), -dual.t).convex  # a norm of 0 is none


def test_a_norm_in_doubt_is_no_sign_of_negative_eigenvalues():
    dual, beta, K, g, unknown = solved(0.0, 1e-6)
    g_error = np.where(unknown, 2.0**-3 * abs(dual.objective(beta, g)) / np.abs(beta[unknown]).sum(), 0.0)
    exact = Exact(dual)
    assert certify(view_of(K, Precomputed()), exact, beta, g.copy(), g_error).convex
    assert not exact.known[unknown].any()
    assert 0.0 < dual.squared_norm(beta, g) < np.abs(beta) @ g_error


def test_a_function_of_the_user_has_one_value_for_a_pair():
    X = np.random.default_rng(0).normal(size=(6, 2))
    with pytest.raises(ValueError, match="is not symmetric"):
        semidefinite(view_of(X, Function(lambda A, B: A @ B.T + A[:, :1])), np.arange(6))


def test_the_largest_value_of_a_proof_has_the_square_of_the_augmenting_factor():
    y = np.where(np.arange(60) % 2, -1.0, 1.0)
    _, beta, K = example(60)
    dual = nusvc(y, np.ones(60), 0.5, "augmented", 100.0)
    sums = dual.sums(beta)
    dual = replace(dual, totals=tuple((sums + 0.5e-9 * np.abs(sums)).tolist()))
    view, g = Dense(1e4 * K), np.random.default_rng(0).normal(size=60)
    rate = 1e-9 + UNIT * (np.count_nonzero(beta) + 8.0) * (view.magnitude + dual.lambda2)
    errors = np.full(60, CARE * rate * np.abs(beta).sum())
    compare(prove(view, dual, beta, g), by_definition(dual, beta, g, errors, view.magnitude + dual.lambda2))
