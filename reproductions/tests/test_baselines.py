"""The machines that the papers compare with."""

import numpy as np
import pytest
from reproductions.baselines import BASELINES, network, rbf_network, scores, spread
from sklearn.datasets import make_moons

X, y = make_moons(200, noise=0.1, random_state=0)
TRAIN, TEST = slice(0, 100), slice(100, 200)


@pytest.mark.parametrize("name", BASELINES)
def test_a_baseline_is_better_than_chance(name):
    (right,) = scores(name, X[TRAIN], y[TRAIN], X[TEST], y[TEST])
    assert right > 70.0


def test_networks_begin_with_other_weights_each_time():
    found = scores(network(2), X[TRAIN], y[TRAIN], X[TEST], y[TEST], repeats=3)
    assert len(set(found)) > 1
    assert spread(found).startswith(f"{np.mean(found):.1f} ± ")


def test_a_network_without_hidden_units_is_linear():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1.0, 1.0, (200, 2))
    xor = X[:, 0] * X[:, 1] > 0.0
    assert scores(network(0), X[TRAIN], xor[TRAIN], X[TEST], xor[TEST])[0] < 70.0
    assert scores(rbf_network(4.0, 20), X[TRAIN], xor[TRAIN], X[TEST], xor[TEST])[0] > 85.0


def test_bells_separate_what_lines_do_not():
    model = rbf_network(4.0, 20).fit(X[TRAIN], y[TRAIN])
    assert model.score(X[TEST], y[TEST]) > 0.95
