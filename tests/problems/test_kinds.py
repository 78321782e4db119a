"""Every problem: its program is that of its function, and what it says of solutions is true of the program."""

import itertools
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adatron.problems import (
    Ball,
    CClassification,
    EpsilonRegression,
    NuClassification,
    NuRegression,
    OneClass,
    Problem,
    QuantileRegression,
    ball,
    csvc,
    nusvc,
    nusvr,
    oneclass,
    quantile,
    svr,
)

Y = np.array([1.0, 1.0, 1.0, -1.0, -1.0, -1.0])
T = np.array([0.5, -3.0, 2.0, 7.0, 0.0, 1.0])
W = np.array([1.0, 2.0, 0.5, 1.0, 0.0, 3.0])
OWN = np.array([1.0, 2.0, 3.0, 1.0, 2.0, 4.0])

# Each problem with the program that its function makes of the targets Y or T.
PROGRAMS = [
    (CClassification(0.3), Y, csvc(Y, 0.3 * W)),
    (CClassification(np.inf, "augmented"), Y, csvc(Y, np.where(W > 0, np.inf, 0.0), "augmented", 1.0)),
    (CClassification(0.3, "augmented", 0.7), Y, csvc(Y, 0.3 * W, "augmented", 0.7)),
    (NuClassification(0.4), Y, nusvc(Y, W, 0.4)),
    (NuClassification(0.4, "augmented"), Y, nusvc(Y, W, 0.4, "augmented", 1.0)),
    (EpsilonRegression(0.3, 0.1), T, svr(T, 0.3 * W, 0.1)),
    (EpsilonRegression(0.3, 0.1, "augmented"), T, svr(T, 0.3 * W, 0.1, "augmented", 1.0)),
    (NuRegression(0.3, 0.4), T, nusvr(T, 0.3 * W, 0.4)),
    (NuRegression(0.3, 0.4, "augmented"), T, nusvr(T, 0.3 * W, 0.4, "augmented", 1.0)),
    (QuantileRegression(0.3, 0.2), T, quantile(T, 0.8 * 0.3 * W, 0.2 * 0.3 * W)),
    (QuantileRegression(0.3, 0.2, "augmented"), T, quantile(T, 0.8 * 0.3 * W, 0.2 * 0.3 * W, "augmented", 1.0)),
    (OneClass(0.4), Y, oneclass(W, 0.4)),
    (Ball(0.4), Y, ball(OWN, W / (0.4 * W[Y > 0].sum()), Y)),
    (Ball(0.4, 0.5), Y, ball(OWN, 0.5 * W, Y)),
]


@pytest.mark.parametrize(("problem", "y", "wanted"), PROGRAMS, ids=lambda one: str(one) * isinstance(one, Problem))
def test_the_program_is_that_of_the_function(problem, y, wanted):
    asked = []
    found = problem.dual(y, W, lambda: asked.append(1) or OWN)
    for name in (one.name for one in fields(found)):
        one, other = getattr(found, name), getattr(wanted, name)
        assert (one is None) == (other is None)
        np.testing.assert_allclose(*((0.0 if part is None else part) for part in (one, other)), 1e-14, err_msg=name)
    assert bool(asked) is problem.sphere
    assert len(found) == problem.copies * len(y)
    assert problem.movable == (not problem.in_units and y is T and problem.bias == "explicit")
    if problem.joinable:
        both = problem.together(np.tile(y, 2), np.tile(W, 2), np.array([0, len(y)]))
        np.testing.assert_array_equal(both.upper, np.tile(found.upper, 2))
        assert len(both.totals) == len(found.totals) * (1 if problem.separable else 2)


@pytest.mark.parametrize(("problem", "y", "_"), PROGRAMS, ids=lambda one: str(one) * isinstance(one, Problem))
def test_the_ends_are_those_of_a_sample_of_weight_1(problem, y, _):
    dual = problem.dual(y, np.ones(len(y)), lambda: OWN)
    below, above = problem.ends(y, np.ones(len(y)))
    assert min(above, 1.0 if problem.sphere else np.inf) == pytest.approx(dual.upper.max())
    assert below == pytest.approx(-dual.lower.min() if dual.lower.any() else above)


@pytest.mark.parametrize("problem", [CClassification(1.0), OneClass(0.5), EpsilonRegression(1.0, 0.1)])
def test_problems_without_conditions_say_nothing(problem):
    problem.check(np.array([1.0]), np.array([3.0]), 2.0)
    assert problem.divisors(np.ones(2)) is None
    assert problem.attributes(0.7) == {}
    assert problem.doubt(np.zeros(2)) == ""


