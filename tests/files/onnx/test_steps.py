"""Pipelines and searches as networks."""

import numpy as np
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, Normalizer, OneHotEncoder, RobustScaler, StandardScaler

from adatron import SVC, SVR, OneClassSVM, to_onnx
from resampling import Balance, Resampling


@pytest.mark.parametrize(
    "steps",
    [[MinMaxScaler(), "passthrough", PCA(2)], [make_pipeline(StandardScaler(), PCA(3)), RobustScaler()]],
    ids=str,
)
def test_steps_that_lead_back_need_no_rows(steps, three, answer):
    X, y = three
    model = make_pipeline(*steps, SVC(probability=True)).fit(X, y)
    found = answer(to_onnx(model), X)
    np.testing.assert_array_equal(found["label"], model.predict(X))
    np.testing.assert_allclose(found["decision"], model.decision_function(X), rtol=0, atol=1e-12)
    np.testing.assert_allclose(found["probabilities"], model.predict_proba(X), rtol=0, atol=1e-12)


def test_other_steps_need_rows(three, answer):
    X, _ = three
    model = make_pipeline(Normalizer(), SVR()).fit(X, X[:, 0])
    with pytest.raises(ValueError, match="The 'X' parameter is needed"):
        to_onnx(model)
    found = answer(to_onnx(model, X), X)
    np.testing.assert_allclose(found["prediction"], model.predict(X), rtol=0, atol=1e-12)


WHOLE = {
    "search": GridSearchCV(make_pipeline(StandardScaler(), SVC()), {"svc__C": [0.1, 10.0]}, cv=2),
    "pipeline in a pipeline": make_pipeline(StandardScaler(), make_pipeline(StandardScaler(), OneClassSVM(nu=0.2))),
    "step that resamples in fits": Resampling([("balance", Balance()), ("scale", StandardScaler()), ("svm", SVC())]),
}


@pytest.mark.parametrize("model", WHOLE.values(), ids=WHOLE)
def test_a_network_has_all_steps_of_a_prediction(model, three, answer):
    X, y = three
    model.fit(X, y)
    np.testing.assert_array_equal(answer(to_onnx(model), X + 0.01)["label"], model.predict(X + 0.01))


def test_a_frame_with_text_has_an_input_for_each_column(three, answer):
    pandas = pytest.importorskip("pandas")
    X, y = three
    frame = pandas.DataFrame(X, columns=list("abcd"))
    frame["place"] = np.array(["north", "south"])[np.arange(len(X)) % 2]
    columns = [("numbers", StandardScaler(), ["a", "c"]), ("text", OneHotEncoder(sparse_output=False), ["place"])]
    model = make_pipeline(ColumnTransformer(columns), SVC()).fit(frame, y)
    rows = {name: frame[name].to_numpy(object if name == "place" else None)[:, None] for name in frame}
    found = answer(to_onnx(model, frame), rows)
    np.testing.assert_array_equal(found["label"], model.predict(frame))


def test_a_column_with_the_name_of_a_result_is_refused(three):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"label": three[0][:, 0], "size": three[0][:, 1]})
    columns = ColumnTransformer([("all", StandardScaler(), ["label", "size"])])
    model = make_pipeline(columns, SVC()).fit(frame, three[1])
    with pytest.raises(ValueError, match="X has a column 'label'"):
        to_onnx(model, frame)


def test_a_step_without_a_float64_form_says_so(three):
    X, y = three
    with pytest.raises(ValueError, match="onnxruntime cannot run a step of the pipeline"):
        to_onnx(make_pipeline(SimpleImputer(), SVC()).fit(X, y), X)
    texts = np.array(["a bb", "bb cc", "cc dd"] * 5)
    words = make_pipeline(CountVectorizer(), SVC(kernel="linear")).fit(texts, [0, 1, 0] * 5)
    with pytest.raises(ValueError, match="X must be a matrix"):
        to_onnx(words, texts)


def test_a_pipeline_that_resamples_may_be_a_step(three, answer):
    X, y = three
    steps = Resampling([("balance", Balance()), ("scale", StandardScaler()), ("more", MinMaxScaler())]).fit(X, y)
    ahead = steps[2].transform(steps[1].transform(X))
    model = Pipeline([("ahead", steps), ("svm", SVC().fit(ahead, y))])
    np.testing.assert_array_equal(answer(to_onnx(model), X)["label"], model[-1].predict(ahead))
