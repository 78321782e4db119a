"""The SVM operators of ai.onnx.ml, whose float32 deviates by a measured amount."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from adatron import SVC, SVR, NuSVC, OneClassSVM, to_onnx
from machines import altered

FLOAT32 = "compute in float32"


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly", "sigmoid"])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_classifiers(kernel, classes, three, answer, about):
    X, y = three
    y = np.unique(y, return_inverse=True)[1] if classes == 3 else np.where(y == "red", 5, -1)
    model = SVC(kernel=kernel, gamma=0.1, decision_function_shape="ovo").fit(X, y)
    with pytest.warns(UserWarning, match=FLOAT32):
        network = to_onnx(model, X, ops="ai.onnx.ml")
    found, values = answer(network, X.astype(np.float32)), model.decision_function(X)
    sure = np.abs(values.reshape(len(X), -1)).min(axis=1) > 0.01
    np.testing.assert_array_equal(found["label"][sure], model.predict(X)[sure])
    np.testing.assert_allclose(found["decision"], values, rtol=1e-3, atol=1e-3)
    parity = about(network)["parity"]
    assert parity["ops"] == "ai.onnx.ml"
    assert 0.0 < parity["deviation"] < 1e-4
    assert parity["absolute"] == pytest.approx(np.abs(found["decision"] - values).max(), rel=1e-4)
    assert {node.op_type for node in network.graph.node} <= {"SVMClassifier", "Gather", "Identity"}


@pytest.mark.filterwarnings("ignore:ONNX's own operators")
def test_text_pipelines_and_other_machines(three, answer):
    X, y = three
    small = X.astype(np.float32)
    text = make_pipeline(StandardScaler(), NuSVC(nu=0.2)).fit(X, y)
    assert np.mean(answer(to_onnx(text, ops="ai.onnx.ml"), small)["label"] == text.predict(X)) > 0.98
    real = SVR().fit(X, X[:, 0])
    found = answer(to_onnx(real, ops="ai.onnx.ml"), small)["prediction"]
    np.testing.assert_allclose(found, real.predict(X), atol=1e-4)
    one = OneClassSVM(nu=0.2).fit(X)
    found = answer(to_onnx(one, ops="ai.onnx.ml"), small)
    np.testing.assert_allclose(found["decision"], one.decision_function(X), atol=1e-4)
    np.testing.assert_array_equal(found["label"], np.where(found["decision"] >= 0, 1, -1))


@pytest.mark.filterwarnings("ignore:ONNX's own operators")
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_a_model_without_support_vectors_is_a_constant(kernel, three, answer):
    X, _ = three
    model = SVR(kernel=kernel, epsilon=100.0).fit(X, X[:, 0])
    assert not len(model.support_)
    found = answer(to_onnx(model, ops="ai.onnx.ml"), X.astype(np.float32))["prediction"]
    np.testing.assert_allclose(found, model.predict(X), rtol=1e-6)


@pytest.mark.parametrize(
    ("model", "text"),
    [
        (SVC(kernel="laplacian"), "knows only the kernels"),
        (SVC(multi_class="ovr"), "multi_class='ovr'"),
    ],
)
def test_what_the_operators_do_not_hold(model, text, three):
    with pytest.raises(ValueError, match=text):
        to_onnx(model.fit(*three), ops="ai.onnx.ml")


def test_classes_that_are_no_whole_numbers(three):
    X, y = three
    model = SVC().fit(X, y == "red")
    model = altered(model, head=replace(model.model_.head, labels=np.array([0.5, 1.5])))
    with pytest.raises(ValueError, match="takes whole numbers or text as classes"):
        to_onnx(model, ops="ai.onnx.ml")
