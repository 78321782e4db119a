"""The program of a C-SVC against its primal problem: |w|^2 / 2 + sum C_i max(0, 1 - y_i f(x_i))."""

import numpy as np
import pytest

from adatron.problems import csvc
from twins.primal import AUGMENT, BIASES, data, drawn, function, least, solved


@drawn(bias=BIASES)
def test_strong_duality(seed, bias):
    K, y, C, _ = data(seed)
    beta, value = solved(K, csvc(y, C, bias, AUGMENT))
    f, half = function(K, beta, bias)
    kinks = y - f if bias == "explicit" else [0.0]
    assert half + least(lambda b: C @ np.maximum(0.0, 1.0 - y * (f + b)), kinks) == pytest.approx(value, abs=1e-6)


def test_a_hard_margin_has_no_bound_on_the_side_of_the_label():
    dual = csvc(np.array([1.0, -1.0]), np.full(2, np.inf))
    assert dual.hard_margin
    np.testing.assert_array_equal([dual.lower, dual.upper], [[0.0, -np.inf], [np.inf, 0.0]])
