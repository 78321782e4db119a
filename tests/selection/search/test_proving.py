"""Proven labels are those of fits solved as far as float64 goes.

Also tested here: ``values``.
"""

import time
from fractions import Fraction

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import make_classification, make_moons
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from adatron import SVC, SVR, NuSVC, OneClassSVM
from adatron.kernels import RBF, Linear, Polynomial
from adatron.selection import GridSearchCV
from adatron.selection.search.rows import SharedRows
from adatron.selection.search.values import SharedSums, rate
from adatron.threads import Pool
from searches import interrupt, score_with

CV = StratifiedKFold(3)
CASES = {
    "svc": (SVC(), {"C": [0.1, 3.0, 100.0], "gamma": [0.2, 2.0]}, 2),
    "pairs": (SVC(), {"C": [0.1, 3.0], "gamma": [0.2, 2.0]}, 3),
    "rest": (SVC(multi_class="ovr"), {"C": [0.1, 3.0], "gamma": [0.2]}, 3),
    "no bias": (SVC(bias="none"), {"C": [0.1, 3.0], "gamma": [0.2]}, 2),
    "augmented": (SVC(bias="augmented"), {"C": [0.1, 3.0], "gamma": [0.2]}, 2),
    "nusvc": (NuSVC(), {"nu": [0.3, 0.6], "gamma": [0.2, 2.0]}, 2),
    "novelty": (OneClassSVM(), {"nu": [0.1, 0.5], "gamma": [0.2, 2.0]}, 2),
}


def data(classes, n=150):
    return make_classification(
        n, 4, n_informative=4, n_redundant=0, n_classes=classes, n_clusters_per_class=1, flip_y=0.1, random_state=3
    )


def labels(estimator, params, X, y):
    """The labels of the left-out samples by fits that are solved to a relative gap of 1e-10."""
    out = np.empty(len(y), int)
    for train, test in CV.split(X, y):
        model = clone(estimator).set_params(**params, tol=1e-6, gap_tol=1e-10).fit(X[train], y[train])
        out[test] = model.predict(X[test])
    return out


@pytest.mark.parametrize("name", CASES)
def test_proven_scores_are_those_of_the_optimum(name):
    estimator, grid, classes = CASES[name]
    X, y = data(classes)
    if name == "novelty":
        y = np.where(y > 0, 1, -1)
    loose = clone(estimator).set_params(tol=0.1)
    found = GridSearchCV(loose, grid, cv=CV, scoring="accuracy", refit=False, prove=True).fit(X, y)
    results, once = found.cv_results_, None
    assert any(results["proven"])
    for number, params in enumerate(results["params"]):
        best = labels(estimator, params, X, y)
        scores = [np.mean(best[test] == y[test]) for _, test in CV.split(X, y)]
        if results["proven"][number]:
            once = once or number
            np.testing.assert_allclose([results[f"split{i}_test_score"][number] for i in range(3)], scores, atol=1e-12)
    best = found.best_index_
    doubt = found.unproven_samples_[best]
    assert results["proven"][best] or len(doubt) > 0


def test_loose_solutions_prove_little_and_near_ones_much():
    X, y = make_moons(200, noise=0.3, random_state=0)
    proven = []
    for gap_tol in (None, 1e-11):
        search = GridSearchCV(SVC(tol=0.5, gap_tol=gap_tol), {"C": [1.0, 30.0], "gamma": [1.0]}, refit=False)
        proven.append(list(search.fit(X, y).cv_results_["proven"]))
    assert proven == [[False, False], [True, True]]


def test_scores_of_more_than_labels_are_never_proven():
    X, y = data(2)
    for estimator, scoring in ((SVC(gap_tol=1e-11), "roc_auc"), (SVR(gap_tol=1e-11), None)):
        search = GridSearchCV(estimator, {"C": [1.0]}, scoring=scoring, refit=False).fit(X, y)
        assert not any(search.cv_results_["proven"])


def test_what_cannot_be_proven_here_is_told():
    X, y = data(2)
    with pytest.warns(UserWarning, match=r"proves nothing about 1 of 2 candidates: {'solver': 'smo'}\. Their fits"):
        search = GridSearchCV(SVC(), {"solver": ["auto", "smo"]}, prove=True).fit(X, y)
    assert [rows is None for rows in search.unproven_samples_] == [False, True]
    K = X @ X.T
    with pytest.warns(UserWarning, match="proves nothing about 2 of 2 candidates"):
        GridSearchCV(SVC(kernel="precomputed"), {"C": [1.0, 2.0]}, prove=True).fit(K, y)
    with pytest.warns(UserWarning, match="kernel that may be indefinite"):
        search = GridSearchCV(SVC(kernel="sigmoid", gamma=0.01), {"C": [0.1]}, prove=True).fit(X, y)
    assert search.unproven_samples_ == [None]


