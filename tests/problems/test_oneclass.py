"""The program of a one-class SVM against its primal problem: |w|^2 / 2 + sum w_i max(0, rho - f(x_i)) - rho nu W."""

import numpy as np
import pytest

from adatron.problems import oneclass
from twins.primal import data, drawn, least, solved


@drawn(nu=(0.1, 0.5, 1.0))
def test_strong_duality(seed, nu):
    K, _, w, _ = data(seed)
    beta, value = solved(K, oneclass(w, nu))
    f = K @ beta
    loss = least(lambda rho: w @ np.maximum(0.0, rho - f) - rho * nu * w.sum(), f)
    assert 0.5 * beta @ f + loss == pytest.approx(value, abs=1e-6)
