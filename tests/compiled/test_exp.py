"""The exponential, weighted sums and sums of linear kernel values, against NumPy; aligned arrays.

Also tested here: ``features``, ``lines`` and ``weighted``.
"""

from itertools import product

import numpy as np
import pytest
from scipy import sparse

from adatron.compiled import lines
from adatron.compiled.cache.jit import jit
from adatron.compiled.exp import decay
from adatron.compiled.features import spread_dense
from adatron.compiled.panels import Dense
from adatron.compiled.search import CHUNK
from adatron.compiled.weighted import add_weighted
from adatron.gram import Gram, Source, View
from adatron.kernels import Linear
from adatron.threads import Pool

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


@jit
def weighted_rows(tile, base, store, column, where, weights, i, stop, total):
    add_weighted(tile, base, store, column, where, weights, i, stop, total)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("width", [CHUNK, 3 * CHUNK])
def test_weighted_sums_of_rows_made_and_stored(dtype, width, rng):
    tile, store = rng.normal(size=(5, width)).astype(dtype), rng.normal(size=(4, width + 40)).astype(dtype)
    where, weights = np.array([-2, 7, -4, 8, 8, 11, -1]), rng.normal(size=7)
    rows = [tile[number - 7] if number >= 0 else store[-1 - number, 24 : 24 + width] for number in where]
    for i, stop in ((0, 7), (2, 5), (3, 3)):
        total = np.ones(width + 1)
        weighted_rows(tile, 7, store, 24, where, weights, i, stop, total)
        expected = 1.0 + sum((w * row.astype(float) for w, row in zip(weights[i:stop], rows[i:stop], strict=True)), 0.0)
        np.testing.assert_allclose(total[:width], expected * np.ones(width), rtol=1e-13, atol=1e-13)
        assert total[width] == 1.0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix])
def test_they_are_those_of_the_values(dtype, storage):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(700, 40)) * (rng.random((700, 40)) < 0.3)
    points = np.sort(rng.choice(700, 90, replace=False))
    V = rng.normal(size=(90, 2))
    outs = []
    for threads in (1, 3):
        source = Source.of(storage(X), np.arange(700), Linear())
        view = View.of(Gram(source, dtype, [700], Pool(threads)))
        out = np.ones((700, 2))
        view.accumulate(out, view.points(points), V)
        outs.append(out)
    assert (outs[0] == outs[1]).all()
    rounded = X.astype(dtype).astype(float)
    np.testing.assert_allclose(outs[0], 1.0 + rounded @ (rounded[points].T @ V), atol=1e-12)


def test_processors_with_other_vectors_have_the_same_bits():
    rng = np.random.default_rng(0)
    X, v = rng.normal(size=(31, 5)), rng.normal(size=31)
    found = set()
    for width in (2, 4, 6, 12):
        panels = np.zeros((-(-31 // width), 5, width))
        for i, x in enumerate(X):
            panels[i // width, :, i % width] = x
        w, low = np.zeros((2, 5))
        spread_dense(Dense(panels, np.zeros(0), width, 31), v, w, low)
        found.add((w.tobytes(), low.tobytes()))
    assert len(found) == 1


def test_arrays_begin_with_a_line_of_the_cache():
    for shape, dtype in product([(3,), (5, 7), (300, 300)], [np.float32, np.float64]):
        for make in (lines.empty, lines.zeros):
            array = make(shape, dtype)
            assert array.shape == shape
            assert array.dtype == dtype
            assert array.flags.c_contiguous
            assert array.ctypes.data % lines.LINE == 0
        assert not array.any()
