"""Sums of linear kernel values by way of the features."""

import numpy as np
import pytest
from scipy import sparse

from adatron.compiled.features import spread_dense
from adatron.compiled.panels import Dense
from adatron.gram import Gram, Source, View
from adatron.kernels import Linear
from adatron.threads import Pool

pytestmark = pytest.mark.plain


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
