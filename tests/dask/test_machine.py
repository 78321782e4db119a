"""The estimators for clusters give the bits of one machine, however the rows are divided.

Also tested here: ``gradient``, ``slab`` and ``state``.
"""

import numpy as np
import pytest
from distributed import Client

from adatron import dask as ad
from adatron.kernels import RBF, Linear
from clusters import alone, bits, blobs, cluster_of
from dask import array as da

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
    "quantile": ("QuantileSVR", X, F, None, {"quantile": 0.8}),
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
