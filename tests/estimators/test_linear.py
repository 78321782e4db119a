"""LinearSVC and LinearSVR against scikit-learn's at high accuracy, and their shapes, copies, searches and refusals."""

import pickle

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn import svm
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import adatron
from adatron import SVC, SVR, LinearSVC, LinearSVR
from adatron.selection import GridSearchCV as Search

RNG = np.random.default_rng(0)
X = RNG.normal(size=(150, 4))
VALUE = X @ [1.0, -0.5, 0.2, 0.0] + 0.3 * RNG.normal(size=150) + 0.4
SIDES, FOUR = (VALUE > 0.3).astype(int), np.array(["d", "b", "a", "c"])[np.digitize(VALUE, [-0.3, 0.4, 1.0])]
SEVERAL, LABELS = np.c_[VALUE, 10.0 * X[:, 1]], np.c_[SIDES, X[:, 1] > 0.1].astype(int)
WEIGHT = RNG.uniform(0.0, 2.0, 150)
TIGHT = {"tol": 1e-9, "gap_tol": 1e-10}
THEIRS = {"tol": 1e-10, "max_iter": 1_000_000}
MODELS = {
    "svc": (LinearSVC, SIDES, {}),
    "hinge": (LinearSVC, SIDES, {"loss": "hinge"}),
    "balanced": (LinearSVC, SIDES, {"C": 0.3, "class_weight": "balanced"}),
    "four": (LinearSVC, FOUR, {"C": 0.3, "loss": "hinge"}),
    "scaling": (LinearSVC, SIDES, {"intercept_scaling": 7.0, "class_weight": {0: 3.0}}),
    "no bias": (LinearSVC, FOUR, {"fit_intercept": False}),
    "svr": (LinearSVR, VALUE, {"epsilon": 0.1}),
    "svr squared": (LinearSVR, VALUE, {"epsilon": 0.1, "loss": "squared_epsilon_insensitive"}),
    "ridge": (LinearSVR, VALUE, {"loss": "squared_epsilon_insensitive", "intercept_scaling": 3.0}),
    "svr no bias": (LinearSVR, VALUE, {"fit_intercept": False, "C": 0.1}),
}
every = pytest.mark.parametrize("name", MODELS)


@every
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["", "weights"])
@pytest.mark.parametrize("form", [np.asarray, csr_matrix, np.float32])
def test_the_weights_are_scikit_learns(name, weight, form):
    kind, y, given = MODELS[name]
    rows = form(X)
    ours = kind(**TIGHT, **given).fit(rows, y, sample_weight=weight)
    theirs = getattr(svm, kind.__name__)(**THEIRS, **given, dual=True, random_state=0).fit(rows, y, weight)
    near = 1e-3 if given.get("loss", "epsilon_insensitive") in ("hinge", "epsilon_insensitive") else 1e-4
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=near)
    of_theirs = np.broadcast_to(theirs.intercept_, np.shape(ours.intercept_))  # without a bias they have one 0
    np.testing.assert_allclose(ours.intercept_, of_theirs, atol=near)
    assert ours.coef_.shape == theirs.coef_.shape
    assert ours.coef_.dtype == np.float64
    assert np.max(ours.duality_gap_) <= 1e-3
    for method in ("decision_function", "predict"):
        if hasattr(theirs, method):
            a, b = getattr(ours, method)(rows), getattr(theirs, method)(rows)
            assert a.shape == b.shape
            if a.dtype.kind == "f":
                np.testing.assert_allclose(a, b, atol=1e-2)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_an_explicit_bias_makes_translations_count_for_nothing(loss):
    one = LinearSVC(loss=loss, bias="explicit", **TIGHT).fit(X, SIDES)
    moved = LinearSVC(loss=loss, bias="explicit", **TIGHT).fit(X + 50.0, SIDES)
    np.testing.assert_allclose(moved.coef_, one.coef_, atol=1e-5)
    if loss == "hinge":
        plain = SVC(kernel="linear", **TIGHT).fit(X, SIDES)
        np.testing.assert_allclose(plain.coef_, one.coef_, atol=1e-5)
        line = LinearSVR(bias="explicit", epsilon=0.1, **TIGHT).fit(X, VALUE)
        np.testing.assert_allclose(SVR(kernel="linear", **TIGHT).fit(X, VALUE).coef_[0], line.coef_, atol=1e-5)


