"""What a program says of a point against its definition, written out with dense matrices."""

from dataclasses import replace

import numpy as np
import pytest

from adatron.problems import Dual, ball, csvc, nusvc, nusvr, oneclass, quantile, svr
from adatron.problems.problem import penalty
from twins import programs
from twins.primal import AUGMENT, BIASES, data, drawn

PROGRAMS = {
    "csvc": lambda y, w, t, bias: csvc(y, w, bias, 0.7),
    "svr": lambda y, w, t, bias: svr(t, w, 0.1, bias, 0.7),
    "nusvc": lambda y, w, t, bias: nusvc(y, w, 0.3, bias, 0.7),
    "nusvr": lambda y, w, t, bias: nusvr(t, w, 0.3, bias, 0.7),
    "oneclass": lambda y, w, t, bias: oneclass(w, 0.3),
    "ball": lambda y, w, t, bias: ball(w, 0.3),
}


def point(seed, name, bias):
    """A kernel matrix over the variables, a program, and a point in its box with some variables at bounds and at 0."""
    K, y, w, t = data(seed)
    dual = PROGRAMS[name](y, w, t, bias)
    copies = len(dual) // len(y)
    rng = np.random.default_rng(seed)
    part = np.clip(rng.uniform(-0.3, 1.3, len(dual)), 0.0, 1.0)
    beta = dual.lower + part * (dual.upper - dual.lower)
    beta[(rng.random(len(dual)) < 0.2) & (dual.lower <= 0) & (dual.upper >= 0)] = 0.0
    return np.tile(K, (copies, copies)), dual, beta


@drawn(name=tuple(PROGRAMS), bias=BIASES)
def test_objective_slopes_and_equalities(seed, name, bias):
    K, dual, beta = point(seed, name, bias)
    g, A = programs.gradient(K, dual, beta), programs.matrix(dual)
    assert dual.objective(beta, g) == pytest.approx(programs.objective(K, dual, beta), rel=1e-9, abs=1e-9)
    assert dual.squared_norm(beta, g) == pytest.approx(beta @ (K + dual.lambda2) @ beta, rel=1e-9, abs=1e-9)
    np.testing.assert_allclose(dual.sums(beta), A @ beta, atol=1e-12)
    mu = np.random.default_rng(seed).normal(size=len(dual.totals))
    np.testing.assert_allclose(np.broadcast_to(dual.push(mu), len(dual)), A.T @ mu, atol=1e-12)
    up, down = programs.slopes(dual, beta, g)
    plus = A.sum(axis=0) > 0 if dual.totals else np.ones(len(dual), bool)
    np.testing.assert_array_equal(dual.growth(beta, g), np.where(plus, up, down))
    np.testing.assert_array_equal(dual.shrinkage(beta, g), np.where(plus, down, up))
    np.testing.assert_array_equal(dual.inward(beta, g), np.maximum(up, down))
    at_kink = (beta == 0) & (dual.epsilon > 0)
    np.testing.assert_array_equal(dual.free(beta), (beta > dual.lower) & (beta < dual.upper) & ~at_kink)


@drawn(name=tuple(PROGRAMS), bias=BIASES)
def test_what_a_translation_and_the_multipliers_change(seed, name, bias):
    """Equalities that make the sum 0 say so; multipliers move gradients, but not their variation."""
    K, dual, beta = point(seed, name, bias)
    A, g = programs.matrix(dual), programs.gradient(K, dual, beta)
    ones = np.ones(len(dual))
    sums = bool(len(A)) and np.linalg.matrix_rank(np.vstack([A, ones])) == np.linalg.matrix_rank(A)
    zero = sums and abs(np.linalg.lstsq(A.T, ones, rcond=None)[0] @ dual.totals) <= 1e-12 * np.abs(dual.totals).sum()
    assert dual.balanced == (zero and dual.lambda2 == 0.0)
    if not len(A):
        assert dual.variation(g) == np.abs(g).max()
        return
    least = max(np.ptp((row * g)[row != 0]) for row in A)
    assert dual.variation(g) == pytest.approx(least, rel=1e-12)
    mu = np.random.default_rng(seed).normal(size=len(A))
    assert dual.variation(g + A.T @ mu) == pytest.approx(least, rel=1e-9)


def test_the_variation_of_gradients_with_signs_is_that_of_the_signed_ones():
    dual = Dual(np.zeros(3), np.zeros(3), np.ones(3), totals=(1.0,), sign=np.array([1.0, -1.0, 1.0]))
    assert dual.variation(np.array([1.0, -2.0, 4.0])) == 3.0


