"""skl2onnx converts what stands around a machine, once adatron.onnx is imported."""

import subprocess
import sys

import numpy as np
import pytest
import skl2onnx
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

import adatron.onnx  # noqa: F401 (registers the converters)
from adatron import SVC, SVR, OneClassSVM


def converted(model, X, answer, **options):
    end = model[-1] if isinstance(model, Pipeline) else model
    network = skl2onnx.to_onnx(model, X[:1], options={id(end): options} if options else None)
    return list(answer(network, X).values())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("classes", [2, 3])
def test_pipelines(dtype, classes, three, answer):
    X, y = three[0].astype(dtype), three[1] if classes == 3 else three[1] == "red"
    model = make_pipeline(StandardScaler(), SVC(probability=True)).fit(X, y)
    label, probabilities = converted(model, X, answer, zipmap=False)
    assert np.mean(label == model.predict(X)) > 0.98
    np.testing.assert_allclose(probabilities, model.predict_proba(X), atol=1e-12 if dtype == np.float64 else 1e-4)
    _, scores = converted(model, X, answer, zipmap=False, raw_scores=True)
    values = model.decision_function(X)
    values = values if classes == 3 else np.stack([-values, values], axis=1)
    np.testing.assert_allclose(scores, values, atol=1e-11 if dtype == np.float64 else 1e-3)


def test_a_list_of_probabilities_by_class(three, answer):
    X, y = three[0].astype(np.float32), three[1]
    model = SVC(probability=True).fit(X, y)
    _, listed = converted(model, X, answer)
    assert listed[0].keys() == set(y)


def test_regression_and_novelties(three, answer):
    X, _ = three
    real, one = SVR().fit(X, X[:, 0]), OneClassSVM(nu=0.2).fit(X)
    np.testing.assert_allclose(converted(real, X, answer)[0].ravel(), real.predict(X), atol=1e-12)
    label, score = converted(one, X, answer)
    np.testing.assert_allclose(score.ravel(), one.decision_function(X), atol=1e-12)
    assert np.mean(label.ravel() == one.predict(X)) > 0.98


def test_wrappers(three, answer):
    X, y = three[0], np.unique(three[1], return_inverse=True)[1]
    for model in (
        GridSearchCV(SVC(), {"C": [1.0, 10.0]}, cv=2),
        OneVsRestClassifier(SVC()),
        CalibratedClassifierCV(SVC(), ensemble=False),
    ):
        label = converted(model.fit(X, y), X, answer, zipmap=False)[0]
        np.testing.assert_array_equal(label, model.predict(X))


@pytest.mark.slow
def test_nothing_is_registered_before():
    """Neither by adatron nor by an export of its own."""
    code = (
        "import sys, adatron; from adatron import SVC, to_onnx; to_onnx(SVC().fit([[0.0], [1.0]], [0, 1]));"
        "assert 'skl2onnx' not in sys.modules; import adatron.onnx; assert 'skl2onnx' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