def test_several_targets_and_labels_have_one_row_of_weights_each():
    for kind, y, more in ((LinearSVR, SEVERAL, {}), (LinearSVC, LABELS, {}), (LinearSVC, LABELS, {"loss": "hinge"})):
        model = kind(**TIGHT, **more).fit(X, y)
        assert model.coef_.shape == (2, 4)
        assert model.predict(X).shape == (150, 2)
        for column in (0, 1):
            alone = kind(**TIGHT, **more).fit(X, y[:, column])
            np.testing.assert_allclose(model.coef_[column], np.ravel(alone.coef_), atol=1e-6)


@every
def test_copies_files_and_scikit_learns_class_decide_alike(name, tmp_path):
    kind, y, given = MODELS[name]
    model = kind(**given).fit(X, y)
    adatron.save(model, tmp_path / "m.adatron")
    method = "decision_function" if kind is LinearSVC else "predict"
    values = getattr(model, method)(X)
    for copy in (adatron.load(tmp_path / "m.adatron"), pickle.loads(pickle.dumps(model)), clone(model).fit(X, y)):  # noqa: S301
        np.testing.assert_array_equal(getattr(copy, method)(X), values)
        np.testing.assert_array_equal(copy.coef_, model.coef_)
    theirs = model.to_sklearn()
    assert type(theirs) is getattr(svm, kind.__name__)
    np.testing.assert_allclose(getattr(theirs, method)(X), values, atol=1e-9)


@pytest.mark.parametrize(("name", "value"), [("penalty", "l1"), ("multi_class", "crammer_singer")])
def test_other_programs_are_refused(name, value):
    with pytest.raises(ValueError, match=name):
        LinearSVC(**{name: value}).fit(X, SIDES)


@pytest.mark.parametrize("y", [SIDES, FOUR], ids=["two", "four"])
def test_probabilities_agree_with_predictions(y):
    model = LinearSVC(probability=True, random_state=0).fit(X, y)
    share = model.predict_proba(X)
    np.testing.assert_allclose(share.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.classes_[share.argmax(axis=1)], model.predict(X))


def test_searches_and_pipelines():
    grid = {"linearsvc__C": [0.01, 1.0], "linearsvc__loss": ["hinge", "squared_hinge"]}
    search = GridSearchCV(make_pipeline(StandardScaler(), LinearSVC()), grid, cv=3).fit(X, SIDES)
    assert search.score(X, SIDES) > 0.8
    ours = Search(LinearSVR(), {"C": [0.01, 1.0]}, cv=3).fit(X, VALUE)
    plain = GridSearchCV(LinearSVR(), {"C": [0.01, 1.0]}, cv=3).fit(X, VALUE)
    for key in ("mean_test_score", "std_test_score"):
        np.testing.assert_allclose(ours.cv_results_[key], plain.cv_results_[key], atol=1e-3)


def test_no_errors_at_all_is_a_hard_margin():
    for loss in ("hinge", "squared_hinge"):
        model = LinearSVC(C=np.inf, loss=loss, bias="explicit").fit(X, X[:, 0] > 0.0)
        assert model.duality_gap_ <= 1e-3
        np.testing.assert_array_equal(model.predict(X), X[:, 0] > 0.0)


@pytest.mark.parametrize("C", [1e4, 1e6])
def test_a_large_penalty_with_features_as_they_are_converges(C):
    """Coefficients cancel in the weights to a millionth, which neither steps nor proofs may take for rounding."""
    model = LinearSVC(C=C, bias="explicit").fit(*load_breast_cancer(return_X_y=True))
    assert model.fit_status_ == 0
    assert model.kkt_violation_ <= 1e-4
