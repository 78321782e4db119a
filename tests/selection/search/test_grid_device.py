"""A search of large fits moves its rows to the device once; one of small fits shares values on the processor."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import GridSearchCV as PlainSearch
from sklearn.model_selection import LeaveOneOut

from adatron import SVC, NuSVC
from adatron.selection import GridSearchCV

torch = pytest.importorskip("torch", reason="needs the extra gpu")
from twins.devices import plain  # noqa: E402

X, y = make_classification(120, 5, flip_y=0.1, random_state=0)
GRID = {"C": [0.1, 1.0, 10.0], "gamma": [0.05, 0.5]}


@pytest.mark.parametrize("machine", [SVC, NuSVC])
@pytest.mark.parametrize("classes", [2, 3])
def test_a_search_on_a_device_has_the_results_of_the_plain_grid(machine, classes):
    rows, labels = make_classification(
        150, 5, n_informative=4, n_redundant=0, n_classes=classes, flip_y=0.1, random_state=1
    )
    grid = {"C": [0.5, 5.0], "gamma": [0.1, 0.5]} if machine is SVC else {"nu": [0.1, 0.3], "gamma": [0.1, 0.5]}
    found, other, theirs = (
        kind(machine(device=place, cache_size=1), grid, cv=3).fit(rows, labels)  # with more, kernels go side by side
        for kind, place in ((GridSearchCV, plain()), (GridSearchCV, None), (PlainSearch, None))
    )
    for one in (other, theirs):
        assert np.array_equal(found.cv_results_["mean_test_score"], one.cv_results_["mean_test_score"])
        assert found.best_params_ == one.best_params_


def test_rows_are_moved_once_for_all_problems(monkeypatch):
    moved, real = [], torch.from_numpy

    def counting(array):
        if array.ndim == 2 and array.shape[1] == 5 and len(array) > 100:
            moved.append(array.shape)
        return real(array)

    monkeypatch.setattr(torch, "from_numpy", counting)
    GridSearchCV(SVC(device=plain(), cache_size=1), GRID, cv=3, refit=False).fit(X, y)
    assert moved == [(120, 5)]


def test_small_fits_share_values_on_the_processor():
    found, other = (GridSearchCV(SVC(device=place), GRID, cv=3).fit(X, y) for place in (plain(fit=1e12), None))
    assert np.array_equal(found.cv_results_["mean_test_score"], other.cv_results_["mean_test_score"])
    assert found.best_estimator_.route_.device == ""


def test_scores_are_those_without_a_device_and_the_last_fit_is_on_it():
    found, other = (GridSearchCV(SVC(device=place), GRID, cv=3).fit(X, y) for place in (plain(), None))
    assert np.array_equal(found.cv_results_["mean_test_score"], other.cv_results_["mean_test_score"])
    assert found.best_params_ == other.best_params_
    assert found.best_estimator_.route_.device == "twin"
    assert other.best_estimator_.route_.device == ""


@pytest.mark.parametrize("fit", [0.0, 1e12])
@pytest.mark.parametrize("cv", [3, LeaveOneOut()], ids=str)
def test_kernels_that_no_device_evaluates_cost_their_candidates(fit, cv):
    grid = {"kernel": ["rbf", "laplacian"]}
    with pytest.warns(FitFailedWarning):
        search = GridSearchCV(SVC(gamma=0.2, device=plain(fit=fit)), grid, cv=cv).fit(X[:40], y[:40])
    assert np.isnan(search.cv_results_["mean_test_score"]).tolist() == [False, True]


def test_tensors_are_searched_as_arrays():
    how = SVC(device=plain()), GRID
    found, other = (GridSearchCV(*how, cv=3).fit(rows, y) for rows in (torch.from_numpy(X), X))
    assert np.array_equal(found.cv_results_["mean_test_score"], other.cv_results_["mean_test_score"])
