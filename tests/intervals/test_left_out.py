"""Which machines have a path, and that a path and fits give the same models."""

import numpy as np
import pytest
from sklearn.datasets import make_moons

from adatron import SVC, SVR, NuSVC
from adatron.intervals.left_out import Followed, LeftOutModels, Refitted, fixed, left_out_of, machine_in
from adatron.kernels import RBF

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
    assert fixed(machine) is wanted


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


@pytest.mark.filterwarnings("ignore:Not certified")
def test_without_a_path_there_are_fits():
    sigmoid = SVC(kernel="sigmoid", gamma=0.1, coef0=-1.0)  # not convex
    found = left_out_of(sigmoid, sigmoid.fit(X, Y), X, Y, ALONE, lambda one, total: None)
    assert found.how == "fits"


def test_only_machines_of_this_library():
    assert machine_in(SVR()).C == 1.0
    with pytest.raises(ValueError, match="classifier or regressor of adatron"):
        machine_in(3)
