"""Partitions are loaded once, within the time, and divided evenly."""

import time
from math import inf

import numpy as np
import pytest
from distributed import Client
from scipy import sparse

from adatron import dask as ad
from adatron.dask.collections import Blocks
from adatron.dask.setup import CheckedBlocks, share
from clusters import alone, bits, blobs, cluster_of
from dask import array as da
from dask import delayed

X, Y = blobs(3000, 5)
PARTS, SIZE = 4, 750


def loaded(folder, i, values):
    with (folder / f"{i}").open("a") as stream:
        stream.write("once\n")
    return values[i * SIZE : (i + 1) * SIZE]


def loads(folder):
    return {path.name: path.read_text().count("once") for path in folder.iterdir()}


def rows_of(folder, values, known=True):
    """A Dask array whose partitions say when they are loaded."""
    length = SIZE if known else np.nan
    one = delayed(loaded)
    parts = [da.from_delayed(one(folder, i, values), (length, values.shape[1]), meta=values[:0]) for i in range(PARTS)]
    return da.concatenate(parts, allow_unknown_chunksizes=True)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "loads").mkdir()
    return tmp_path / "loads"


MOSTLY_ZERO = np.where(np.random.default_rng(0).random((3000, 120)) < 0.08, 1.0, 0.0) * np.arange(1.0, 121.0)
KINDS = {
    "known lengths": (X, True, {}),
    "unknown lengths": (X, False, {}),
    "dense rows that become CSR": (MOSTLY_ZERO, True, {"gamma": 1e-4}),
    "CSR": (sparse.csr_matrix(MOSTLY_ZERO), True, {"gamma": 1e-4}),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_each_partition_is_loaded_once(client, folder, kind):
    values, known, parameters = KINDS[kind]
    model = ad.DaskSVC(augment="auto", bias="augmented", class_weight="balanced", **parameters)
    model.fit(rows_of(folder, values, known), Y)
    assert loads(folder) == dict.fromkeys("0123", 1)
    assert bits(model) == alone("SVC", values, Y, augment="auto", bias="augmented", class_weight="balanced",
                                **parameters)  # fmt: skip


def test_only_a_lost_partition_is_loaded_again(client, folder):
    counted = CheckedBlocks(client, Blocks(client, rows_of(folder, X), Y, None, inf), labels=True, limit=inf)
    before = counted.variance()
    counted.cluster.slabs[2].cancel()
    assert counted.variance() == before
    assert loads(folder) == {"0": 1, "1": 1, "2": 2, "3": 1}


def test_lost_rows_from_memory_are_sent_again(client):
    counted = CheckedBlocks(client, Blocks(client, X, Y, None, inf), labels=True, limit=inf)
    before = counted.variance()
    counted.cluster.slabs[-1].cancel()  # the only one, if there is one worker
    assert counted.variance() == before


def slow(values):
    time.sleep(8.0)
    return values


@pytest.mark.slow
def test_a_time_limit_holds_while_rows_are_loaded(client):
    rows = da.from_delayed(delayed(slow)(X), X.shape, float)
    start = time.monotonic()
    for y, model in ((Y, ad.DaskSVC(max_time=1.0)), (X[:, 0], ad.DaskSVR(max_time=1.0))):
        with pytest.raises(TimeoutError, match=r"max_time=1\.0 ended before the cluster had loaded"):
            model.fit(rows, y)
    unknown = da.from_delayed(delayed(slow)(X), (np.nan, 5), float)
    with pytest.raises(TimeoutError, match="max_time"):
        ad.DaskSVC(max_time=1.0).fit(unknown, Y)
    assert time.monotonic() - start < 8.0


TARGETS = {
    "one": np.zeros(3000),
    "two": np.arange(3000) % 2.0,
    "three, one of them rare": np.minimum(np.arange(3000) % 100, 2.0),
    "many": X[:, 0],
    "many equal ones": np.where(np.arange(3000) % 5, 0.25, X[:, 0]),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
def test_slabs_have_about_equal_sizes(client, name):
    counted = CheckedBlocks(client, Blocks(client, X, TARGETS[name], None, inf), labels=False, limit=inf)
    shared = share(counted, None, None, 1e9, lambda _: False)
    sizes = shared.rows.layout.counts.sum(axis=1)
    assert sizes.sum() == len(X)
    assert sizes.max() < 1.25 * sizes.min()


@pytest.mark.parametrize("name", TARGETS)
def test_few_targets_give_the_bits_of_one_machine(client, name):
    rows = np.rint(X)
    model = ad.DaskSVR(epsilon=0.01).fit(da.from_array(rows, chunks=(700, 5)), TARGETS[name])
    assert bits(model) == alone("SVR", rows, TARGETS[name], epsilon=0.01)


@pytest.mark.parametrize("machine", ["SVC", "SVR", "OneClassSVM"])
def test_empty_partitions_and_workers_without_rows(machine):
    """More workers than rows: some slabs have no samples, some partitions no rows."""
    rows, y = X[:7], None if machine == "OneClassSVM" else np.array([0, 1, 0, 1, 1, 0, 1])
    chunks = (0, 0, 3, 0, 4, 0)
    with cluster_of(9, processes=False) as cluster, Client(cluster):
        model = getattr(ad, f"Dask{machine}")()
        model.fit(da.from_array(rows, chunks=(chunks, 5)), None if y is None else da.from_array(y, chunks=(chunks,)))
    assert bits(model) == alone(machine, rows, *(() if y is None else (y,)))


def test_classes_that_only_some_partitions_have(client):
    order = np.argsort(Y, kind="stable")
    model = ad.DaskSVC().fit(da.from_array(X[order], chunks=(400, 5)), da.from_array(Y[order], chunks=400))
    assert bits(model) == alone("SVC", X[order], Y[order])