def test_units():
    """Labels have one size; targets have any. What only weights bound is solved for weights about 1."""
    assert [type(one).__name__ for one, *_ in PROGRAMS[::2] if not one.sized] == ["CClassification"] * 2
    alone = [one for one, y, _ in PROGRAMS if one.in_units]
    for problem in alone:
        one, two = (problem.dual(Y, k * W, lambda: OWN) for k in (1.0, 2.0))
        np.testing.assert_array_equal(two.upper, 2.0 * one.upper)
        assert problem.ends(Y, W) == (1.0, 1.0)
    assert {type(one) for one in alone} == {NuClassification, OneClass}
    assert CClassification(2.0).separable
    assert not CClassification(np.inf).separable
    assert not NuClassification(0.5).separable
    assert NuClassification(0.5).joinable
    assert not NuClassification(0.5).one_vs_rest  # as in scikit-learn
    assert not OneClass(0.5).joinable


def test_what_a_width_means():
    problem = NuClassification(0.25)
    np.testing.assert_array_equal(problem.divisors(np.array([-0.5, 0.0, 0.25])), [0.5, 1.0, 1.0])
    assert problem.doubt(np.array([-0.5, -0.1])) == ""
    for widths in ([-0.5, 0.0], [0.0, 0.0], [0.5, -0.5]):
        assert "nu = 0.25" in problem.doubt(np.array(widths))
    np.testing.assert_array_equal(Ball(0.5).divisors(np.zeros(2)), [0.5, 0.5])
    assert NuRegression(1.0, 0.5).attributes(0.7) == {"epsilon_": 0.7}


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from([0.0, 1.0, 2.0, 5.0]), min_size=2, max_size=5), st.sampled_from([0.2, 0.5, 0.8, 1.0]),
       st.booleans(), st.sampled_from([1.0, 4.0]))  # fmt: skip
def test_nu_is_refused_where_a_class_has_too_little(weights, nu, rest, unit):
    weights, names = np.array(weights), np.array(list("abcde"[: len(weights)]))
    known = [k for k in range(len(weights)) if weights[k]]
    if rest and len(known) > 2:
        sides = [(names[k], weights[k], "all other", weights.sum() - weights[k]) for k in known]
    else:
        sides = [(names[i], weights[i], names[j], weights[j]) for i, j in itertools.combinations(known, 2)]
    wrong = [side for side in sides if 0.5 * nu * (side[1] + side[3]) > min(side[1], side[3])]
    problem = NuClassification(nu, one_vs_rest=rest)
    if not wrong:
        problem.check(names, weights, unit)
        return
    one, own, other, left = wrong[0]
    with pytest.raises(ValueError, match="specified nu is infeasible") as error:
        problem.check(names, weights, unit)
    said = str(error.value)
    assert f"nu = {nu:g} " in said
    assert f"at least {50 * nu:g} %" in said
    assert f"weight {unit * own:g} in class {str(one)!r}" in said
    assert f"{unit * left:g} in {'class ' * (len(other) == 1)}" in said
    assert str(other) in said


@pytest.mark.parametrize("unit", [1.0, 2.0])
def test_a_ball_is_refused_where_there_is_none(unit):
    marks, weights = np.array([1.0, -1.0, 1.0]), np.array([1.0, 8.0, 3.0])
    least = 1.0 / (unit * 4.0)
    for C in (None, least, 1.0):
        Ball(0.5, C).check(marks, weights, unit)
    Ball(0.5, np.inf).check(np.array([1.0, 1.0]), np.array([0.1, 0.2]), unit)
    with pytest.raises(ValueError, match=rf"at least .* which is {least:.3g}. Got"):
        Ball(0.5, 0.99 * least).check(marks, weights, unit)
    with pytest.raises(ValueError, match="C=inf lets no sample"):
        Ball(0.5, np.inf).check(marks, weights, unit)
    for weights in ([8.0], [0.0]):
        with pytest.raises(ValueError, match="All samples are marked -1"):
            Ball(0.5).check(np.array([-1.0 if weights[0] else 1.0]), np.array(weights), unit)
    with pytest.raises(ValueError, match="too large for a float"):
        Ball(0.5).dual(marks, np.ones(3), lambda: np.array([1.0, np.inf, 1.0]))
    assert Ball(0.5, 0.01).ends(marks, np.array([1.0, 8.0, 3.0])) == (0.25, 0.25)  # a smaller C has no solution
