"""A small model of three classes, and its file."""

import pytest
from sklearn.datasets import make_classification

from adatron import SVC
from adatron.files import save
from adatron.kernels import RBF


@pytest.fixture(scope="module")
def problem():
    return make_classification(90, 5, n_informative=4, n_classes=3, n_redundant=0, random_state=1)


@pytest.fixture(scope="module")
def model(problem):
    X, y = problem
    return SVC(C=3.0, class_weight={0: 2.0}, kernel=RBF(0.2)).fit(X, y)


@pytest.fixture
def path(model, tmp_path):
    target = tmp_path / "m.adatron"
    save(model, target)
    return target
