"""Probabilities in the documented way: scikit-learn's CalibratedClassifierCV around these classifiers."""

import numpy as np
import pytest
import sklearn.svm
from scipy import sparse
from sklearn.calibration import CalibratedClassifierCV

from adatron import SVC, NuSVC
from machines import four_classes, two_moons


@pytest.mark.slow
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("data", [two_moons, four_classes])
@pytest.mark.parametrize("weighted", [False, True])
def test_calibrated_classifier_cv_gives_what_it_gives_around_scikit_learn(container, data, weighted):
    X, y = data()
    weight = np.random.default_rng(0).uniform(0.5, 2.0, len(y)) if weighted else None
    ours, theirs = (
        CalibratedClassifierCV(kind(C=2.0, gamma=0.5, tol=1e-6), ensemble=False).fit(container(X), y, weight)
        for kind in (SVC, sklearn.svm.SVC)
    )
    np.testing.assert_array_equal(ours.classes_, theirs.classes_)
    np.testing.assert_allclose(ours.predict_proba(container(X)), theirs.predict_proba(container(X)), atol=1e-3)


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_calibrated_classifier_cv_of_nu_svc(method):
    X, y = four_classes()
    ours, theirs = (
        CalibratedClassifierCV(kind(nu=0.3, tol=1e-7), ensemble=False, method=method).fit(X, y)
        for kind in (NuSVC, sklearn.svm.NuSVC)
    )
    difference = np.abs(ours.predict_proba(X) - theirs.predict_proba(X))
    assert np.mean(difference) < 1e-3  # a step of the isotonic regression may move by a sample