def test_the_variation_of_nothing():
    assert Dual(np.zeros(0), np.zeros(0), np.zeros(0), 0.0, (0.0,)).variation(np.zeros(0)) == 0.0
    assert Dual(np.zeros(0), np.zeros(0), np.zeros(0), 0.0, ()).variation(np.zeros(0)) == 0.0


@drawn(name=tuple(PROGRAMS), bias=BIASES)
def test_parts_and_other_forms_of_a_program(seed, name, bias):
    K, dual, beta = point(seed, name, bias)
    rows = np.random.default_rng(seed).permutation(len(dual))[:7]
    part = dual.take(rows)
    np.testing.assert_array_equal(programs.matrix(part), programs.matrix(dual)[:, rows])
    np.testing.assert_array_equal([part.t, part.lower, part.upper], [v[rows] for v in (dual.t, dual.lower, dual.upper)])
    tripled, g = dual.scaled(3.0), programs.gradient(K, dual, beta)
    assert programs.objective(3.0 * K, tripled, beta) == pytest.approx(3.0 * programs.objective(K, dual, beta))
    plain, sign = dual.unsigned(), np.ones(len(dual)) if dual.sign is None else dual.sign
    turned = programs.objective(sign[:, None] * (K + dual.lambda2) * sign - plain.lambda2, plain, sign * beta)
    assert turned == pytest.approx(programs.objective(K, dual, beta))
    np.testing.assert_allclose(programs.matrix(plain) @ (sign * beta), programs.matrix(dual) @ beta, atol=1e-12)
    ends = np.sort([sign * dual.lower, sign * dual.upper], axis=0)
    np.testing.assert_array_equal([plain.lower, plain.upper], ends)
    smooth = dual.piece(beta, g)  # the same objective and slopes at this point, without |beta|
    assert smooth.epsilon == 0.0
    assert programs.objective(K, smooth, beta) == pytest.approx(programs.objective(K, dual, beta))
    assert ((smooth.lower <= beta) & (beta <= smooth.upper)).all()
    if dual.epsilon:
        plus = (beta > 0) | ((beta == 0) & (g < 0))
        np.testing.assert_array_equal(smooth.lower, np.where(plus, 0.0, dual.lower))
        np.testing.assert_array_equal(smooth.upper, np.where(plus, dual.upper, 0.0))


@drawn(name=tuple(PROGRAMS), bias=BIASES)
def test_the_reach_has_all_bounds(seed, name, bias):
    _, y, w, t = data(seed)
    dual = PROGRAMS[name](y, w, t, bias)
    assert dual.reach == (min(0.0, dual.lower.min()), max(0.0, dual.upper.max()))
    assert not dual.unbounded


def test_targets_and_bounds_alone_make_a_program_without_sums():
    plain = Dual(np.ones(2), np.zeros(2), np.ones(2))
    assert (plain.lambda2, plain.totals, plain.epsilon, plain.row, plain.sign) == (0.0, (), 0.0, None, None)
    assert not plain.one_sum
    assert Dual(np.ones(2), np.zeros(2), np.ones(2), totals=(1.0,)).one_sum
    assert not Dual(np.ones(2), np.zeros(2), np.ones(2), totals=(1.0,), sign=np.array([1.0, -1.0])).one_sum
    assert not Dual(np.ones(2), np.zeros(2), np.ones(2), totals=(0.5, 0.5), row=np.arange(2)).one_sum


def test_bounds_of_a_variable_with_a_sign_change_their_places():
    lower, upper, sign = np.array([-1.0, -2.0]), np.array([3.0, 4.0]), np.array([1.0, -1.0])
    plain = Dual(np.ones(2), lower, upper, totals=(0.0,), sign=sign).unsigned()
    assert (plain.lower.tolist(), plain.upper.tolist(), plain.t.tolist()) == ([-1.0, -4.0], [3.0, 2.0], [1.0, -1.0])


