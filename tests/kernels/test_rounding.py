"""Proven rounding errors against sums and products in exact arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adatron.kernels.rounding import affine_error, exp_error, exp_parts, growth, power, product_error

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
