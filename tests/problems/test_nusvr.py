"""The program of a nu-SVR against its primal problem, whose variable epsilon is the half width of the tube:

|w|^2 / 2 + sum C_i max(0, |y_i - f(x_i)| - epsilon) + epsilon nu sum C.
"""

import numpy as np
import pytest

from adatron.problems import nusvr
from twins.primal import AUGMENT, BIASES, data, drawn, function, least, solved


@drawn(bias=BIASES, nu=(0.1, 0.4, 0.9))
def test_strong_duality(seed, bias, nu):
    K, _, C, y = data(seed)
    dual = nusvr(y, C, nu, bias, AUGMENT)
    both, value = solved(np.tile(K, (2, 2)), dual)
    beta = both[: len(y)] + both[len(y) :]
    f, half = function(K, beta, bias)
    rest, total = y - f, nu * C.sum()
    if bias == "explicit":  # the tube's upper and lower edge, epsilon + b and epsilon - b, are two variables
        above = least(lambda p: C @ np.maximum(0.0, rest - p) + 0.5 * total * p, rest)
        below = least(lambda q: C @ np.maximum(0.0, -rest - q) + 0.5 * total * q, -rest)
        loss = above + below
    else:
        sides = np.concatenate([rest, -rest])
        loss = least(lambda e: np.tile(C, 2) @ np.maximum(0.0, sides - e) + total * e, sides)
    assert half + loss == pytest.approx(value, abs=1e-6)
