"""The program of an epsilon-SVR against its primal problem: |w|^2 / 2 + sum C_i max(0, |y_i - f(x_i)| - epsilon)."""

import numpy as np
import pytest

from adatron.problems import svr
from twins.primal import AUGMENT, BIASES, data, drawn, function, least, solved


@drawn(bias=BIASES, epsilon=(0.0, 0.1, 0.5))
def test_strong_duality(seed, bias, epsilon):
    K, _, C, y = data(seed)
    beta, value = solved(K, svr(y, C, epsilon, bias, AUGMENT))
    f, half = function(K, beta, bias)
    kinks = np.concatenate([y - f - epsilon, y - f + epsilon]) if bias == "explicit" else [0.0]
    loss = least(lambda b: C @ np.maximum(0.0, np.abs(y - f - b) - epsilon), kinks)
    assert half + loss == pytest.approx(value, abs=1e-6)
