"""Violations of the conditions against their definition."""

import numpy as np
import pytest

from adatron.certificates import kkt_violation
from adatron.problems import csvc, nusvc, svr
from twins import programs
from twins.primal import BIASES, data, drawn

PROGRAMS = {
    "csvc": lambda y, w, t, bias: csvc(y, w, bias, 0.7),
    "svr": lambda y, w, t, bias: svr(t, w, 0.1, bias, 0.7),
    "nusvc": lambda y, w, t, bias: nusvc(y, w, 0.3, bias, 0.7),
}


@drawn(name=tuple(PROGRAMS), bias=BIASES, part=(0.0, 0.3, 1.0))
def test_violations_are_those_of_the_definition(seed, name, bias, part):
    K, y, w, t = data(seed)
    dual = PROGRAMS[name](y, w, t, bias)
    beta = np.where(np.random.default_rng(seed).random(len(y)) < 0.5, part * dual.upper, 0.5 * part * dual.lower)
    g = programs.gradient(K, dual, beta)
    found = kkt_violation(dual, beta, g)
    assert found == pytest.approx(programs.kkt(K, dual, beta))
    errors = np.full(len(y), 0.1)
    rng = np.random.default_rng(seed)
    for _ in range(5):  # an upper bound of what is true of any gradient within the errors
        near = g + errors * rng.uniform(-1, 1, len(y))
        assert kkt_violation(dual, beta, g, errors) >= kkt_violation(dual, beta, near)
    solution = programs.solve(K, dual, tol=1e-9)
    assert kkt_violation(dual, solution, programs.gradient(K, dual, solution)) <= 1.1e-9
