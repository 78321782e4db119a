"""The estimators for clusters give the bits of one machine, however the rows are divided; fits that are stopped.

Also tested here: ``gradient``, ``slab`` and ``state``.
"""

import os
import signal

import numpy as np
import pytest
from benchmarks.quality import quality
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


@pytest.mark.slow
def test_parts_stay_on_the_cluster(client):
    X, y = blobs(1600, 100)
    y = np.where(np.arange(len(y)) % 11 == 0, 1 - y, y)
    for machine, target, parameters in (("SVC", y, {}), ("SVR", X[:, 0], {"epsilon": 0.3})):
        model = getattr(ad, f"Dask{machine}")(cache_size=0.3, **parameters).fit(X, target)
        assert bits(model) == alone(machine, X, target, cache_size=0.3, **parameters)
        assert "a program of their own" in str(model.route_)


@pytest.mark.slow
def test_small_problems_with_too_many_rows_are_refused(client):
    X, y = np.random.default_rng(0).normal(size=(900, 100)), np.arange(900) % 30
    with pytest.raises(ValueError, match=r"900 rows take 1 MB there; cache_size allows 0 MB"):
        ad.DaskSVC(cache_size=0.3).fit(X, y)


NOISY = blobs(5000, 10)
NOISY = NOISY[0], np.where(np.arange(5000) % 9 == 0, 1 - NOISY[1], NOISY[1])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("parameters", "word"),
    [({"C": 100.0, "callback": lambda _: True}, "callback"), ({"C": 100.0, "max_iter": 20_000}, "max_iter")],
)
def test_a_stopped_fit_has_a_true_certificate(client, parameters, word):
    ad.DaskSVC(C=1.0).fit(*NOISY)  # the workers load their code, which takes long on a busy machine
    with pytest.warns(UserWarning, match=word):
        model = ad.DaskSVC(**parameters).fit(*NOISY)
    assert model.fit_status_ != 0
    dual = model.dual_coef_
    assert abs(dual.sum()) <= 1e-9 * np.abs(dual).sum()  # a fit may also be stopped before its first block
    true = quality(model, *NOISY, {"C": model.C, "gamma": model._gamma})
    assert 1e-3 < true.kkt_violation <= model.kkt_violation_ * (1.0 + 1e-9) <= 1.1 * true.kkt_violation
    assert true.relative_gap <= model.duality_gap_ * (1.0 + 1e-9) <= 1.5 * true.relative_gap


@pytest.mark.skipif(os.name == "nt", reason="the signal would go to all processes")
def test_interrupt(client):
    with pytest.raises(KeyboardInterrupt):
        ad.DaskSVC(C=100.0, callback=lambda _: os.kill(os.getpid(), signal.SIGINT)).fit(*NOISY)
    assert bits(ad.DaskSVC(C=3.0).fit(X, Y)) == alone("SVC", X, Y, C=3.0)


@pytest.mark.slow
def test_progress_is_shown(client, capsys):
    ad.DaskSVC(C=100.0, verbose=True).fit(*NOISY)
    assert "problem 1/1:" in capsys.readouterr().out


def test_a_warning_names_the_cause(client):
    with pytest.warns(UserWarning, match=r"standard deviations range.*StandardScaler"):
        ad.DaskSVC(max_iter=10).fit(X * np.array([1.0, 1e5, 1.0, 1.0, 1.0]), Y)
