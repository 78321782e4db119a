"""The display of a search draws what the search found."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy.stats import loguniform
from sklearn import model_selection as theirs
from sklearn.datasets import make_moons
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from adatron import SVC, SVR
from adatron.plots.search import SearchDisplay
from adatron.selection import GridSearchCV

X, y = make_moons(60, noise=0.25, random_state=0)
GRID = {"C": [0.1, 1.0, 10.0], "gamma": [0.01, 0.1, 1.0, 10.0]}


@pytest.fixture(scope="module")
def search():
    return GridSearchCV(SVC(), GRID, cv=3).fit(X, y)


def changed(search, **columns):
    """A search with other results."""
    copy = theirs.GridSearchCV(search.estimator, search.param_grid)
    copy.cv_results_ = search.cv_results_ | columns
    return copy


def labels(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


def test_a_grid_is_a_map(search):
    display = SearchDisplay.from_search(search)
    assert (display.names, display.values) == (("gamma", "C"), (GRID["gamma"], GRID["C"]))
    np.testing.assert_array_equal(display.scores.ravel(), search.cv_results_["mean_test_score"])
    np.testing.assert_array_equal(display.mesh_.get_array(), display.scores)
    assert display.mesh_.colorbar.ax.get_ylabel() == "mean accuracy"
    assert display.text_[1, 2].get_text() == f"{display.scores[1, 2]:.3f}"
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("gamma", "C")
    assert [text.get_text() for text in display.ax_.get_yticklabels()] == ["0.1", "1", "10"]
    assert display.figure_ is display.ax_.figure
    assert display.scores[display.best] == search.best_score_
    assert display.ax_.get_title().startswith(f"best accuracy {search.best_score_:.4g}")


def test_values_are_written_as_short_as_they_are():
    search = GridSearchCV(SVC(), {"C": [10.0, 1000.0, 123456.0], "gamma": [1e-5, 0.0004, 0.25]}, cv=2).fit(X, y)
    ax = SearchDisplay.from_search(search).ax_
    assert [text.get_text() for text in ax.get_yticklabels()] == ["10", "1000", "123000"]
    assert [text.get_text() for text in ax.get_xticklabels()] == ["1e-05", "0.0004", "0.25"]


def test_axes_may_be_given_or_chosen(search):
    figure, ax = plt.subplots()
    display = SearchDisplay.from_search(search, x="C", y="gamma", ax=ax)
    assert (display.ax_, display.figure_) == (ax, figure)
    assert display.scores.shape == (4, 3)
    assert display.plot().ax_ is not ax


def test_no_score_a_doubt_and_a_proof_are_seen(search):
    means = search.cv_results_["mean_test_score"].copy()
    means[[0, 5]] = np.nan
    display = SearchDisplay.from_search(
        changed(search, mean_test_score=means, proven=np.arange(12) == 1, converged=np.arange(12) != 2)
    )
    assert np.isnan(display.scores).sum() == 2
    assert np.ma.getmaskarray(display.mesh_.get_array()).sum() == 2
    assert display.text_[0, 0] is None
    assert {"no score", "score final at any tolerance", "not converged", "best"} <= set(labels(display))
    assert (display.proven.sum(), display.doubtful.sum()) == (1, 1)


@pytest.mark.parametrize(
    ("best", "edge"),
    [(0, {"C": "smallest", "gamma": "smallest"}), (5, {}), (9, {"C": "largest"}), (7, {"gamma": "largest"})],
)
def test_the_edge_is_marked(search, best, edge):
    display = SearchDisplay.from_search(changed(search, mean_test_score=np.where(np.arange(12) == best, 0.9, 0.5)))
    assert display.at_edge == edge
    assert ("edge of the grid" in labels(display)) == bool(edge)
    assert all(f"the {word} {name}" in display.ax_.get_title() for name, word in edge.items())


def test_one_parameter_is_a_line_with_error_bars(search):
    one = GridSearchCV(SVR(), {"C": [0.1, 1.0, 10.0]}, cv=3).fit(X, y.astype(float))
    for display in (SearchDisplay.from_search(one), SearchDisplay.from_search(search, x="C")):
        points = display.line_.lines[0]
        np.testing.assert_array_equal(points.get_xdata(), [0.1, 1.0, 10.0])
        np.testing.assert_array_equal(points.get_ydata(), display.scores[0])
        assert display.ax_.get_xscale() == "log"
    assert display.others == ("gamma",)
    assert "best over gamma" in display.ax_.get_title()
    np.testing.assert_array_equal(display.scores[0], search.cv_results_["mean_test_score"].reshape(3, 4).max(axis=1))


def test_values_that_are_no_numbers_have_places():
    grid = {"svc__class_weight": [None, "balanced", {0: 2.0}], "svc__gamma": [0.1, "scale"]}
    pipeline = make_pipeline(StandardScaler(), SVC())
    search = theirs.GridSearchCV(pipeline, grid, cv=3, scoring=["accuracy", "f1"], refit="f1").fit(X, y)
    display = SearchDisplay.from_search(search, metric="accuracy")
    assert display.names == ("svc__gamma", "svc__class_weight")
    assert [text.get_text() for text in display.ax_.get_xticklabels()] == ["0.1", "scale"]
    assert [text.get_text() for text in display.ax_.get_yticklabels()] == ["None", "balanced", "{0: 2.0}"]
    assert display.ax_.get_xlabel() == "gamma"
    display = SearchDisplay.from_search(search, x="svc__class_weight")
    assert len(display.line_.lines[0].get_xdata()) == 3


def test_drawn_parameters_are_points():
    draws = {"C": loguniform(0.1, 100), "gamma": loguniform(0.01, 10)}
    search = theirs.RandomizedSearchCV(SVC(), draws, n_iter=12, cv=3, random_state=0).fit(X, y)
    display = SearchDisplay.from_search(search)
    assert len(display.points_.get_offsets()) == 12
    assert (display.ax_.get_xscale(), display.ax_.get_yscale()) == ("log", "log")


def test_more_parameters_show_the_best_over_the_others():
    grid = {"C": [0.1, 1.0], "gamma": [0.1, 1.0], "kernel": ["rbf", "laplacian"]}
    search = theirs.GridSearchCV(SVC(), grid, cv=3).fit(X, y)
    display = SearchDisplay.from_search(search)
    np.testing.assert_array_equal(display.scores, search.cv_results_["mean_test_score"].reshape(2, 2, 2).max(axis=2))
    assert display.others == ("kernel",)
    assert SearchDisplay.from_search(search, x="kernel", y="C").names == ("kernel", "C")


def test_a_search_without_any_score(search):
    display = SearchDisplay.from_search(changed(search, mean_test_score=np.full(12, np.nan)))
    assert display.best is None
    assert labels(display) == ["no score"]


def test_the_best_candidate_outside_the_axes_is_named():
    """In a list of grids the best candidate may have none of the parameters on the axes."""
    grids = [{"kernel": ["linear"], "C": [1e-4, 2e-4]}, {"kernel": ["poly"], "degree": [2, 3], "coef0": [0.5, 1.0]}]
    search = GridSearchCV(SVC(gamma="auto"), grids, cv=3).fit(X, y)
    scores = np.where(np.arange(6) == 1, 0.97531, 0.5)
    search.cv_results_["mean_test_score"] = scores
    search.cv_results_["rank_test_score"] = np.where(scores > 0.9, 1, 2)
    display = SearchDisplay.from_search(search, "degree", "coef0")
    assert display.best is None
    assert display.outside == {"kernel": "linear", "C": 2e-4}
    title = " ".join(display.ax_.get_title().split())
    assert "best accuracy 0.9753 is not on these axes: C 0.0002, kernel linear" in title
    inside = SearchDisplay.from_search(search, "C")
    assert inside.outside == {}
    assert "best accuracy 0.9753" in inside.ax_.get_title()
    assert "not on these axes" not in inside.ax_.get_title()
