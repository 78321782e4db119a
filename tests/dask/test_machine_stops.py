"""What ends a fit on a cluster, and what is said on the way."""

import os
import signal

import numpy as np
import pytest

from adatron import dask as ad
from clusters import alone, bits, blobs

X, Y = blobs(6000, 10)
SMALL, OF_SMALL = blobs()


def test_a_time_limit_ends_a_fit_with_a_true_certificate(client):
    rows, y = blobs(9000, 10)
    y = np.where(np.arange(9000) % 9 == 0, 1 - y, y)
    with pytest.warns(UserWarning, match="max_time"):
        model = ad.DaskSVC(C=100.0, max_time=0.5).fit(rows, y)
    assert model.fit_status_ == 1
    assert model.duality_gap_ > 0


def test_a_callback_stops_a_fit(client):
    with pytest.warns(UserWarning, match="callback"):
        ad.DaskSVC(C=100.0, callback=lambda _: True).fit(X, Y)


@pytest.mark.skipif(os.name == "nt", reason="the signal would go to all processes")
def test_interrupt(client):
    with pytest.raises(KeyboardInterrupt):
        ad.DaskSVC(C=100.0, callback=lambda _: os.kill(os.getpid(), signal.SIGINT)).fit(X, Y)
    assert bits(ad.DaskSVC(C=3.0).fit(SMALL, OF_SMALL)) == alone("SVC", SMALL, OF_SMALL, C=3.0)


def test_progress_is_shown(client, capsys):
    ad.DaskSVC(C=100.0, verbose=True).fit(X, Y)
    assert "problem 1/1:" in capsys.readouterr().out


def test_a_warning_names_the_cause(client):
    with pytest.warns(UserWarning, match=r"standard deviations range.*StandardScaler"):
        ad.DaskSVC(max_iter=10).fit(SMALL * np.array([1.0, 1e5, 1.0, 1.0, 1.0]), OF_SMALL)
