"""Kernel functions as scikit-learn's classes take them; the list of exceptions is not longer than needed."""

from pathlib import Path
from types import FunctionType

import numpy as np
import pytest
import sklearn.svm
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.svm._base import BaseLibSVM

from adatron import SVC
from compat.drop_in import CLASSES, MODULES, load
from compat.exceptions import EXCEPTIONS
from processes import python

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


HERE = Path(__file__).parent


@pytest.mark.slow
def test_every_exception_names_a_test():
    files = [HERE / f"{name}.py" for name in (*MODULES, "test_search")]
    collected = python(
        "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", *files, cwd=HERE.parents[1]
    ).stdout
    names = {line.removeprefix("tests/compat/") for line in collected.splitlines() if "::" in line}
    assert len(names) > 200
    assert set(EXCEPTIONS) <= names


def everything(value):
    """A value and what is inside it: containers, parametrized arguments."""
    yield value
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for item in value:
            yield from everything(item)
    for mark in getattr(value, "pytestmark", []) if isinstance(value, FunctionType) else []:
        yield from everything(mark.args)


@pytest.mark.parametrize("name", ["test_svm", "test_sparse"])
def test_all_classes_are_ours(name):
    module = load(name)
    for value in everything(vars(module)):
        kind = value if isinstance(value, type) else type(value)
        assert not issubclass(kind, BaseLibSVM), value
    assert {one: getattr(module.svm, one) for one in CLASSES} == CLASSES
