"""What is wrong with a user's settings, steps or samples comes out as from scikit-learn's own search."""

import warnings

import numpy as np
import pytest
from sklearn import model_selection as theirs
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.datasets import make_classification
from sklearn.pipeline import Pipeline

from adatron import SVC, SVR, NuSVC
from adatron.selection import GridSearchCV

X, y = make_classification(60, 4, n_informative=3, n_redundant=0, n_classes=3, n_clusters_per_class=1, random_state=0)
TINY = X * 1e-170
GAPS = np.where(X > 2.0, np.nan, X)
NO_WEIGHT = np.repeat([0.0, 1.0], [40, 20])


class Breaks(TransformerMixin, BaseEstimator):
    """A step that fails where it is told to."""

    def __init__(self, where=None):
        self.where = where

    def __sklearn_is_fitted__(self):
        return True

    def fit(self, X, y=None):
        if self.where == "fit":
            raise RuntimeError("broken in fit")
        return self

    def transform(self, X):
        if self.where == "transform":
            raise KeyError("broken in transform")
        return X[:-1] if self.where == "rows" else X


PIPE = Pipeline([("step", Breaks()), ("svm", SVC(gamma=0.1))])
CASES = {
    "weights of 0": (SVC(gamma=0.1), {"class_weight": [None, {0: 0.0, 1: 0.0, 2: 0.0}]}, X, y, {}),
    "unknown class": (SVC(gamma=0.1), {"class_weight": [None, {7: 1.0}]}, X, y, {}),
    "ties": (SVC(gamma=0.1, decision_function_shape="ovo"), {"break_ties": [False, True]}, X, y, {}),
    "infeasible": (NuSVC(gamma=0.1), {"nu": [0.1, 1.0]}, X, np.minimum(y, 1), {}),
    "degree": (SVC(gamma=0.1), {"degree": [2, 2.5]}, X, y, {}),
    "unknown": (SVC(gamma=0.1), {"c": [1.0, 2.0]}, X, y, {}),
    "text": (SVC(gamma=0.1), {"C": [1.0, "a"]}, X, y, {}),
    "kernel": (SVC(gamma=0.1), {"kernel": ["rbf", "rfb"]}, X, y, {}),
    "too small": (SVC(), {"gamma": [0.1, "scale"]}, TINY, y, {}),
    "gaps": (SVC(gamma=0.1), {"C": [1.0, 2.0]}, GAPS, y, {}),
    "targets": (SVR(gamma=0.1), {"C": [1.0, 2.0]}, X, np.where(y > 1, np.inf, y), {}),
    "numbers for classes": (SVC(gamma=0.1), {"C": [1.0, 2.0]}, X, y + 0.5 * X[:, 0], {"cv": theirs.KFold(3)}),
    "no weight": (SVC(gamma=0.1), {"C": [1.0, 2.0]}, X, y, {"cv": [(np.arange(40), np.arange(40, 60))]}),
    "fit": (PIPE, {"step__where": [None, "fit"]}, X, y, {}),
    "transform": (PIPE, {"step__where": [None, "transform"], "svm__C": [1.0, 2.0]}, X, y, {}),
    "rows": (PIPE, {"step__where": [None, "rows"]}, X, y, {}),
}


def outcome(kind, estimator, grid, X, y, more, fit, error_score):
    """The scores, or what was raised."""
    search = kind(clone(estimator), grid, refit=False, error_score=error_score, **{"cv": 3, **more})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return search.fit(X, y, **fit).cv_results_["mean_test_score"]
        except Exception as error:
            return error


@pytest.mark.parametrize("error_score", [np.nan, -7.0, "raise"])
@pytest.mark.parametrize("name", CASES)
def test_errors_are_those_of_scikit_learn(name, error_score):
    estimator, grid, given, labels, more = CASES[name]
    fit = {"sample_weight": NO_WEIGHT} if name == "no weight" else {}
    ours, plain = (
        outcome(kind, estimator, grid, given, labels, more, fit, error_score)
        for kind in (GridSearchCV, theirs.GridSearchCV)
    )
    if isinstance(plain, Exception):
        assert type(ours) is type(plain)
        assert str(ours).splitlines()[:2] == str(plain).splitlines()[:2]
    else:
        np.testing.assert_allclose(ours, plain, atol=1e-9)
