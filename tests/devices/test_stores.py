"""Rows that travel have the same values and the same sums, to the bit, as rows that stay on the device."""

import numpy as np
import pytest

from adatron.kernels import RBF

torch = pytest.importorskip("torch", reason="needs the extra gpu")
from adatron.devices.rows import RESIDENT, DeviceRows  # noqa: E402
from adatron.devices.stores import GivenSamples, Resident, Streamed  # noqa: E402
from twins.devices import host, needs_compiler, plain  # noqa: E402

X = np.random.default_rng(0).standard_normal((150, 5))
IDS = np.random.default_rng(1).permutation(150)[:140]
CENTER = X.mean(axis=0)
SINGLE, DOUBLE = torch.float32, torch.float64


def stores(tiles, dtype, step, device_X=None):
    samples = GivenSamples(torch.device("cpu"), X, IDS, CENTER, device_X, step)
    return Resident.of(tiles, samples, dtype), Streamed(tiles, samples, dtype)


def sums(store, rows, lines, points, weights):
    out, low = torch.zeros((2, 90), dtype=DOUBLE), torch.zeros((2, 90), dtype=DOUBLE)
    store.add(out, low, rows.lines(lines, 90), points, weights, torch.tensor([600, 31], dtype=torch.int32))
    return out + low


@needs_compiler
@pytest.mark.parametrize("device_X", [None, torch.from_numpy(X)], ids=["from the processor", "from the device"])
@pytest.mark.parametrize("dtype", [SINGLE, DOUBLE], ids=str)
def test_sums_do_not_depend_on_where_rows_are_nor_on_how_many_travel(dtype, device_X):
    place, rng = host(), np.random.default_rng(2)
    rows = DeviceRows.of(place, RBF(0.2), X, IDS, CENTER, None)
    lines = [np.arange(20, 110), rng.integers(0, 140, 33)]
    points = torch.from_numpy(rng.integers(0, 140, (2, 600)).astype(np.int32))
    weights = torch.from_numpy(rng.standard_normal((2, 600)))
    found = []
    for step in (150, 32, 7):
        here, away = stores(rows.tiles, dtype, step, device_X)
        found += [sums(store, rows, lines, points, weights) for store in (here, away)]
        assert np.array_equal(here.norms, away.norms)
    assert found[0].abs().max() > 0.0
    assert (found[0][1, 33:] == 0.0).all()
    assert all(torch.equal(one, found[0]) for one in found)


@pytest.mark.parametrize("dtype", [SINGLE, DOUBLE], ids=str)
def test_fetched_rows_are_those_asked_for(dtype):
    here, away = stores(plain().tiles(RBF(0.2)), dtype, 50)
    for lines in (np.arange(30, 42).reshape(2, 6), np.array([[7, 3, 3], [139, 0, 7]])):
        given = torch.from_numpy(lines.astype(np.int32))
        (all_rows, same), (some, numbers) = here.fetched(given), away.fetched(given)
        assert same is given
        assert len(some.X) == lines.size
        assert torch.equal(all_rows.X[given.long()], some.X[numbers.long()])


def test_rows_that_travel_begin_on_the_processor_whatever_the_default_device_is():
    samples = GivenSamples(torch.device("cpu"), X, IDS, CENTER, None, 50)
    with torch.device("meta"):
        away = Streamed(plain().tiles(RBF(0.2)), samples, SINGLE)
    assert np.allclose(away.norms, ((X[IDS] - CENTER) ** 2).sum(axis=1), rtol=1e-5)


def test_rows_of_a_part_stay_on_the_device_if_there_is_room():
    lines = np.array([3, 139, 4, 5])
    rows = DeviceRows.of(plain(), RBF(0.2), X, IDS, CENTER, None, RESIDENT[2])
    near, numbers = rows.near(lines, np.float32)
    assert not rows.single.resident
    assert near.single.resident
    assert not near.double.resident
    for dtype, kind in ((np.float32, SINGLE), (np.float64, DOUBLE)):
        a, b = torch.empty((1, 4, 4), dtype=kind), torch.empty((1, 4, 4), dtype=kind)
        rows.block(dtype, rows.numbers(lines)[None], a, 0.0)
        near.block(dtype, near.numbers(numbers)[None], b, 0.0)
        assert torch.equal(a, b)
    small = DeviceRows.of(plain(bytes=1e2), RBF(0.2), X, IDS, CENTER, None, RESIDENT[2])
    assert small.near(lines, np.float32) == (small, pytest.approx(lines))
