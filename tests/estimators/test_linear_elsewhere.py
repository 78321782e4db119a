"""Linear machines in the rest of the library: files, other forms, searches, reports, displays and intervals."""

from functools import partial

import numpy as np
import pytest
from sklearn.base import is_classifier
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, make_blobs
from sklearn.model_selection import GridSearchCV as TheirSearch
from sklearn.model_selection import cross_val_predict

from adatron import LinearSVC, LinearSVR, load, report, save, skops_types, to_onnx
from adatron.estimators import angle, balance, input_margin, modified_margin
from adatron.intervals import CVPlus, JackknifePlus
from adatron.selection import GridSearchCV

CANCER, IRIS, DIABETES = (read(return_X_y=True) for read in (load_breast_cancer, load_iris, load_diabetes))
CASES = {
    "two classes": (LinearSVC(C=10), *CANCER),
    "hinge": (LinearSVC(loss="hinge", intercept_scaling=3.0), *CANCER),
    "three classes": (LinearSVC(bias="explicit"), *IRIS),
    "no bias": (LinearSVC(fit_intercept=False), *IRIS),
    "regression": (LinearSVR(C=10), *DIABETES),
    "squared": (LinearSVR(loss="squared_epsilon_insensitive", epsilon=1.0, bias="explicit"), *DIABETES),
    "targets": (LinearSVR(), DIABETES[0], np.c_[DIABETES[1], -DIABETES[1]]),
}
EACH = pytest.mark.parametrize("case", CASES)


def fitted(case):
    model, X, y = CASES[case]
    return model.fit(X, y), X, y


def values(model, X):
    return model.decision_function(X) if is_classifier(model) else model.predict(X)


@EACH
def test_a_network_decides_alike_by_its_weights(case):
    runtime = pytest.importorskip("onnxruntime")
    model, X, _ = fitted(case)
    network = to_onnx(model)
    assert {"MatMul", "Add"} <= {node.op_type for node in network.graph.node}
    session = runtime.InferenceSession(network.SerializeToString(), providers=["CPUExecutionProvider"])
    found = session.run(None, {session.get_inputs()[0].name: X})
    np.testing.assert_allclose(found[-1].reshape(values(model, X).shape), values(model, X), rtol=1e-6, atol=1e-5)
    if is_classifier(model):
        np.testing.assert_array_equal(found[0], model.predict(X))


@EACH
def test_files_keep_all(case, tmp_path):
    model, X, _ = fitted(case)
    save(model, tmp_path / "a.adatron")
    again = load(tmp_path / "a.adatron")
    assert again.get_params() == model.get_params()
    np.testing.assert_array_equal(values(again, X), values(model, X))
    skops = pytest.importorskip("skops.io")
    np.testing.assert_array_equal(values(skops.loads(skops.dumps(model), trusted=skops_types), X), values(model, X))


@EACH
def test_a_compact_one_has_weights_alone(case):
    model, X, _ = fitted(case)
    small = model.compact()
    assert len(small.support_vectors_) == len(small.dual_coef_)
    np.testing.assert_allclose(values(small, X), values(model, X), rtol=1e-6, atol=1e-5)


@pytest.mark.parametrize("model", [LinearSVC(), LinearSVC(loss="hinge"), LinearSVR(bias="explicit")])
def test_searches_fall_back_to_single_fits(model):
    X, y = IRIS
    grid = {"C": [0.01, 1.0, 100.0]}
    ours, theirs = (kind(model, grid, cv=3).fit(X, y) for kind in (GridSearchCV, TheirSearch))
    np.testing.assert_array_equal(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"])
    assert ours.best_params_ == theirs.best_params_


def test_planes_of_linear_machines():
    X, y = make_blobs(60, centers=2, cluster_std=0.5, random_state=0)
    models = [LinearSVC(C=C).fit(X, y) for C in (1.0, 100.0)]
    u, v = (model.coef_[0] for model in models)
    cosine = u @ v / np.linalg.norm(u) / np.linalg.norm(v)
    assert angle(*models) == pytest.approx(np.degrees(np.arccos(cosine)), rel=1e-6)
    wide = LinearSVC(C=100.0, intercept_scaling=2.0).fit(X, y)
    normal = np.append(wide.coef_[0], wide.intercept_[0] / 2.0)
    assert modified_margin(wide).modified == pytest.approx(1.0 / np.linalg.norm(normal), rel=1e-9)
    assert balance(wide).value > 0.25
    for off in (LinearSVC(bias="explicit"), LinearSVC(fit_intercept=False)):
        with pytest.raises(ValueError, match="This is for bias='augmented', not for"):
            modified_margin(off.fit(X, y))
    distance = np.abs(models[0].decision_function(X)) / np.linalg.norm(u)
    np.testing.assert_allclose(input_margin(models[0], X).distance, distance, rtol=1e-6)


@pytest.mark.parametrize("kind", [partial(CVPlus, cv=3), JackknifePlus])
def test_sets_and_intervals(kind):
    X, y = IRIS
    assert kind(LinearSVC(), alpha=0.1).fit(X[::2], y[::2]).predict_set(X[1::2])[:, 0].sum() > 0
    ends = kind(LinearSVR(C=10), alpha=0.1).fit(X[::2], y[::2]).predict_interval(X[1::2])
    assert (ends[:, 0] < ends[:, 1]).all()


@pytest.mark.parametrize("case", ["two classes", "regression"])
def test_a_report_says_nothing_of_bounds(case):
    pytest.importorskip("matplotlib").use("agg")
    model, X, y = CASES[case]
    text = report(model.fit(X[::4], y[::4]), X[::4], y[::4])._repr_html_()
    assert "relative duality gap" in text
    assert "the coefficient is at C" not in text


def test_displays():
    pytest.importorskip("matplotlib").use("agg")
    plots = pytest.importorskip("adatron.plots")
    X, y = make_blobs(60, centers=2, random_state=0)
    model = LinearSVC().fit(X, y)
    assert plots.MarginDisplay.from_estimator(model, X, y).ax_ is not None
    assert plots.GapDisplay.from_estimator(model).ax_ is not None
    assert plots.InputMarginDisplay.from_estimator(model, X, y).ax_ is not None


def test_probabilities_agree_with_predictions():
    X, y = IRIS
    model = LinearSVC(probability=True).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X).argmax(axis=1), model.predict(X))
    assert np.mean(cross_val_predict(LinearSVC(), X, y) == y) > 0.9
