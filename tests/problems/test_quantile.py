"""The program of quantile regression against its primal problem: |w|^2 / 2 and the pinball losses."""

import numpy as np
import pytest

from adatron.problems import quantile
from twins.primal import AUGMENT, BIASES, data, drawn, function, least, solved


@drawn(bias=BIASES, tau=(0.05, 0.5, 0.8))
def test_strong_duality(seed, bias, tau):
    K, _, C, y = data(seed)
    beta, value = solved(K, quantile(y, (1.0 - tau) * C, tau * C, bias, AUGMENT))
    f, half = function(K, beta, bias)

    def loss(b):
        error = y - f - b
        return C @ np.maximum(tau * error, (tau - 1.0) * error)

    assert half + least(loss, y - f if bias == "explicit" else [0.0]) == pytest.approx(value, abs=1e-6)
