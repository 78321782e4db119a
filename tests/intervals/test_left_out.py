"""Which machines have a path, and that a path and fits give the same models."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_moons

from adatron import SVC, SVR, NuSVC
from adatron.intervals.left_out import (
    Followed,
    LeftOutModels,
    Refitted,
    independent_of_samples,
    left_out_of,
)
from adatron.kernels import RBF
from adatron.learning import leave_out
from adatron.solvers.path import Stalled
from moments import at, raising

X, Y = make_moons(40, noise=0.3, random_state=0)
ALONE = list(np.arange(40)[:, None])


@pytest.mark.parametrize(
    ("machine", "wanted"),
    [
        (SVC(), False),
        (SVC(kernel="linear"), True),
        (SVC(gamma="auto"), True),
        (SVC(kernel=RBF(gamma=0.5)), True),
        (SVC(gamma=1.0, class_weight="balanced"), False),
        (SVC(gamma=1.0, C=np.inf), False),
        (SVR(gamma=1.0, bias="augmented", augment="auto"), False),
        (SVR(gamma=1.0, augment="auto"), True),
        (NuSVC(gamma=1.0), True),
    ],
    ids=str,
)
def test_nothing_else_may_depend_on_the_samples(machine, wanted):
    assert independent_of_samples(machine) is wanted


def test_models_of_a_path_are_those_of_fits():
    machine = SVC(C=3.0, gamma=1.0, tol=1e-9, gap_tol=1e-9)
    told = []
    path = left_out_of(machine, machine.fit(X, Y), X, Y, ALONE, lambda one, total: told.append(total))
    fits = Refitted.of(machine, X, Y, ALONE, lambda one, total: None)
    assert isinstance(path, Followed)
    assert isinstance(fits, LeftOutModels)
    assert set(told) == {len(told)}
    assert len(told) < 40 == len(fits.models)  # a sample that does not decide costs nothing
    np.testing.assert_allclose(path.values(X)[:, path.number], fits.values(X), atol=1e-7)
    for models in (path, fits):
        np.testing.assert_array_equal(models.own(X), models.values(X)[np.arange(40), models.number])


@pytest.mark.filterwarnings("ignore:Not certified")
def test_without_a_path_there_are_fits():
    sigmoid = SVC(kernel="sigmoid", gamma=0.1, coef0=-1.0)  # not convex
    found = left_out_of(sigmoid, sigmoid.fit(X, Y), X, Y, ALONE, lambda one, total: None)
    assert found.how == "fits"


def test_where_rounding_leaves_no_way_there_are_fits():
    machine = SVC(gamma=1.0)
    with at(leave_out.without, raising(Stalled)):
        found = left_out_of(machine, clone(machine).fit(X, Y), X, Y, ALONE, lambda one, total: None)
    assert found.how == "fits"


def test_a_violation_that_is_no_number_is_not_lost():
    class Unproven(SVC):
        kkt_violation_ = property(lambda self: np.nan if self.shape_fit_[0] == 20 else 1e-9)

    found = Refitted.of(
        Unproven(), X, Y, [np.arange(10), np.arange(10, 30), np.arange(30, 40)], lambda one, total: None
    )
    assert np.isnan(found.violation)
