"""Searches that share kernel matrices have the results of scikit-learn's searches over the same estimators.

Also tested here: ``cells``, ``evaluate``, ``programs``, ``rows``, ``scoring`` and ``solve``.
"""

import signal
import threading
import warnings
from contextlib import suppress

import numpy as np
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn import model_selection as theirs
from sklearn import svm as libsvm
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine, make_classification, make_regression
from sklearn.exceptions import ConvergenceWarning, FitFailedWarning
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.preprocessing import StandardScaler

from adatron import SVC, SVDD, SVR, NuSVC, NuSVR, OneClassSVM
from adatron.selection import GridSearchCV, RandomizedSearchCV
from searches import both

TIGHT = 1e-6  # With this tolerance scores hardly depend on the way to the solution.


def two(n=90, seed=0):
    return make_classification(n, 5, n_informative=4, n_redundant=0, flip_y=0.1, random_state=seed)


def three(n=120):
    return make_classification(n, 6, n_informative=5, n_redundant=0, n_classes=3, flip_y=0.1, random_state=1)


def numbers(n=90):
    X, y = make_regression(n, 5, noise=20.0, random_state=0)
    return X, y / 100.0


def assert_equal(ours, plain, tolerance=1e-3, shared=True):
    """Compare two searches."""
    a, b = ours.cv_results_, plain.cv_results_
    assert set(a) - set(b) == {"converged", "max_duality_gap", "proven"}
    assert set(b) <= set(a)
    assert a["params"] == b["params"]
    for name in b:
        if "_time" not in name and "rank" not in name and name != "params":
            assert a[name].dtype == b[name].dtype
            if name.startswith("param_"):
                assert (a[name] == b[name]).all()
            else:
                np.testing.assert_allclose(a[name], b[name], atol=tolerance, rtol=tolerance, err_msg=name)
    if shared:  # all folds of a candidate have equal parts of one time
        assert (a["std_fit_time"] <= 1e-9 * a["mean_fit_time"]).all()
    assert (a["mean_fit_time"] >= 0).all()


MACHINES = {
    "svc": (SVC(tol=TIGHT), {"C": [0.1, 1.0, 50.0]}, two),
    "pairs": (SVC(tol=TIGHT), {"C": [0.1, 10.0]}, three),
    "rest": (SVC(tol=TIGHT, multi_class="ovr"), {"C": [0.1, 10.0]}, three),
    "nusvc pairs": (NuSVC(tol=TIGHT), {"nu": [0.2, 0.4]}, three),
    "svr": (SVR(tol=TIGHT), {"C": [0.1, 10.0], "epsilon": [0.0, 0.1]}, numbers),
    "nusvr": (NuSVR(tol=TIGHT), {"C": [0.1, 10.0], "nu": [0.3, 0.7]}, numbers),
    "novelty": (OneClassSVM(tol=TIGHT), {"nu": [0.1, 0.5]}, two),
}


