"""The augmented bias is a constant feature; no other form of the bias changes the kernel."""

import numpy as np

from adatron.problems import csvc, nusvc, nusvr, quantile, svr
from adatron.problems.problem import penalty
from twins import programs
from twins.primal import AUGMENT, BIASES, data, drawn


def test_only_the_augmented_bias_is_penalised():
    assert [penalty(bias, AUGMENT) for bias in BIASES] == [0.0, AUGMENT**2, 0.0]


@drawn()
def test_the_augmented_bias_is_one_more_feature(seed):
    K, y, C, _ = data(seed)
    inside, outside = csvc(y, C, "augmented", AUGMENT), csvc(y, C, "none")
    beta = programs.solve(K, inside, tol=1e-9)
    np.testing.assert_allclose(programs.solve(K + AUGMENT**2, outside, tol=1e-9), beta, atol=1e-7)


def test_every_problem_takes_the_bias_and_one_as_the_factor():
    y = np.array([1.0, -1.0])
    for make, rest in ((csvc, (y**2,)), (svr, (y**2, 0.1)), (quantile, (y**2, y**2)), (nusvc, (y**2, 0.5)),
                       (nusvr, (y**2, 0.5))):  # fmt: skip
        assert [make(y, *rest, bias, 3.0).lambda2 for bias in BIASES] == [0.0, 9.0, 0.0]
        assert make(y, *rest, "augmented").lambda2 == 1.0
