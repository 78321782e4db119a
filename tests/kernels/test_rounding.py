"""Proven rounding errors against sums and products in exact arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adatron.kernels.rounding import (
    SAFETY,
    affine_error,
    exp_error,
    exp_parts,
    growth,
    largest,
    power,
    product_error,
    tiny,
)

UNIT: dict[Any, float] = {np.float32: 2.0**-24, np.float64: 2.0**-53}


def exact_product(x: np.ndarray, z: np.ndarray) -> Fraction:
    return sum((Fraction(a) * Fraction(b) for a, b in zip(x.tolist(), z.tolist(), strict=True)), Fraction(0))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 10**6), d=st.integers(1, 40), size=st.sampled_from([1e-3, 1.0, 1e3]))
def test_products_and_affine_functions_are_within_their_errors(dtype: Any, seed: int, d: int, size: float) -> None:
    rng, u = np.random.default_rng(seed), UNIT[dtype]
    x, z = size * rng.normal(size=(2, d))
    sq_norm = max(float(x @ x), float(z @ z)) * (1 + 1e-12)
    found = dtype(0)
    for a, b in zip(x.astype(dtype), z.astype(dtype), strict=True):
        found = dtype(found + a * b)
    truth = exact_product(x, z)
    assert abs(Fraction(float(found)) - truth) <= product_error(sq_norm, d, u)
    gamma, coef0 = 0.37, -1.3
    moved = dtype(dtype(gamma) * found + dtype(coef0))
    error = abs(Fraction(float(moved)) - (Fraction(gamma) * truth + Fraction(coef0)))
    assert error <= affine_error(gamma, coef0, sq_norm, d, u)


@settings(deadline=None)
@given(t=st.floats(0.0, 50.0), e=st.floats(0.0, 0.1), r=st.floats(0.0, 0.1), a=st.sampled_from([-1.0, 0.0, 1.0]))
def test_the_exponential_of_a_wrong_exponent_is_within_its_error(t: float, e: float, r: float, a: float) -> None:
    u = 2.0**-24
    wrong, right = math.exp(-max(0.0, t + a * e) * (1.0 + a * r)), math.exp(-t)
    assert abs(wrong - right) <= exp_error(e, r, u)
    relative, absolute = exp_parts(e, r, u)
    assert relative <= 0.5
    assert abs(wrong - right) <= relative * right + absolute


def test_what_proves_nothing_is_infinite() -> None:
    assert growth(2**24, 2.0**-24) == math.inf
    assert growth(10, 2.0**-24) == pytest.approx(10 * 2.0**-24, rel=1e-5)
    assert power(10.0, 400) == math.inf
    assert power(2.0, 10) == 1024.0
    assert exp_error(0.0, 1.0, 2.0**-24) <= 1.0 + 2.0**-21


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_underflow_and_overflow_are_far_from_the_ends_of_the_range(dtype: Any) -> None:
    u, range_ = UNIT[dtype], np.finfo(dtype)
    assert 2.0**5 <= tiny(u) / float(range_.tiny) <= 2.0**30
    assert largest(u) * tiny(u) == 1.0
    assert 1.0 + 1e-9 <= SAFETY <= 1.0 + 1e-7


def factor(m: float, u: float) -> Fraction:
    """(1 + δ)^m - 1 at most, as the lemma has it."""
    return Fraction(m) * Fraction(u) / (1 - Fraction(m) * Fraction(u))


@pytest.mark.parametrize("u", UNIT.values())
@pytest.mark.parametrize("d", [1, 40, 2**23])
@pytest.mark.parametrize("sq_norm", [2.0**-1020, 2.0**-130, 0.3, 1e3])
def test_errors_of_products_are_the_formulas_in_fractions(u: float, d: int, sq_norm: float) -> None:
    s, underflow = Fraction(sq_norm), Fraction(tiny(u))
    assert growth(d, u) == pytest.approx(float(factor(d, u)), rel=1e-12, abs=0.0)
    product = factor(d + 2, u) * s + d * (1 + s) * underflow
    assert product_error(sq_norm, d, u) == pytest.approx(float(product), rel=1e-12, abs=0.0)
    for gamma in (0.0, 1e-3, 3.0):
        for coef0 in (0.0, -1.3):
            g = Fraction(gamma)
            rounded = factor(3, u) * (g * (s + product) + abs(Fraction(coef0)))
            bound = g * product + rounded + (1 + s + product) * underflow
            assert affine_error(gamma, coef0, sq_norm, d, u) == pytest.approx(float(bound), rel=1e-12, abs=0.0)


@pytest.mark.parametrize("u", UNIT.values())
@pytest.mark.parametrize("absolute", [0.0, 1e-3, 0.33, 0.345, 3.0, 1e4])
@pytest.mark.parametrize("relative", [0.0, 1e-3, 0.6, 1.0])
def test_errors_of_exponentials_are_their_formulas(u: float, absolute: float, relative: float) -> None:
    of_factor = relative / (math.e * (1.0 - relative)) if relative < 1.0 else math.inf
    whole = min(absolute + of_factor + 4.0 * u, 1.0 + 4.0 * u)
    assert exp_error(absolute, relative, u) == pytest.approx(whole, rel=1e-15, abs=0.0)
    parts = exp_parts(absolute, relative, u)
    if absolute > 0.34 or relative == 1.0:  # one part would be above 1/2, or without a bound
        assert parts == (0.0, exp_error(absolute, relative, u))
    else:
        assert parts[0] == pytest.approx(math.expm1(absolute) + 4.0 * u * math.exp(absolute), rel=1e-13, abs=1e-16)
        assert parts[1] == pytest.approx(of_factor * (1.0 + 4.0 * u) + tiny(u), rel=1e-15, abs=0.0)
