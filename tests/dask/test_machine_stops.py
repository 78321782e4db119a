"""What ends a fit on a cluster, and what is said on the way."""

import os
import signal

import numpy as np
import pytest
from benchmarks.quality import quality

from adatron import dask as ad
from clusters import alone, bits, blobs

X, Y = blobs(6000, 10)
SMALL, OF_SMALL = blobs()


NOISY = blobs(5000, 10)
NOISY = NOISY[0], np.where(np.arange(5000) % 9 == 0, 1 - NOISY[1], NOISY[1])


def certificate(model):
    """The violation and the gap that the coefficients of a model have by the checker of the benchmarks."""
    dual = model.dual_coef_
    assert abs(dual.sum()) <= 1e-9 * np.abs(dual).sum()  # a fit may also be stopped before its first block
    found = quality(model, *NOISY, {"C": model.C, "gamma": model._gamma})
    return found.kkt_violation, found.relative_gap


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
    violation, gap = certificate(model)
    assert violation > 1e-3
    assert violation <= model.kkt_violation_ * (1.0 + 1e-9)
    assert model.kkt_violation_ <= 1.1 * violation
    assert gap <= model.duality_gap_ * (1.0 + 1e-9)
    assert model.duality_gap_ <= 1.5 * gap


@pytest.mark.skipif(os.name == "nt", reason="the signal would go to all processes")
def test_interrupt(client):
    with pytest.raises(KeyboardInterrupt):
        ad.DaskSVC(C=100.0, callback=lambda _: os.kill(os.getpid(), signal.SIGINT)).fit(X, Y)
    assert bits(ad.DaskSVC(C=3.0).fit(SMALL, OF_SMALL)) == alone("SVC", SMALL, OF_SMALL, C=3.0)


@pytest.mark.slow
def test_progress_is_shown(client, capsys):
    ad.DaskSVC(C=100.0, verbose=True).fit(X, Y)
    assert "problem 1/1:" in capsys.readouterr().out


def test_a_warning_names_the_cause(client):
    with pytest.warns(UserWarning, match=r"standard deviations range.*StandardScaler"):
        ad.DaskSVC(max_iter=10).fit(SMALL * np.array([1.0, 1e5, 1.0, 1.0, 1.0]), OF_SMALL)
