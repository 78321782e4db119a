"""Many problems: reports to a callback that is slow, and a time limit that passes before the first one."""

import time

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning

from adatron import SVC


def test_a_slow_callback_is_not_asked_of_every_problem():
    """Reports that nobody has heard yet would otherwise fill the memory: thousands of classes have millions."""
    X, y = make_blobs(1600, 300, centers=160, random_state=0)
    heard = []

    def slow(progress):
        heard.append(progress.n_finished)
        time.sleep(0.002)

    model = SVC(n_jobs=2, callback=slow).fit(X, y)
    assert not model.route_.light
    assert model.fit_status_ == 0
    assert 0 < len(heard) < len(model.intercept_)


def test_no_time_is_left_after_setting_up():
    X, y = make_blobs(300, 3, centers=150, random_state=0)
    with pytest.warns(ConvergenceWarning, match="time limit"):
        model = SVC(max_time=1e-6).fit(X, y)
    assert (model.fit_status_, model.n_iter_.max(), model.dual_coef_.shape) == (1, 0, (149, 0))
    assert np.isposinf(model.kkt_violation_).all()
    assert set(model.predict(X)) <= set(y)