def test_a_proof_never_loosens_what_the_user_asked_for():
    """The label of 0 is a tie, which nothing proves. Ctrl-C comes when some cells were solved again."""
    rng = np.random.default_rng(0)
    P = rng.normal(size=(40, 2)) + 0.5
    X, y = np.vstack([P, -P, np.zeros((1, 2))]), np.repeat([1, 0, 1], [40, 40, 1])
    some = np.arange(80) % 40
    cv = [(np.flatnonzero(some % 4 != k), np.append(np.flatnonzero(some % 4 == k), 80)) for k in range(4)]
    grid = {"C": [1.0, 10.0], "gamma": [0.5, 2.0]}
    for end in (4 * 4 + 7, 10**6):
        scoring = score_with(interrupt, end)
        machine = SVC(tol=0.5, gap_tol=1e-9, bias="none")
        search = GridSearchCV(machine, grid, cv=cv, refit=False, scoring=scoring, prove=True).fit(X, y)
        assert (search.cv_results_["max_duality_gap"] <= 1e-9).all()
        assert search.unproven_samples_[search.best_index_].tolist() == [80]


def test_what_another_rule_chooses_is_proven_too():
    """A candidate whose accuracy is lower may be best by weights, or by the user's own rule."""
    X, y = make_moons(200, noise=0.3, random_state=0)
    loose, grid = SVC(gap_tol=1e-5), {"C": [0.01, 1.0, 30.0], "gamma": [0.01, 1.0]}
    plain = GridSearchCV(loose, grid, prove=True).fit(X, y)
    number = int(np.argmax(plain.cv_results_["max_duality_gap"]))
    assert not plain.cv_results_["proven"][number]  # it cannot have the best accuracy
    params = plain.cv_results_["params"][number]
    own = GridSearchCV(loose, grid, refit=lambda results: number, prove=True).fit(X, y)
    assert own.cv_results_["proven"][number]
    right = [cross_val_predict(clone(loose).set_params(**one), X, y) == y for one in (params, plain.best_params_)]
    weight = np.where(right[0] & ~right[1], 100.0, 1.0)
    with config_context(enable_metadata_routing=True):
        scorer = make_scorer(accuracy_score).set_score_request(sample_weight=True)
        machine = clone(loose).set_fit_request(sample_weight=False)
        search = GridSearchCV(machine, grid, scoring=scorer, refit=False, prove=True).fit(X, y, sample_weight=weight)
    assert search.best_index_ == number
    assert search.cv_results_["proven"][number]


def test_several_metrics_are_proven_for_the_one_that_chooses():
    X, y = make_moons(200, noise=0.3, random_state=0)
    grid = {"C": [0.01, 1.0, 30.0], "gamma": [0.01, 1.0]}
    gaps = []
    for refit in ("balanced_accuracy", "accuracy"):
        scoring = ["accuracy", "balanced_accuracy"]
        search = GridSearchCV(SVC(gap_tol=1e-5), grid, scoring=scoring, refit=refit, prove=True).fit(X, y)
        assert search.cv_results_["proven"][search.best_index_]
        gaps.append(search.cv_results_["max_duality_gap"])
    assert (gaps[1] > gaps[0]).any()  # nothing bounds other scores, so all candidates are proven


@pytest.mark.parametrize(("n", "precision", "bias"), [(2500, "single", "explicit"), (2500, "double", "augmented")])
def test_proofs_beyond_what_is_solved_side_by_side(n, precision, bias):
    """There the solver has no gradient whose errors are known at left-out samples."""
    X, y = make_moons(n, noise=0.2, random_state=0)
    machine = SVC(C=1.0, gamma=1.0, precision=precision, bias=bias)
    search = GridSearchCV(machine, {"C": [1.0]}, cv=2, refit=False, prove=True, return_train_score=True).fit(X, y)
    doubt = search.unproven_samples_[0]
    assert doubt is not None
    assert len(doubt) < 5
    assert search.cv_results_["max_duality_gap"][0] < 1e-6
    assert 0.9 < search.cv_results_["mean_train_score"][0] < 1.0