def test_programs_whose_feasible_points_form_a_cone():
    y, infinite = np.array([1.0, -1.0]), np.full(2, np.inf)
    assert csvc(y, infinite).cone
    assert csvc(y, infinite).hard_margin
    assert svr(y, infinite, 0.1).cone
    assert not svr(y, infinite, 0.1).hard_margin
    assert not csvc(y, np.ones(2)).cone
    assert not oneclass(np.ones(2), 0.5).cone
    assert not Dual(y, -infinite, infinite, totals=(0.0, 1.0), row=np.arange(2)).cone
    assert not Dual(y, -infinite, infinite, totals=(1.0, 1.0), row=np.arange(2)).cone
    assert not Dual(y, np.array([-np.inf, -1.0]), np.zeros(2)).cone
    assert not Dual(y, -infinite, np.array([0.0, 1.0])).cone
    assert not Dual(y, np.array([-np.inf, -1.0]), infinite).hard_margin
    assert not Dual(y, np.array([0.0, -1.0]), infinite).hard_margin
    assert not Dual(y, -infinite, np.zeros(2)).take([]).unbounded
    assert Dual(y, -infinite, infinite).unbounded
    assert Dual(y, np.full(2, -0.25), np.full(2, 0.5)).reach == (-0.25, 0.5)
    assert Dual(y, np.full(2, 0.25), np.full(2, 0.5)).reach == (0.0, 0.5)
    assert Dual(y, np.full(2, -0.5), np.full(2, -0.25)).reach == (-0.5, 0.0)


def test_a_point_is_within_bounds_and_on_equalities_up_to_rounding():
    dual = csvc(np.array([1.0, 1.0, -1.0]), np.full(3, 2.0))
    inside = np.array([1.5, 0.5, -2.0])
    assert dual.contains(inside)
    assert dual.contains(inside + np.array([1e-15, 0.0, 0.0]))
    assert not dual.contains(inside + np.array([0.0, 0.0, 0.1]))  # off the equality
    assert not dual.contains(np.array([2.5, -0.5, -2.0]))  # outside, on the equality


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3])
def test_how_far_rounding_may_go_is_a_fraction_of_the_sizes(size):
    inside = size * np.array([1.5, 0.5, -2.0])
    signed = nusvc(np.array([1.0, 1.0, -1.0]), np.full(3, 2.0 * size), 4.0 / 6.0, "none")
    two = nusvc(np.array([1.0, 1.0, -1.0]), np.full(3, 2.0 * size), 4.0 / 6.0)
    for off in (-1.1e-6, -0.9e-6, 0.9e-6, 1.1e-6):
        near = abs(off) < 1e-6
        point = inside + np.array([0.0, 4.0 * size * off, 0.0])
        assert csvc(np.array([1.0, 1.0, -1.0]), np.full(3, 2.0 * size)).contains(point) == near
        point = inside + np.array([0.0, 8.0 * size * off, 0.0])  # the sum counts, too, where it is not 0
        assert signed.contains(point) == near
        point = inside + np.array([0.0, 4.0 * size * off, 0.0])
        assert two.contains(point) == near
        point = inside + np.array([0.0, 0.0, -4.0 * size * off])
        assert Dual(point, -abs(point), abs(point), totals=two.totals, row=two.row).contains(point) == near
    free = csvc(np.array([1.0, 1.0, -1.0]), np.full(3, 2.0 * size), "none")
    assert free.contains(np.zeros(3))
    assert replace(free, totals=(0.0,)).contains(np.zeros(3))
    for off in (0.9e-9, 1.1e-9):
        near = off < 1e-9
        assert free.contains(np.array([1.5, 2.0 * (1.0 + off), -1.0]) * size) == near
        assert free.contains(np.array([2.0, -2.0 * off, -1.0]) * size) == near
        assert free.contains(np.array([2.0, 2.0 * off, 2.0 * off]) * size) == near


def test_only_the_augmented_bias_is_penalised():
    assert [penalty(bias, AUGMENT) for bias in BIASES] == [0.0, AUGMENT**2, 0.0]


@drawn()
def test_the_augmented_bias_is_one_more_feature(seed):
    K, y, C, _ = data(seed)
    inside, outside = csvc(y, C, "augmented", AUGMENT), csvc(y, C, "none")
    beta = programs.solve(K, inside, tol=1e-9)
    np.testing.assert_allclose(programs.solve(K + AUGMENT**2, outside, tol=1e-9), beta, atol=1e-7)


def test_every_problem_takes_the_bias_and_one_as_the_factor():
    y = np.array([1.0, -1.0])
    for make, rest in ((csvc, (y**2,)), (svr, (y**2, 0.1)), (quantile, (y**2, y**2)), (nusvc, (y**2, 0.5)),
                       (nusvr, (y**2, 0.5))):  # fmt: skip
        assert [make(y, *rest, bias, 3.0).lambda2 for bias in BIASES] == [0.0, 9.0, 0.0]
        assert make(y, *rest, "augmented").lambda2 == 1.0
