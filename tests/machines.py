"""The five estimators, and what makes two fitted ones the same; shared by several test files."""

import warnings
from dataclasses import replace

import numpy as np
import sklearn.svm
from scipy import sparse
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.datasets import make_classification, make_moons
from threadpoolctl import threadpool_info

import adatron

PARAMETERS = {
    "SVC": {"C": 2.0},
    "NuSVC": {"nu": 0.3},
    "SVR": {"C": 2.0, "epsilon": 0.2},
    "NuSVR": {"C": 2.0, "nu": 0.4},
    "OneClassSVM": {"nu": 0.2},
}
NAMES = list(PARAMETERS)
rng = np.random.default_rng(0)
X = rng.integers(-4, 5, (90, 5)) * (rng.random((90, 5)) < 0.6) * 1.0  # exact in every type of number


def four_classes(n=160):
    X, y = make_classification(
        n, 6, n_informative=4, n_redundant=0, n_classes=4, flip_y=0.2, weights=[0.4, 0.2, 0.2, 0.2], random_state=1
    )
    return X, np.array(["d", "b", "a", "c"])[y]


def two_moons(n=200):
    return make_moons(n, noise=0.35, random_state=0)


def ours(name, **parameters):
    return getattr(adatron, name)(**{**PARAMETERS[name], **parameters})


def theirs(name, **parameters):
    return getattr(sklearn.svm, name)(**{**PARAMETERS[name], **parameters})


def target(name, X):
    """Labels of three classes or numbers from dense rows; None where there are no targets."""
    if is_regressor(ours(name)):
        return np.sin(X[:, 0]) + 0.5 * X[:, 1]
    return np.digitize(X[:, 0] + 0.6 * X[:, 1], [-0.8, 0.8]) if is_classifier(ours(name)) else None


def blas_threads():
    return [lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"]


def locked(array):
    array = array.copy()
    array.setflags(write=False)
    return array


def values(model, rows):
    """Decision values, or the predictions of a regressor."""
    return getattr(model, "decision_function", model.predict)(rows)


def dense(values):
    return values.toarray() if sparse.issparse(values) else np.asarray(values)


def spread(model, n):
    """The coefficients of all samples, a row for each of the model's."""
    dual = dense(model.dual_coef_)
    found = np.zeros((len(dual), n))
    found[:, model.support_] = dual
    return found


def altered(model, **parts):
    """A machine like this one, with other parts in its model."""
    return model.with_model(replace(model.model_, **parts))


def assert_same(first, second):
    """Two models are the same to the last bit."""
    for attribute in (
        "_gamma",
        "support_",
        "n_support_",
        "dual_coef_",
        "intercept_",
        "duality_gap_",
        "dual_objective_",
    ):
        np.testing.assert_array_equal(dense(getattr(first, attribute)), dense(getattr(second, attribute)), attribute)


def assert_same_after(first, second, X_first, X_second):
    """And predict the same bits."""
    assert_same(first, second)
    np.testing.assert_array_equal(first.predict(X_first), second.predict(X_second))
    if hasattr(first, "decision_function"):
        np.testing.assert_array_equal(first.decision_function(X_first), second.decision_function(X_second))


def outcome(model, act):
    """The type and the text of the error and of the warnings when ``act`` is done with a copy of a model."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            act(clone(model))
        except Exception as error:
            return type(error), str(error), [str(w.message) for w in caught]
    return None, "", [str(w.message) for w in caught]
