"""Packed panels and their products against plain twins."""

import numpy as np
import pytest
from scipy import sparse

from adatron.compiled.micro import BLOCK_POINTS, rows_width
from adatron.compiled.panels import PRODUCTS, TILE, squared_norms
from adatron.gram import Source
from adatron.kernels import RBF, Linear
from adatron.threads import Pool
from twins.tiles import chained_products, l1_distances, pack

pytestmark = pytest.mark.plain

DTYPES = (np.float32, np.float64)


def tolerance(dtype):
    return 2e-5 if dtype == np.float32 else 1e-12


@pytest.mark.parametrize("dtype", DTYPES)
def test_packed_panels(dtype, rng):
    X = rng.normal(size=(50, 5)) + 3
    source = Source.of(X, np.arange(50), RBF())
    pool = Pool(1)
    for operand, width in (
        (source.as_points(dtype, pool), BLOCK_POINTS),
        (source.as_rows(dtype, pool), rows_width(dtype)),
    ):
        np.testing.assert_array_equal(operand.panels, pack(X, width, source.center, dtype))


@pytest.mark.parametrize("d", [0, 1, 9])
def test_squared_norms(d, rng):
    """The same bits for a row alone and among others."""
    X, center, weights = rng.normal(size=(9, d)), rng.normal(size=d), rng.random(d)
    for n in range(10):
        ids, out = rng.permutation(9)[:n], np.empty(n)
        squared_norms(X, ids, center, weights, out)
        np.testing.assert_allclose(out, np.square(X[ids] - center) @ weights, rtol=1e-14)
        for i, row in enumerate(ids):
            alone = np.empty(1)
            squared_norms(X, np.array([row]), center, weights, alone)
            assert alone[0] == out[i]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("product", ["dot", "l1"])
@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("d", [1, 7])
@pytest.mark.parametrize("width", [64, TILE])
def test_products(dtype, product, storage, d, width, rng):
    X = rng.normal(size=(40, d)) * (rng.random((40, d)) < 0.7)
    source = Source.of(storage(X), np.arange(40), Linear())
    points, rows = source.take(slice(0, 13)).as_points(dtype, Pool(1)), source.as_rows(dtype, Pool(1))
    tile = np.zeros((240, width), dtype)
    PRODUCTS[type(rows), product](points, 0, -(-13 // BLOCK_POINTS), rows, 0, -(-40 // rows_width(dtype)), tile)
    twin = chained_products if product == "dot" else l1_distances
    expected = twin(X[:13].astype(dtype), X.astype(dtype))
    np.testing.assert_allclose(tile[:13, :40], expected, atol=tolerance(dtype))