def test_proofs_go_with_ranges_that_are_found():
    X, y = make_moons(120, noise=0.3, random_state=0)
    search = GridSearchCV(SVC(tol=0.5), {"C": [0.1, 10.0], "gamma": "auto"}, cv=3, refit=False, prove=True).fit(X, y)
    results = search.cv_results_
    assert results["proven"][search.best_index_]
    assert len(search.unproven_samples_) == len(results["params"])
    for proven, doubt in zip(results["proven"], search.unproven_samples_, strict=True):
        assert proven == (doubt is not None and len(doubt) == 0)


@pytest.mark.slow
@pytest.mark.parametrize("way", ["Ctrl-C", "max_time"])
def test_what_was_found_stays_if_proofs_are_broken_off(way):
    X, y = make_moons(120, noise=0.3, random_state=0)
    grid = {"C": [0.1, 10.0], "gamma": [0.5, 2.0]}
    plain = GridSearchCV(SVC(tol=0.5), grid, cv=3, refit=False, scoring="accuracy").fit(X, y)
    seconds = None if way == "Ctrl-C" else 10.0
    scoring = score_with(interrupt if way == "Ctrl-C" else lambda: time.sleep(10.0), 3 * 4 + 1)
    search = GridSearchCV(SVC(tol=0.5), grid, cv=3, refit=False, scoring=scoring, prove=True, max_time=seconds)
    search.fit(X, y)
    scores = search.cv_results_["mean_test_score"]
    np.testing.assert_array_equal(scores, plain.cv_results_["mean_test_score"])
    assert len(search.unproven_samples_) == len(scores)
    assert search.best_score_ == scores.max()


def exact(kernel, X, Z):
    """Kernel values of the numbers that the rows hold; those of a Gaussian as good as long double has them."""
    A, B = ([[Fraction(float(v)) for v in row] for row in rows] for rows in (X, Z))
    if isinstance(kernel, RBF):
        squares = [[sum((a - b) ** 2 for a, b in zip(x, z, strict=True)) for z in B] for x in A]
        wide = [[np.longdouble(s.numerator) / np.longdouble(s.denominator) for s in row] for row in squares]
        return np.exp(-np.longdouble(kernel.gamma) * np.array(wide))
    products = [[sum(a * b for a, b in zip(x, z, strict=True)) for z in B] for x in A]
    if isinstance(kernel, Polynomial):
        numbers = Fraction(kernel.gamma), Fraction(kernel.coef0)
        products = [[(numbers[0] * p + numbers[1]) ** kernel.degree for p in row] for row in products]
    return np.array(products, object)


@pytest.mark.parametrize("kernel", [RBF(0.5), Linear(), Polynomial(gamma=0.25, degree=3, coef0=1.0)])
@pytest.mark.parametrize("offset", [0.0, 1e4])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("room", [0.0, 1e9])
def test_sums_are_as_near_as_is_promised(kernel, offset, dtype, room):
    rng = np.random.default_rng(0)
    X, y = (rng.normal(size=(60, 4)) + offset).astype(dtype), np.tile([0, 1], 30)
    rows = SharedRows.of(SVC(), X, y, None)
    B, ids = rng.normal(size=(rows.size, 2)) * [1.0, 1e6], np.arange(rows.size)
    with Pool(1) as pool:
        sums = SharedSums(rows, kernel, float(np.abs(B).sum()), 1e-9, room, pool, None)
        assert sums.at_hand == (room > 0.0)
        found = sums.of(ids[:20], ids, B)
        bound = rate(sums.gram.rounding, sums.gram.magnitude, rows.size) * np.abs(B).sum(axis=0)
    given = X[rows.distinct.rows]
    K = exact(kernel, given[:20], given)
    for k in range(2):
        if isinstance(kernel, RBF):
            truth = K @ B[:, k].astype(np.longdouble)
            slack = 1e-17 * np.abs(B[:, k]).sum()  # of the truth itself
        else:
            truth, slack = K @ np.array([Fraction(b) for b in B[:, k]], object), 0.0
        errors = [
            abs(float(t - (np.longdouble(f) if isinstance(kernel, RBF) else Fraction(f))))
            for t, f in zip(truth, found[:, k], strict=True)
        ]
        assert max(errors) <= bound[k] + slack
        assert bound[k] < 1e-8 * sums.gram.magnitude * np.abs(B[:, k]).sum()
