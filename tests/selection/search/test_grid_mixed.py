"""Candidates share only what is equal for them: tasks, bounds, folds of one sample, and the steps of a pipeline."""

import numpy as np
import pytest
from sklearn import model_selection as theirs
from sklearn.datasets import make_moons
from sklearn.metrics import make_scorer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from adatron import SVC, SVR, NuSVC, NuSVR, OneClassSVM
from adatron.selection import GridSearchCV, RandomizedSearchCV
from searches import both, same_scores

TIGHT = {"tol": 1e-8}
X, labels = make_moons(60, noise=0.25, random_state=0)
y = 2 * labels - 1  # a target that machines of all tasks take
FEW, OF_FEW = make_moons(20, noise=0.2, random_state=1)


def weighed(y, values):
    """Score values of a machine of any task; no label hides a difference."""
    return float(np.tanh(values) @ np.cos(np.arange(len(y))))


VALUES = make_scorer(weighed, response_method=("decision_function", "predict"))


def compare(estimator, grid, X=X, y=y, fit=None, **settings):
    """Compare all scores with those of scikit-learn's search over the same machines."""
    settings = {"cv": 3, "scoring": VALUES, "refit": False, **settings}
    ours, plain = (one.cv_results_ for one in both(estimator, grid, X, y, fit, **settings))
    same_scores(ours, plain, 1e-4)
    return ours


@pytest.mark.parametrize("first", [SVC, SVR, OneClassSVM])
@pytest.mark.parametrize("steps", [[], [("scale", StandardScaler())]])
def test_machines_of_several_tasks(first, steps):
    machines = [kind(gamma=1.0, **TIGHT) for kind in (first, OneClassSVM, SVR, SVC, NuSVR, NuSVC)]
    pipeline = Pipeline([*steps, ("svm", first())])
    found = compare(pipeline, [{"svm": machines}, {"svm": [SVR(gamma=0.5, **TIGHT)], "svm__C": [0.1, 10.0]}])
    assert found["converged"].all()


@pytest.mark.parametrize("machine", [SVC, SVR])
@pytest.mark.parametrize("bias", ["explicit", "augmented", "none"])
def test_infinite_bounds_beside_finite_ones(machine, bias):
    """No sample is on the wrong side, or outside the tube, so that a hard margin exists."""
    more = {"epsilon": 0.3} if machine is SVR else {}
    separable = X + 2.0 * np.outer(y, [0.0, 1.0])
    grid = {"C": [np.inf, 1e-9, 1.0, np.inf, 1e9], "gamma": [10.0]}
    assert compare(machine(bias=bias, **more, **TIGHT), grid, separable)["converged"].all()


@pytest.mark.parametrize(
    "grid",
    [
        {"class_weight": [None, "balanced"], "gamma": [0.5]},
        {"gamma": [0.5, "scale"]},
        {"C": [1.0, np.inf], "gamma": [100.0]},
    ],
)
def test_one_sample_left_out_of_settings_that_have_no_path(grid):
    rows = np.flatnonzero((OF_FEW == 1) | (np.arange(20) % 3 == 0))  # classes of two sizes
    compare(SVC(**TIGHT), grid, FEW[rows], OF_FEW[rows], cv=theirs.LeaveOneOut(), scoring=None)


def test_steps_whose_names_change_their_places():
    """The parameters of the first step begin with the name of the machine of other candidates."""
    other = [("svm", MinMaxScaler()), ("end", SVC(gamma=1.0, **TIGHT))]
    grid = {"steps": [other], "svm__feature_range": [(0, 1), (0, 20)]}
    found = compare(Pipeline([("scale", StandardScaler()), ("svm", SVC())]), grid)
    assert found["split0_test_score"][0] != found["split0_test_score"][1]


@pytest.mark.parametrize("kind", ["pandas", "numbered", "polars"])
@pytest.mark.parametrize("search", [GridSearchCV, RandomizedSearchCV])
def test_kernel_values_in_a_frame(search, kind):
    """The folds are those of an array, and the best machine knows the names of the columns."""
    library = pytest.importorskip("polars" if kind == "polars" else "pandas")
    K, named = X @ X.T, [f"sample {i}" for i in range(len(X))]
    frame = library.DataFrame(K if kind == "numbered" else dict(zip(named, K, strict=True)))
    more = {"n_iter": 3} if search is RandomizedSearchCV else {}

    def made():
        return search(SVC(kernel="precomputed", **TIGHT), {"C": [0.1, 1.0, 10.0]}, cv=3, error_score="raise", **more)

    plain, found = made().fit(K, labels), made().fit(frame, labels)
    np.testing.assert_array_equal(found.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"])
    np.testing.assert_array_equal(found.decision_function(frame), plain.decision_function(K))
    if kind != "numbered":
        assert found.feature_names_in_.tolist() == named
