"""A search shares kernel values on the processor; its last fit takes the device."""

import numpy as np
import pytest
from sklearn.datasets import make_classification

from adatron import SVC
from adatron.selection import GridSearchCV

torch = pytest.importorskip("torch", reason="needs the extra gpu")
from twins.devices import plain  # noqa: E402

X, y = make_classification(120, 5, flip_y=0.1, random_state=0)
GRID = {"C": [0.1, 1.0, 10.0], "gamma": [0.05, 0.5]}


def test_scores_are_those_without_a_device_and_the_last_fit_is_on_it():
    found, other = (GridSearchCV(SVC(device=place), GRID, cv=3).fit(X, y) for place in (plain(), None))
    assert np.array_equal(found.cv_results_["mean_test_score"], other.cv_results_["mean_test_score"])
    assert found.best_params_ == other.best_params_
    assert found.best_estimator_.route_.device == "twin"
    assert other.best_estimator_.route_.device == ""


def test_tensors_are_searched_as_arrays():
    how = SVC(device=plain()), GRID
    found, other = (GridSearchCV(*how, cv=3).fit(rows, y) for rows in (torch.from_numpy(X), X))
    assert np.array_equal(found.cv_results_["mean_test_score"], other.cv_results_["mean_test_score"])
