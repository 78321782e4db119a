"""Kernel functions: of rows of numbers, dense and sparse, and of anything else, as scikit-learn's classes take them."""

import numpy as np
import pytest
import sklearn.svm
from numpy.testing import assert_allclose, assert_array_equal

from adatron import SVC
from compat.drop_in import CLASSES

WORDS = ["banana", "band", "bandana", "cab", "cabin", "dab", "nab", "ban", "cabana", "and"]
TARGET = np.array([1, 1, 1, 0, 0, 0, 0, 1, 0, 1])


def shared_letters(A, B):
    """Number of common letters, counted together."""
    return np.array([[sum(min(a.count(c), b.count(c)) for c in set(a)) for b in B] for a in A], float)


def lengths(A, B):
    return np.array([[min(len(a), len(b)) for b in B] for a in A], float)


def near(A, B):
    return np.exp(-5 * np.subtract.outer(A, B) ** 2)


SAMPLES = {
    "texts": (WORDS, shared_letters),
    "array of texts": (np.array(WORDS), shared_letters),
    "lists of different lengths": ([[1] * n for n in range(1, 11)], lengths),
    "numbers": (np.linspace(-1, 1, 10), near),
}


@pytest.mark.parametrize("case", SAMPLES)
@pytest.mark.parametrize("name", CLASSES)
def test_samples_that_are_no_rows(name, case):
    X, kernel = SAMPLES[case]
    ours, theirs = CLASSES[name](kernel=kernel, tol=1e-8), getattr(sklearn.svm, name)(kernel=kernel, tol=1e-8)
    if name == "NuSVC":
        ours.set_params(nu=0.3), theirs.set_params(nu=0.3)
    for model in (ours, theirs):
        model.fit(X, TARGET)
    values = "predict" if "SVR" in name else "decision_function"
    assert_allclose(getattr(ours, values)(X[2:5]), getattr(theirs, values)(X[2:5]), atol=1e-5)
    assert_array_equal(ours.support_vectors_.shape, theirs.support_vectors_.shape)
    assert ours.kkt_violation_ <= ours.tol


def test_a_refit_on_rows_forgets_the_texts():
    model = SVC(kernel=shared_letters).fit(WORDS, TARGET)
    X = np.arange(10.0)[:, None]
    model.set_params(kernel=lambda A, B: A @ B.T).fit(X, TARGET)
    assert model.predict(X[:3]).shape == (3,)
    assert model.support_vectors_.shape[1] == 1
