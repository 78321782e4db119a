"""Samples on a device are looked at before they are trusted."""

import numpy as np
import pytest
from scipy import sparse

from adatron.kernels import RBF

torch = pytest.importorskip("torch", reason="needs the extra gpu")
from adatron.devices.rows import DeviceRows, room_for  # noqa: E402
from twins.devices import device, plain  # noqa: E402
from twins.plain_tiles import PlainTiles  # noqa: E402

X = np.random.default_rng(0).standard_normal((60, 5))
CENTER = X.mean(axis=0)


def rows(place, device_X=None):
    return DeviceRows.of(place, RBF(0.2), X, np.arange(60)[::-1].copy(), CENTER, device_X)


def test_rows_are_centred_and_in_order():
    found = rows(plain())
    double, single = (store.fetched(None)[0].X for store in (found.double, found.single))
    assert np.allclose(double[:, :5].numpy(), (X - CENTER)[::-1], atol=1e-15)
    assert single.shape == (60, 8)
    assert (single[:, 5:] == 0.0).all()
    again = rows(plain(), torch.from_numpy(X))
    assert torch.equal(again.double.fetched(None)[0].X, double)


def test_sums_are_those_of_the_kernel():
    found, truth = rows(plain()), RBF(0.2)(X[::-1], X[::-1])
    v = np.random.default_rng(1).standard_normal((7, 2))
    assert np.allclose(found.sums(np.arange(60), np.arange(7), v, np.float64), truth[:, :7] @ v, atol=1e-13)
    assert not found.sums(np.arange(3), np.arange(0), v[:0], np.float64).any()


class Wrong(PlainTiles):
    """Tiles of another kernel."""

    def __init__(self, kernel):
        super().__init__(RBF(kernel.gamma * 1.001))


def test_wrong_values_are_noticed():
    place = device(Wrong)
    with pytest.raises(RuntimeError, match="twin returns float32 kernel values that are off by"):
        rows(place).probe(X, np.arange(60)[::-1], CENTER, (1e-5, 1e-13))
    rows(plain()).probe(X, np.arange(60)[::-1], CENTER, (1e-5, 1e-13))


def test_sparse_rows_have_no_room():
    assert room_for(sparse.csr_matrix(X), 60) == np.inf
    assert room_for(X, 60) == 12 * 60 * 8
