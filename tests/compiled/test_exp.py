"""The exponential against NumPy's."""

import numpy as np
import pytest

from adatron.compiled.cache.jit import jit
from adatron.compiled.exp import decay
from adatron.compiled.search import CHUNK

pytestmark = pytest.mark.plain

DTYPES = (np.float32, np.float64)


@jit
def decay_of_all(values, rate):
    decay(values, rate, len(values))


@pytest.mark.parametrize("rate", [np.log(2.0), 0.3, 17.0])
@pytest.mark.parametrize("dtype", DTYPES)
def test_decay(dtype, rate):
    """Two units in the last place, and the rounding of the exponent, which counts as many times as it is large."""
    lowest = -float(np.finfo(dtype).minexp)  # where k changes, and in between; down to the last normal number
    exponents = np.concatenate([np.linspace(0, lowest, 64 * CHUNK), np.arange(0.5, lowest), np.arange(1.0, lowest)])
    v = np.resize(exponents * (np.log(2.0) / rate), -(-len(exponents) // CHUNK) * CHUNK).astype(dtype)
    out = v.copy()
    decay_of_all(out, rate)
    u, exponent = np.finfo(dtype).eps / 2, rate * v.astype(np.longdouble)
    true = np.exp(-exponent)
    near = exponent > (lowest - 0.51) * np.log(2.0)  # half an octave above the least normal number it may be 0
    assert np.all((abs(out - true) <= (4 + 3 * exponent) * u * true) | (near & (out == 0.0)))
    assert out[0] == 1.0


@pytest.mark.parametrize("dtype", DTYPES)
def test_decay_beyond_the_normal_numbers(dtype):
    values = np.full(CHUNK, np.nan, dtype)
    values[:5] = np.inf, np.finfo(dtype).max, 1e4, 0.0, -0.0
    decay_of_all(values, 1.0)
    assert np.all(values[:3] == 0)
    assert np.all(values[3:5] == 1)
    assert np.isnan(values[5:]).all()
    values[:] = 0.0
    decay_of_all(values, 1e308)
    assert np.all(values == 1)
