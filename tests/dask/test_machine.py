"""The estimators for clusters give the bits of one machine, however the rows are divided.

Also tested here: ``gradient``, ``slab`` and ``state``.
"""

import numpy as np
import pytest
from distributed import Client
from scipy import sparse

from adatron import dask as ad
from adatron.kernels import RBF, Linear
from clusters import alone, bits, blobs, cluster_of
from dask import array as da
from dask import delayed

X, Y = blobs()
F = np.sin(X[:, 0]) + 0.3 * X[:, 1]
WHOLE, WEIGHT = np.rint(2 * X), np.arange(len(X)) % 4 / 2.0

MACHINES = {
    "svc": ("SVC", X, Y, None, {}),
    "float32": ("SVC", X.astype(np.float32), Y, None, {}),
    "float64 tiles": ("SVC", X, Y, None, {"precision": "double"}),
    "names": ("SVC", X, np.where(Y == 1, "yes", "no"), None, {"C": 10.0}),
    "equal samples and weights": ("SVC", WHOLE, Y, WEIGHT, {"class_weight": "balanced"}),
    "augmented": ("SVC", X, Y, WEIGHT, {"bias": "augmented", "augment": "auto"}),
    "no bias": ("SVC", X, Y, None, {"bias": "none"}),
    "newton": ("SVC", X, Y, None, {"C": 100.0, "gap_tol": 1e-6}),
    "linear": ("SVC", X, Y, None, {"kernel": "linear", "C": 0.1}),
    "sum of kernels": ("SVC", X, Y, None, {"kernel": RBF(0.1) + 0.5 * Linear()}),
    "one class": ("OneClassSVM", WHOLE, None, WEIGHT, {"nu": 0.2}),
    "ball": ("SVDD", X, None, WEIGHT, {"nu": 0.2, "kernel": "linear"}),
    "ball with negatives": ("SVDD", WHOLE, np.where(np.arange(len(X)) % 9, 0, -1), WEIGHT, {"C": 0.01}),
    "svr": ("SVR", X, F, None, {"C": 10.0}),
    "svr, equal targets": ("SVR", WHOLE, np.rint(3 * F), WEIGHT, {}),
    "nusvc": ("NuSVC", X, Y, None, {"nu": 0.4}),
    "nusvr": ("NuSVR", X, F, None, {"nu": 0.3}),
    "one block": ("SVC", X[:700], Y[:700], None, {}),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", MACHINES)
def test_the_bits_are_those_of_one_machine(client, name):
    machine, rows, y, weight, parameters = MACHINES[name]
    n = len(rows)
    model = getattr(ad, f"Dask{machine}")(**parameters)
    model.fit(
        da.from_array(rows, chunks=(n // 4 + 3, rows.shape[1])),
        None if y is None else da.from_array(y, chunks=n // 5),
        None if weight is None else da.from_array(weight, chunks=n // 3),
    )
    assert bits(model) == alone(machine, rows, y, weight, **parameters)


@pytest.mark.slow
@pytest.mark.parametrize("way", ["ovo", "ovr"])
def test_several_classes(client, way):
    rows, y = blobs(4200, 4, 3)
    model = ad.DaskSVC(multi_class=way).fit(da.from_array(rows, chunks=(1000, 4)), da.from_array(y, chunks=1000))
    assert bits(model) == alone("SVC", rows, y, multi_class=way)


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2, 5])
@pytest.mark.parametrize("chunks", [3000, 77, (0, 1, 2000, 999)])
def test_neither_workers_nor_chunks_matter(workers, chunks):
    with cluster_of(workers, processes=False) as cluster, Client(cluster):
        model = ad.DaskSVC(C=3.0).fit(da.from_array(X, chunks=(chunks, 5)), da.from_array(Y, chunks=(chunks,)))
    assert bits(model) == alone("SVC", X, Y, C=3.0)


@pytest.mark.slow
def test_sparse_chunks(client):
    rows = sparse.random(3000, 60, density=0.1, random_state=0, format="csr")
    y = (np.asarray(rows.sum(axis=1)).ravel() + 0.5 * np.arange(3000) % 2 > 3).astype(int)
    parts = [da.from_delayed(delayed(rows[i : i + 800]), (min(800, 3000 - i), 60), meta=rows[:0])
             for i in range(0, 3000, 800)]  # fmt: skip
    model = ad.DaskSVC().fit(da.concatenate(parts), y)
    assert bits(model) == alone("SVC", rows, y)
    assert sparse.issparse(model.dual_coef_)


@pytest.mark.slow
def test_rows_that_are_mostly_zero(client):
    rng = np.random.default_rng(0)
    rows = np.where(rng.random((2600, 120)) < 0.08, rng.normal(size=(2600, 120)), 0.0)
    y = (rows.sum(axis=1) + rng.normal(size=2600) > 0).astype(int)
    model = ad.DaskSVC(gamma=0.1).fit(da.from_array(rows, chunks=(700, 120)), da.from_array(y, chunks=700))
    assert bits(model) == alone("SVC", rows, y, gamma=0.1)
