"""Weighted sums of rows against NumPy."""

import numpy as np
import pytest

from adatron.compiled.cache.jit import jit
from adatron.compiled.search import CHUNK
from adatron.compiled.weighted import add_weighted

pytestmark = pytest.mark.plain

DTYPES = (np.float32, np.float64)


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
