"""What ends a fit on a cluster, and what is said on the way."""

import os
import signal

import numpy as np
import pytest

from adatron import dask as ad
from clusters import alone, bits, blobs

X, Y = blobs(6000, 10)
SMALL, OF_SMALL = blobs()


NOISY = blobs(5000, 10)
NOISY = NOISY[0], np.where(np.arange(5000) % 9 == 0, 1 - NOISY[1], NOISY[1])


def certificate(model, X, y, C):
    """The violation and the gap of a model of two classes, from its coefficients and kernel values in NumPy."""
    beta, sign = np.zeros(len(X)), np.where(y == model.classes_[1], 1.0, -1.0)
    beta[model.support_] = model.dual_coef_[0]
    assert abs(beta.sum()) <= 1e-9 * np.abs(beta).sum()  # a fit may also be stopped before its first block
    assert ((beta * sign >= 0.0) & (np.abs(beta) <= C)).all()
    squares = (X * X).sum(axis=1)
    K = np.exp(-model._gamma * np.maximum(squares[:, None] + squares - 2.0 * X @ X.T, 0.0))
    w = K @ beta
    grow, shrink = np.where(sign > 0, beta < C, beta < 0), np.where(sign > 0, beta > 0, beta > -C)
    error = sign - w  # beta grows where this is large
    violation = error[grow].max() - error[shrink].min()
    slack = C * np.maximum(0.0, 1.0 - sign * (w + model.intercept_[0])).sum()
    primal, dual = 0.5 * beta @ w + slack, np.abs(beta).sum() - 0.5 * beta @ w
    return violation, (primal - dual) / min(primal, dual) if dual > 0.0 else np.inf


@pytest.mark.slow
@pytest.mark.parametrize(
    ("parameters", "word"),
    [({"C": 100.0, "callback": lambda _: True}, "callback"), ({"C": 100.0, "max_iter": 20_000}, "max_iter")],
)
def test_a_stopped_fit_has_a_true_certificate(client, parameters, word):
    rows, y = NOISY
    ad.DaskSVC(C=1.0).fit(rows, y)  # the workers load their code, which takes long on a busy machine
    with pytest.warns(UserWarning, match=word):
        model = ad.DaskSVC(**parameters).fit(rows, y)
    assert model.fit_status_ != 0
    violation, gap = certificate(model, rows, y, parameters["C"])
    assert violation > 1e-3
    assert violation <= model.kkt_violation_ * (1.0 + 1e-9)
    assert model.kkt_violation_ <= 1.1 * violation
    assert gap <= model.duality_gap_ * (1.0 + 1e-9)
    assert model.duality_gap_ <= 1.5 * gap


@pytest.mark.slow
def test_a_converged_fit_has_a_true_certificate(client):
    model = ad.DaskSVC(C=10.0).fit(*NOISY)
    violation, gap = certificate(model, *NOISY, 10.0)
    assert violation <= model.kkt_violation_ + 1e-9
    assert model.kkt_violation_ <= 1e-3
    assert 0.0 < gap <= model.duality_gap_ * (1.0 + 1e-9)
    assert model.duality_gap_ <= 1.5 * gap


def test_a_callback_stops_a_fit(client):
    with pytest.warns(UserWarning, match="callback"):
        ad.DaskSVC(C=100.0, callback=lambda _: True).fit(X, Y)


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
