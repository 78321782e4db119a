"""MLflow models without pickle: the recipes of the page on export."""

import inspect

import numpy as np
import pytest
from sklearn.base import is_regressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from adatron import SVC, SVDD, SVR, OneClassSVM, QuantileSVR, save, skops_types
from adatron.files import ModelFileError

mlflow = pytest.importorskip("mlflow", reason="MLflow is not installed: pip install '.[mlflow]'")
pandas = pytest.importorskip("pandas")

from mlflow import sklearn as flavour  # noqa: E402
from mlflow.models import infer_signature  # noqa: E402

MODELS = (
    SVC(probability=True),
    SVR(),
    QuantileSVR(quantile=[0.2, 0.8]),
    OneClassSVM(),
    SVDD(kernel="linear"),
    make_pipeline(StandardScaler(), SVC(probability=True)),
)


@pytest.fixture(autouse=True)
def _own_folder(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=90)
    X = rng.normal(size=(90, 3)) + y[:, None]
    return pandas.DataFrame(X, columns=["length", "width", "age"]), np.array(["a", "b", "c"])[y]


def fitted(model, frame):
    X, y = frame
    return model.fit(X, np.arange(90.0) if is_regressor(model) else y)


def files_of(folder):
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def stored(model, X, method="predict"):
    """Put a model into the folder 'one' by its file, and return what MLflow loads."""
    save(model, "one.adatron")
    mlflow.pyfunc.save_model(
        "one",
        loader_module="adatron.mlflow",
        data_path="one.adatron",
        signature=infer_signature(X, getattr(model, method)(X)),
        model_config={"pyfunc_predict_fn": method},
        pip_requirements=["numpy"],
    )
    return mlflow.pyfunc.load_model("one")


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_a_file_in_a_folder_of_mlflow_predicts_the_same_where_pickles_are_off(model, frame, monkeypatch, tmp_path):
    monkeypatch.setenv("MLFLOW_ALLOW_PICKLE_DESERIALIZATION", "false")
    model, X = fitted(model, frame), frame[0]
    served = stored(model, X)
    np.testing.assert_array_equal(served.predict(X), model.predict(X))
    np.testing.assert_array_equal(served.predict(X[["age", "width", "length"]]), model.predict(X))
    with pytest.raises(mlflow.exceptions.MlflowException, match="missing inputs"):
        served.predict(X[["age"]])
    assert files_of(tmp_path / "one") >= {"MLmodel", "data/one.adatron"}
    assert not [name for name in files_of(tmp_path / "one") if name.endswith(".pkl")]


def test_another_method(frame):
    model, X = fitted(MODELS[-1], frame), frame[0]
    np.testing.assert_array_equal(stored(model, X, "predict_proba").predict(X), model.predict_proba(X))
    with pytest.raises(ValueError, match=r"pyfunc_predict_fn must be among .* Got 'fit'"):
        mlflow.pyfunc.load_model("one", model_config={"pyfunc_predict_fn": "fit"})


def test_a_damaged_file_is_refused(frame, tmp_path):
    stored(fitted(MODELS[0], frame), frame[0])
    path = tmp_path / "one" / "data" / "one.adatron"
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(ModelFileError, match="damaged"):
        mlflow.pyfunc.load_model("one")


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_the_flavour_for_scikit_learn_stores_models_by_skops(model, frame, tmp_path):
    pytest.importorskip("skops", reason="skops is not installed: pip install '.[cli]'")
    if "skops_trusted_types" not in inspect.signature(flavour.save_model).parameters:
        pytest.skip("this version of MLflow has no serialization_format='skops'")
    model, X = fitted(model, frame), frame[0]
    flavour.save_model(
        model,
        "one",
        serialization_format="skops",
        skops_trusted_types=skops_types,
        signature=infer_signature(X, model.predict(X)),
        pip_requirements=["scikit-learn", "skops"],
    )
    assert "model.skops" in files_of(tmp_path / "one")
    np.testing.assert_array_equal(mlflow.pyfunc.load_model("one").predict(X), model.predict(X))
    loaded = flavour.load_model("one")
    assert type(loaded) is type(model)
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