def test_raw_features_have_the_scores_of_scikit_learn():
    X, y = load_wine(return_X_y=True)
    grid = {"C": [0.1, 10.0], "gamma": [0.01, 0.1]}
    ours = GridSearchCV(SVC(tol=TIGHT), grid, cv=3).fit(X, y)
    plain = theirs.GridSearchCV(libsvm.SVC(tol=TIGHT), grid, cv=3).fit(X, y)
    np.testing.assert_allclose(ours.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"], atol=1e-9)


@pytest.mark.parametrize("name", MACHINES)
def test_features_far_apart_have_the_scores_of_single_fits(name):
    """Kernel values then come from differences, with other operands."""
    estimator, grid, make = MACHINES[name]
    X, y = make()
    X = np.column_stack([StandardScaler().fit_transform(X), np.where(np.arange(len(X)) % 2, 3e5, -3e5)])
    if name == "novelty":
        y = np.where(y > 0, 1, -1)
    scoring = {"svr": None, "nusvr": None}.get(name, "accuracy")
    found = both(estimator, {**grid, "gamma": [0.05, 1.0]}, X, y, scoring=scoring, cv=theirs.KFold(3))
    assert_equal(*found)


@pytest.mark.parametrize("scoring", ["roc_auc", "average_precision", ["roc_auc", "accuracy"], "roc_auc_ovr"])
def test_scores_of_decision_values(scoring):
    X, y = two()
    found = both(SVC(tol=TIGHT), {"C": [0.1, 10.0], "gamma": [0.1, 1.0]}, X, y, scoring=scoring, refit=False)
    if scoring == "roc_auc_ovr":  # it needs probabilities, which no machine has here
        assert np.isnan(found[0].cv_results_["mean_test_score"]).all()
        assert "converged" not in found[0].cv_results_
    else:
        assert_equal(*found)


def test_folds_that_lack_a_class():
    X, y = load_iris(return_X_y=True)
    third = np.arange(len(y)) % 3
    folds = [
        (np.flatnonzero(y != 1), np.flatnonzero((y == 1) | (third == 0))),
        (np.flatnonzero((y > 0) & (third > 0)), np.flatnonzero(third == 0)),
        (np.flatnonzero(third > 0), np.flatnonzero(third == 0)),
    ]
    for multi_class in ("ovo", "ovr"):
        assert_equal(*both(SVC(tol=TIGHT, multi_class=multi_class), {"C": [0.1, 10.0], "gamma": [0.1]}, X, y, cv=folds))


def test_folds_of_one_class_fail_as_in_scikit_learn():
    X, y = two()
    folds = [(np.flatnonzero(y == 0), np.arange(20)), (np.arange(40), np.arange(40, 90))]
    with pytest.warns(FitFailedWarning, match="2 fits failed"), pytest.warns(UserWarning, match="non-finite"):
        search = GridSearchCV(SVC(), {"C": [0.1, 10.0]}, cv=folds, error_score=np.nan, refit=False).fit(X, y)
    assert np.isnan(search.cv_results_["split0_test_score"]).all()
    assert np.isfinite(search.cv_results_["split1_test_score"]).all()
    assert not search.cv_results_["converged"].any()
    with pytest.raises(ValueError, match="number of classes has to be greater than one"):
        GridSearchCV(SVC(), {"C": [0.1, 10.0]}, cv=folds, error_score="raise").fit(X, y)


def test_equal_samples_in_several_folds():
    X, y = two(60)
    X, y = np.tile(X, (3, 1)), np.concatenate([y, y, 1 - y])
    assert_equal(*both(SVC(tol=TIGHT), {"C": [0.1, 10.0], "gamma": [0.1]}, X, y, cv=theirs.KFold(4)))


def test_training_rows_may_be_repeated_and_given_as_masks():
    X, y = two(60)
    rng, mask = np.random.default_rng(0), np.arange(60) % 2 == 0
    folds = [(rng.integers(0, 60, 60), np.arange(20)), (mask, ~mask), ([*range(-40, 0)], [*range(20)])]
    assert_equal(*both(SVC(tol=TIGHT), {"C": [0.1, 10.0], "gamma": [0.1]}, X, y, cv=folds))


@pytest.mark.parametrize(
    ("estimator", "grid"),
    [
        (SVC(gamma=0.1, tol=TIGHT), {"C": [1.0], "solver": ["auto", "smo"]}),
        (SVC(gamma=0.1, tol=TIGHT), {"C": [1.0], "kernel": ["rbf", lambda a, b: a @ b.T]}),
        (SVC(gamma=0.1, tol=TIGHT), {"C": [1.0], "callback": [None, lambda progress: False]}),
        (SVC(gamma=0.1, tol=TIGHT, random_state=0), {"C": [1.0], "probability": [False, True]}),
    ],
)
def test_settings_that_cannot_share_stand_beside_those_that_can(estimator, grid):
    X, y = two()
    found = both(estimator, grid, X, y, refit=False)
    assert_equal(*found, shared=False)
    times = found[0].cv_results_["std_fit_time"] / found[0].cv_results_["mean_fit_time"]
    assert times[0] < 1e-9 < times[1]
    assert found[0].cv_results_["converged"].all()


def test_what_cannot_share_goes_scikit_learn_s_way():
    X, y = two()
    K = X @ X.T
    found = both(SVC(kernel="precomputed", tol=TIGHT), {"C": [0.1, 10.0]}, K, y)
    assert_equal(*found, shared=False)
    ball = both(SVDD(), {"nu": [0.1, 0.5]}, X, np.where(y > 0, 1, -1), scoring="accuracy")
    np.testing.assert_array_equal(*(one.cv_results_["mean_test_score"] for one in ball))
    seen = []

    def scorer(estimator, X, y):
        seen.append(estimator.support_vectors_.shape)
        return estimator.score(X, y)

    found = both(SVC(tol=TIGHT), {"C": [0.1, 10.0]}, X, y, scoring=scorer)
    assert seen
    np.testing.assert_allclose(found[0].cv_results_["mean_test_score"], found[1].cv_results_["mean_test_score"])


def test_fits_that_do_not_converge_are_named():
    X, y = two()
    with pytest.warns(ConvergenceWarning, match="5 of 10 fits of the search did not converge"):
        search = GridSearchCV(SVC(gamma=0.5), {"C": [10.0], "max_iter": [-1, 3]}, refit=False).fit(X, y)
    assert search.cv_results_["converged"].tolist() == [True, False]
    gaps = search.cv_results_["max_duality_gap"]
    assert gaps[0] < 1e-2 < gaps[1]


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_the_number_of_threads_changes_nothing(n_jobs):
    X, y = three(200)
    grid = {"C": [0.1, 1.0, 100.0], "gamma": [0.05, 0.5, "scale"]}
    one, other = (GridSearchCV(SVC(n_jobs=2), grid, n_jobs=n).fit(X, y).cv_results_ for n in (None, n_jobs))
    for name in one:
        if "time" not in name and name != "params":
            np.testing.assert_array_equal(one[name], other[name])


def test_refit_and_several_metrics():
    X, y = two()
    grid = {"C": [0.1, 1.0, 10.0], "gamma": [0.1, 1.0]}
    for refit in ("roc_auc", lambda results: 3):
        ours, plain = both(SVC(tol=TIGHT), grid, X, y, scoring=["accuracy", "roc_auc"], refit=refit)
        assert_equal(ours, plain)
        assert ours.best_index_ == plain.best_index_
        assert ours.best_params_ == plain.best_params_
        assert hasattr(ours, "best_score_") == hasattr(plain, "best_score_")
        np.testing.assert_array_equal(ours.predict(X), plain.predict(X))
        assert ours.scorer_.keys() == plain.scorer_.keys()
        assert ours.multimetric_
        assert ours.classes_.tolist() == [0, 1]


def test_a_search_is_scikit_learn_s():
    search = GridSearchCV(SVC(), {"C": [1.0]})
    assert isinstance(search, theirs.GridSearchCV)
    assert isinstance(RandomizedSearchCV(SVC(), {"C": [1.0]}), theirs.RandomizedSearchCV)
    own = clone(search).get_params(deep=False).keys() - {"max_time", "prove"}
    assert own == theirs.GridSearchCV(SVC(), {}).get_params(deep=False).keys()
    X, y = two()
    nested = theirs.cross_val_score(GridSearchCV(SVC(), {"C": [0.1, 1.0]}), X, y)
    assert nested.mean() > 0.6


@pytest.mark.slow
@pytest.mark.parametrize(("make", "machine"), [(two, SVC), (three, SVC), (numbers, SVR), (three, NuSVC)])
def test_little_memory(make, machine):
    """Neither the matrix of the decision values nor all programs fit."""
    X, y = make(300)
    settings = {"tol": TIGHT, "cache_size": 0.3}
    if machine is NuSVC:
        settings["nu"] = 0.3
    assert_equal(*both(machine(**settings), {"gamma": [0.1, 1.0], "cache_size": [0.3]}, X, y), shared=False)


def test_metadata_routing():
    X, y = two()
    weight = np.random.default_rng(0).choice([0.5, 1.0, 2.0], len(y))
    with config_context(enable_metadata_routing=True):
        machine = SVC(gamma=0.1, tol=TIGHT).set_fit_request(sample_weight=True)
        scorer = make_scorer(accuracy_score).set_score_request(sample_weight=True)
        given = {"sample_weight": weight}
        assert_equal(*both(machine, {"C": [0.1, 10.0]}, X, y, given, scoring=scorer))
        assert_equal(
            *both(machine.set_fit_request(sample_weight=False), {"C": [0.1, 10.0]}, X, y, given, scoring=scorer)
        )


def test_chains_and_parts_of_large_programs():
    """From 768 samples on, those that take part are solved for apart."""
    X, y = make_classification(1100, 10, n_informative=6, flip_y=0.1, random_state=0)
    X = StandardScaler().fit_transform(X)
    grid = {"C": [0.1, 1.0, 10.0, 1000.0], "gamma": [0.003, 0.3]}
    ours, plain = both(SVC(tol=1e-4), grid, X, y, cv=3, refit=False)
    assert_equal(ours, plain, 2e-3)
    assert ours.cv_results_["converged"].all()


def test_other_scores_of_labels_of_text():
    X, y = three()
    y = np.array(["a", "b", "c"])[y]
    scoring = ["accuracy", "f1_weighted", "precision_macro"]
    found = both(SVC(gamma=0.1, tol=TIGHT), {"C": [0.1, 10.0]}, X, y, scoring=scoring, refit="accuracy")
    assert_equal(*found)
    found = both(SVC(gamma=0.1, tol=TIGHT, break_ties=True), {"C": [0.1, 10.0]}, X, y)
    assert_equal(*found)
    assert found[0].best_estimator_.classes_.tolist() == ["a", "b", "c"]
    pandas, (X, y) = pytest.importorskip("pandas"), two()
    given = pandas.DataFrame(X, columns=list("abcde")), pandas.Series(np.array(["no", "yes"])[y])
    found = both(SVC(tol=TIGHT), {"C": [0.1, 10.0]}, *given)
    assert_equal(*found, shared=False)


def test_ctrl_c_ends_the_threads():
    X, y = make_classification(4000, 10, n_informative=6, flip_y=0.1, random_state=0)
    search = GridSearchCV(SVC(), {"C": np.geomspace(1.0, 1000.0, 8), "gamma": np.geomspace(1e-3, 1.0, 12)}, n_jobs=2)
    before = threading.active_count()
    timer = threading.Timer(0.3, signal.raise_signal, [signal.SIGINT])
    timer.start()
    with suppress(KeyboardInterrupt), warnings.catch_warnings():  # what is finished by then depends on the machine
        warnings.simplefilter("ignore", UserWarning)
        search.fit(X, y)
    timer.join()
    assert threading.active_count() == before
    assert not hasattr(search, "cv_results_") or np.isnan(search.cv_results_["mean_test_score"]).any()
    assert GridSearchCV(SVC(), {"C": [0.1, 1.0]}).fit(X[:80], y[:80]).best_score_ > 0.6


@pytest.mark.parametrize("rows", [np.asarray, sparse.csr_matrix])
def test_linear_kernels_far_from_the_origin(rows):
    """A search says of far rows what it says of the same rows less their mean: a translation changes nothing."""
    rng = np.random.default_rng(3)
    X = np.round(rng.normal(size=(90, 3)), 3)
    y = (X[:, 0] + 0.4 * rng.normal(size=90) > 0).astype(int)
    found = [
        GridSearchCV(SVC(kernel="linear"), {"C": [0.1, 10.0]}, cv=3, refit=False).fit(rows(X + shift), y).cv_results_
        for shift in (0.0, 2.0**20)
    ]
    np.testing.assert_array_equal(found[0]["mean_test_score"], found[1]["mean_test_score"])
    assert max(found[1]["max_duality_gap"]) <= 1e-3
