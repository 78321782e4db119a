"""Searches on vectors find what NumPy finds, and the first of equal values."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adatron.compiled.cache.jit import jit
from adatron.compiled.search import CHUNK, argmax, follow, partner

FORBIDDEN = 1e30


@jit
def found_largest(values):
    return argmax(values, len(values))


@jit(finite=True)
def found_after_step(g, Ki, Kj, bar, shift):
    return follow(g, Ki, Kj, bar, shift, len(g))


@jit(finite=True)
def found_partner(g, Ki, diagonal, bar, m, kii, floor, twice):
    return partner(g, Ki, diagonal, bar, m, kii, floor, twice, len(g))


def arrays(seed, dtype, chunks, levels, count):
    """Values of few levels, so that many are equal."""
    rng = np.random.default_rng(seed)
    return [rng.integers(-levels, levels + 1, chunks * CHUNK).astype(dtype) / 4 for _ in range(count)], rng


CASES = given(
    seed=st.integers(0, 2**32 - 1),
    dtype=st.sampled_from([np.float32, np.float64]),
    chunks=st.integers(1, 5),
    levels=st.integers(0, 40),
)


@pytest.mark.plain
@settings(max_examples=60, deadline=None)
@CASES
def test_the_first_of_the_largest(seed, dtype, chunks, levels):
    (values,), _ = arrays(seed, dtype, chunks, levels, 1)
    assert found_largest(values) == np.argmax(values)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_nan_is_never_the_largest(dtype):
    values = np.full(2 * CHUNK, np.nan, dtype)
    values[77] = -5.0
    assert found_largest(values) == 77


@pytest.mark.plain
@settings(max_examples=60, deadline=None)
@CASES
def test_the_step_and_the_best_after_it(seed, dtype, chunks, levels):
    (g, Ki, Kj, bar), rng = arrays(seed, dtype, chunks, levels, 4)
    bar[rng.random(len(bar)) < 0.3] = -FORBIDDEN
    shift = dtype(0.5)  # powers of two: no rounding, so that equal values stay equal
    expected = g + shift * (Ki - Kj)
    assert found_after_step(g, Ki, Kj, bar, shift) == np.argmax(bar - expected)
    assert np.array_equal(g, expected)


@pytest.mark.plain
@settings(max_examples=60, deadline=None)
@CASES
def test_the_partner_with_the_largest_gain(seed, dtype, chunks, levels):
    """All numbers on a grid on which products are exact: of equal gains the first one is found."""
    (g, Ki, diagonal, bar), rng = arrays(seed, dtype, chunks, levels, 4)
    bar[rng.random(len(bar)) < 0.3] = -FORBIDDEN
    diagonal = np.abs(diagonal)
    m, kii, floor = dtype(1), dtype(2), dtype(2.0**-10)
    gain = np.maximum(m + g + bar, 0.0) ** 2 / np.maximum(kii + diagonal - 2.0 * Ki, floor).astype(float)
    assert found_partner(g, Ki, diagonal, bar, m, kii, floor, dtype(-2)) == np.argmax(gain)


@pytest.mark.plain
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_the_partner_among_any_numbers(dtype, scale):
    rng = np.random.default_rng(0)
    for _ in range(50):
        g, Ki, diagonal, bar = rng.normal(scale=scale, size=(4, 3 * CHUNK)).astype(dtype)
        at = found_partner(g, Ki, np.abs(diagonal), bar, dtype(1), dtype(2), dtype(1e-3), dtype(-2))
        v = np.maximum(1.0 + g.astype(float) + bar, 0.0)
        gain = v**2 / np.maximum(2.0 + np.abs(diagonal).astype(float) - 2.0 * Ki, 1e-3)
        assert gain[at] >= gain.max() * (1.0 - 1e4 * np.finfo(dtype).eps)
