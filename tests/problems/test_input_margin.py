"""The program with targets of different sizes against its primal problem: sample i asks for y_i f(x_i) >= size_i."""

import numpy as np
import pytest

from adatron.problems import csvc, with_targets
from twins.primal import AUGMENT, BIASES, data, drawn, function, least, solved


@drawn(bias=BIASES, slack=("feature", "input"))
def test_strong_duality(seed, bias, slack):
    K, y, C, _ = data(seed)
    size = np.random.default_rng(seed).uniform(0.2, 3.0, len(y))
    beta, value = solved(K, with_targets(csvc(y, C, bias, AUGMENT), size, slack))
    f, half = function(K, beta, bias)
    kinks = y * size - f if bias == "explicit" else [0.0]
    C = C / size if slack == "input" else C
    assert half + least(lambda b: C @ np.maximum(0.0, size - y * (f + b)), kinks) == pytest.approx(value, abs=1e-6)
