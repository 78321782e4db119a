"""Successive halving with shared fits has scikit-learn's results."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification, make_regression
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer
from sklearn.model_selection import KFold
from sklearn.model_selection._search_successive_halving import HalvingGridSearchCV as Theirs
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from adatron import SVC, SVR
from adatron.selection import HalvingGridSearchCV

X, y = make_classification(180, 5, n_informative=4, n_redundant=0, flip_y=0.1, random_state=0)
NUMBERS = make_regression(180, 5, noise=20.0, random_state=0)
GRID = {"C": [0.1, 1.0, 10.0, 100.0], "gamma": [0.05, 0.5, 5.0]}


def named(grid, prefix):
    return {prefix + name: values for name, values in grid.items()}


@pytest.mark.parametrize(
    ("estimator", "grid", "data", "more"),
    [
        (SVC(tol=1e-6), GRID, (X, y), {}),
        (SVC(tol=1e-6), GRID, (X, y), {"min_resources": 40, "factor": 2, "aggressive_elimination": True}),
        (SVR(tol=1e-6), {"C": [1.0, 10.0, 100.0], "gamma": [0.05, 0.5]}, NUMBERS, {"cv": KFold(3)}),
        (make_pipeline(StandardScaler(), SVC(tol=1e-6)), named(GRID, "svc__"), (X, y), {"scoring": "roc_auc"}),
        (LogisticRegression(), {"C": [0.1, 1.0, 10.0]}, (X, y), {}),
    ],
)
def test_the_results_are_those_of_scikit_learn(estimator, grid, data, more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        ours, plain = (
            kind(clone(estimator), grid, random_state=0, **more).fit(*data) for kind in (HalvingGridSearchCV, Theirs)
        )
    assert isinstance(ours, Theirs)
    for name in ("n_resources_", "n_candidates_", "n_iterations_", "best_params_", "best_index_"):
        assert getattr(ours, name) == getattr(plain, name)
    assert ours.best_score_ == pytest.approx(plain.best_score_, abs=1e-4)
    for name, values in plain.cv_results_.items():
        if "score" in name and "time" not in name and "rank" not in name:
            np.testing.assert_allclose(ours.cv_results_[name], values, atol=1e-3, rtol=1e-3)
    assert ours.get_params(deep=False).keys() == plain.get_params(deep=False).keys()
    assert ours.cv_results_["iter"].tolist() == plain.cv_results_["iter"].tolist()
    if not isinstance(estimator, LogisticRegression):
        assert ours.cv_results_["converged"].all()


def test_ctrl_c_leaves_no_result():
    def stop(y_true, y_pred):
        raise KeyboardInterrupt

    search = HalvingGridSearchCV(SVC(), GRID, scoring=make_scorer(stop), random_state=0)
    with pytest.raises(KeyboardInterrupt):
        search.fit(X, y)
    assert not hasattr(search, "cv_results_")
