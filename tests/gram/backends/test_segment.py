"""Weighted sums of tiles against a plain twin."""

import numpy as np
import pytest

from adatron.gram import Points, Source
from adatron.gram.backends.segment import TileSegment, Workspace
from adatron.kernels import RBF, Laplacian, Linear
from adatron.threads import Pool

pytestmark = pytest.mark.plain

DTYPES = (np.float32, np.float64)


def tolerance(dtype):
    return 2e-5 if dtype == np.float32 else 1e-12


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kernel", [RBF(0.3), Laplacian(0.2), 0.5 * RBF(0.3) + Linear() * RBF(0.1)], ids=str)
def test_weighted_sums_of_tiles(dtype, kernel, rng):
    X, V = rng.normal(size=(60, 4)), rng.normal(size=(11, 2))
    source = Source.of(X, np.arange(60), kernel)
    chosen = rng.permutation(60)[:11]
    segment = TileSegment(source, Workspace(kernel, dtype), Pool(1), 0, 60)
    points = Points(source.take(chosen), chosen)
    out = np.ones((60, 2))
    segment.accumulate(out, points, V)
    K = kernel(X)
    np.testing.assert_allclose(out, 1 + K[:, chosen] @ V, atol=20 * tolerance(dtype))
    np.testing.assert_allclose(segment.values(points), K[chosen], atol=10 * tolerance(dtype))
