"""A candidate's values are those after the learner has learned it, and the learner stays as it is."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from adatron import IncrementalSVC
from adatron.intervals.candidate import Candidates
from adatron.solvers.path import Homotopy, Stalled
from moments import at


@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
@pytest.mark.parametrize("classes", [2, 3])
def test_values_are_those_after_a_step(classes, multi_class):
    X, y = make_blobs(60, centers=[(0, 0), (2, 0), (1, 2)][:classes], random_state=0)
    model = IncrementalSVC(C=3.0, gamma=0.5, multi_class=multi_class, class_weight={0: 2.0}).fit(X, y)
    before, candidates = model.dual_coef_.copy(), Candidates(model.learner, model.class_weight_)
    for row in ([[0.5, 0.5]], [[5.0, 5.0]]):
        candidates.meet(np.array(row))
        for code in range(classes):
            other = IncrementalSVC(**model.get_params()).fit(X, y).partial_fit(row, [code])
            wanted = other.problem_values(np.vstack([X, row]))
            np.testing.assert_allclose(candidates.values(code), wanted, atol=1e-8)
    np.testing.assert_array_equal(model.dual_coef_, before)


def test_the_time_of_a_step_does_not_end_a_solution_from_nothing():
    X, y = make_blobs(60, centers=[(0, 0), (2, 0)], random_state=0)
    model = IncrementalSVC(C=3.0, gamma=0.5).fit(X, y)
    candidates = Candidates(model.learner, model.class_weight_)
    candidates.meet(np.array([[0.5, 0.5]]))
    wanted = candidates.values(1)

    def stalled(_):
        raise Stalled

    candidates.learner = model.set_params(max_time=1e-9).learner
    with at(Homotopy.including, stalled):
        np.testing.assert_allclose(candidates.values(1), wanted, atol=1e-8)
