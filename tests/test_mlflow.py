"""MLflow models without pickle."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from adatron import SVC, SVDD, SVR, OneClassSVM, QuantileSVR
from adatron.files import ModelFileError

mlflow = pytest.importorskip("mlflow", reason="MLflow is not installed: pip install '.[mlflow]'")
pandas = pytest.importorskip("pandas")

from adatron import mlflow as flavour  # noqa: E402


@pytest.fixture(autouse=True)
def _no_pickle(monkeypatch, tmp_path):
    monkeypatch.setenv("MLFLOW_ALLOW_PICKLE_DESERIALIZATION", "false")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=90)
    X = rng.normal(size=(90, 3)) + y[:, None]
    return pandas.DataFrame(X, columns=["length", "width", "age"]), np.array(["a", "b", "c"])[y]


@pytest.mark.parametrize(
    "model",
    [
        SVC(),
        SVR(),
        QuantileSVR(quantile=[0.2, 0.8]),
        OneClassSVM(),
        SVDD(kernel="linear"),
        make_pipeline(StandardScaler(), SVC()),
    ],
    ids=str,
)
@pytest.mark.parametrize("named", [False, True])
def test_a_saved_model_predicts_the_same(model, named, frame):
    X, y = frame if named else (frame[0].to_numpy(), frame[1])
    model.fit(X, np.arange(90.0) if is_regressor(model) else y)
    flavour.save_model(model, "one")
    np.testing.assert_array_equal(mlflow.pyfunc.load_model("one").predict(X), model.predict(X))
    loaded = flavour.load_model("one")
    assert type(loaded) is type(model)
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


def test_the_signature_comes_from_the_features(frame, tmp_path):
    X, y = frame
    flavour.save_model(SVC().fit(X, y), "one")
    model = mlflow.pyfunc.load_model("one")
    assert model.metadata.signature.inputs.input_names() == ["length", "width", "age"]
    shuffled = X[["age", "width", "length"]]
    np.testing.assert_array_equal(model.predict(shuffled), model.predict(X))
    with pytest.raises(mlflow.exceptions.MlflowException, match="missing inputs"):
        model.predict(X[["age"]])
    flavour.save_model(SVC().fit(X.to_numpy(), y), "two")
    assert mlflow.pyfunc.load_model("two").metadata.signature.inputs.inputs[0].shape == (-1, 3)
    flavour.save_model(SVC().fit(X, y), "three", signature=False)
    assert mlflow.pyfunc.load_model("three").metadata.signature is None


def test_an_example_and_another_method(frame):
    X, y = frame
    model = SVC(probability=True).fit(X, y)
    flavour.save_model(model, "one", pyfunc_predict_fn="predict_proba", input_example=X.head(2), metadata={"of": "us"})
    loaded = mlflow.pyfunc.load_model("one")
    np.testing.assert_array_equal(loaded.predict(X), model.predict_proba(X))
    assert loaded.metadata.metadata == {"of": "us"}
    assert loaded.metadata.signature.outputs.inputs[0].shape == (-1, 3)
    assert len(loaded.input_example) == 2
    with pytest.raises(ValueError, match=r"'pyfunc_predict_fn' parameter must be a method of the model.*'fit'"):
        flavour.save_model(model, "two", pyfunc_predict_fn="fit")
    with pytest.raises(ValueError, match="'predict_proba' instead"):
        flavour.save_model(SVC().fit(X, y), "two", pyfunc_predict_fn="predict_proba")


@pytest.mark.parametrize("example", [False, True])
@pytest.mark.parametrize("fitted", ["double", "whole"])
def test_whole_truth_and_nullable_columns_are_predicted(example, fitted, frame):
    X, y = frame
    whole = X.assign(length=(X["length"] * 10).round().astype("Int64"), width=X["width"] > 1, age=X["age"].astype(int))
    model = make_pipeline(StandardScaler(), SVC()).fit(whole if fitted == "whole" else X, y)
    flavour.save_model(model, "one", input_example=whole.head(3) if example else None)
    loaded = mlflow.pyfunc.load_model("one")
    for samples in (X, whole, whole.astype({"length": "int64"}), X.astype("float32")):
        np.testing.assert_array_equal(loaded.predict(samples), model.predict(samples))
    assert "string" in str(loaded.metadata.signature.outputs)
    with pytest.raises(mlflow.exceptions.MlflowException, match="missing inputs"):
        loaded.predict(X[["age"]])


@pytest.mark.parametrize(
    "example",
    [
        lambda X: X.head(2),
        lambda X: X.head(2).to_numpy(),
        lambda X: X.head(2).to_numpy().tolist(),
        lambda X: {name: values.to_numpy() for name, values in X.head(2).items()},
        lambda X: X.iloc[0].to_dict(),
        lambda X: (X.head(2), {"more": 1}),
        lambda X: sparse.csr_matrix(X.head(2).to_numpy()),
    ],
    ids=["frame", "array", "list", "dict", "one row", "with parameters", "sparse"],
)
@pytest.mark.parametrize("named", [False, True])
def test_examples_of_every_kind_that_mlflow_takes(example, named, frame):
    X, y = frame
    model = SVC().fit(X if named else X.to_numpy(), y)
    flavour.save_model(model, "one", input_example=example(X))
    loaded = mlflow.pyfunc.load_model("one")
    assert loaded.metadata.signature is not None
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X if named else X.to_numpy()))


def test_texts_are_an_example_without_a_signature_of_numbers():
    texts = [["one"], ["two"], ["three"], ["four"]]
    model = make_pipeline(OneHotEncoder(handle_unknown="ignore"), SVC(kernel="linear")).fit(texts, [0, 1, 0, 1])
    flavour.save_model(model, "one", input_example=texts[:2])
    np.testing.assert_array_equal(flavour.load_model("one").predict(texts), model.predict(texts))


@pytest.mark.parametrize("model", [SVC(), make_pipeline(StandardScaler(), SVC())], ids=str)
def test_an_unfitted_model_is_not_saved(model, tmp_path):
    with pytest.raises(NotFittedError, match="not fitted yet"):
        flavour.save_model(model, "one")
    with pytest.raises(NotFittedError, match="not fitted yet"):
        flavour.log_model(model, "one")
    assert not (tmp_path / "one").exists()


def test_a_folder_holds_no_pickle(frame, tmp_path):
    flavour.save_model(SVC().fit(*frame), "one", extra_pip_requirements=["more"])
    files = {path.relative_to(tmp_path / "one").as_posix() for path in (tmp_path / "one").rglob("*") if path.is_file()}
    assert files == {"MLmodel", "conda.yaml", "data/model.adatron", "python_env.yaml", "requirements.txt"}
    wanted = (tmp_path / "one" / "requirements.txt").read_text().split()
    assert {*flavour.get_default_pip_requirements(), "more"} <= {*wanted}


def test_a_logged_model(frame, tmp_path):
    X, y = frame
    model = SVC().fit(X, y)
    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
    with mlflow.start_run():
        info = flavour.log_model(model, "mine")
    assert set(info.flavors) == {"adatron", "python_function"}
    np.testing.assert_array_equal(mlflow.pyfunc.load_model(info.model_uri).predict(X), model.predict(X))
    np.testing.assert_array_equal(flavour.load_model(info.model_uri).predict(X), model.predict(X))


def test_a_damaged_file_is_refused(frame, tmp_path):
    flavour.save_model(SVC().fit(*frame), "one")
    path = tmp_path / "one" / "data" / "model.adatron"
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(ModelFileError, match="damaged"):
        flavour.load_model("one")
    with pytest.raises(ModelFileError, match="damaged"):
        mlflow.pyfunc.load_model("one")


def test_what_cannot_be_stored_leaves_no_folder(frame, tmp_path):
    with pytest.raises(ModelFileError, match="function"):
        flavour.save_model(SVC(kernel=lambda A, B: A @ B.T).fit(frame[0].to_numpy(), frame[1]), "one")
    assert not (tmp_path / "one").exists()
