"""The program of a ball against its primal problem: R^2 + C sum max(0, |phi(x_i) - c|^2 - R^2)."""

import numpy as np
import pytest

from adatron.problems import ball
from twins.primal import data, drawn, least, solved


@drawn(C=(0.1, 0.3, np.inf), kernel=("rbf", "linear"))
def test_strong_duality(seed, C, kernel):
    K, y, w, _ = data(seed)
    K = K if kernel == "rbf" else np.outer(w, w) + np.outer(y, y)
    beta, value = solved(K, ball(np.diagonal(K), C))
    squares = np.diagonal(K) - 2.0 * K @ beta + beta @ K @ beta  # of the distances from the centre
    if C >= 1.0:  # all points are inside
        assert squares.max() == pytest.approx(2.0 * value, abs=1e-6)
    else:
        loss = least(lambda square: square + C * np.maximum(0.0, squares - square).sum(), squares)
        assert loss == pytest.approx(2.0 * value, abs=1e-6)


@drawn(C=(0.2, 0.5, 2.0), kernel=("rbf", "linear"))
def test_negatives_are_to_lie_outside(seed, C, kernel):
    K, y, w, _ = data(seed)
    y[:6] = 1.0
    K = K if kernel == "rbf" else np.outer(w, w) + np.outer(y, y)
    beta, value = solved(K, ball(np.diagonal(K), C, y))
    squares = np.diagonal(K) - 2.0 * K @ beta + beta @ K @ beta
    loss = least(lambda square: square + C * np.maximum(0.0, y * (squares - square)).sum(), squares)
    assert loss == pytest.approx(2.0 * value, abs=1e-6)


def test_without_negatives_no_bound_above_one_has_an_effect():
    for C in (1.0, 5.0, np.inf):
        assert ball(np.ones(2), C, np.ones(2)).upper.tolist() == [1.0, 1.0]
