"""Converting models from the command line, and what the tool says of an installation and of a model."""

import json

import numpy as np
import pytest

from adatron import SVC, save
from adatron.files import load
from lines import told, tool


@pytest.mark.slow
def test_a_converted_model_counts_as_its_data_did(from_0, tmp_path, capsys):
    a, b, rare = from_0
    paths = [str(tmp_path / name) for name in ("m", "m.model")]
    assert tool("train", a, "--model", paths[0], "--quiet") == 0
    assert told(capsys, "convert", *paths).err == ""
    assert tool("predict", paths[1], b, "--quiet") == 0
    assert [int(row) for row in capsys.readouterr().out.split()] == load(paths[0]).predict(rare).tolist()


def test_a_model_goes_to_libsvm_and_back(samples, tmp_path, capsys):
    X, y = samples
    np.savez(tmp_path / "a.npz", X=X, y=np.unique(y, return_inverse=True)[1])
    data, ours, text, back = (str(tmp_path / name) for name in ("a.npz", "a.adatron", "a.txt", "b.adatron"))
    assert tool("train", data, "--model", ours, "--quiet") == 0
    assert tool("convert", ours, text) == 0
    assert tool("convert", text, back, "--features", "2") == 0
    outputs = set()
    for model in (ours, text, back):
        outputs.add(told(capsys, "predict", model, data).out)
    assert len(outputs) == 1
    assert tool("convert", ours, tmp_path / "none" / "a.txt") == 4
    assert tool("convert", text, tmp_path / "new.svm") == 0  # the ending says what is written
    assert (tmp_path / "new.svm").read_text().startswith("svm_type")
    assert tool("convert", text, tmp_path / "new.csv") == 2


def test_a_model_becomes_a_network(samples, tmp_path, capsys):
    onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed: pip install '.[onnx]'")
    pytest.importorskip("skl2onnx", reason="skl2onnx is not installed: pip install '.[onnx]'")
    X, y = samples
    np.savez(tmp_path / "a.npz", X=X, y=y)
    data, ours, network = (str(tmp_path / name) for name in ("a.npz", "a.adatron", "a.onnx"))
    for scaled in ([], ["--scale", "standard"]):
        assert tool("train", data, "--model", ours, "--quiet", *scaled) == 0
        capsys.readouterr()
        assert "equal labels, and values that deviate by at most" in told(capsys, "convert", ours, network).err
        session = onnxruntime.InferenceSession(network, providers=["CPUExecutionProvider"])
        labels = session.run(["label"], {"X": X.astype(np.float64)})[0]
        np.testing.assert_array_equal(labels, load(ours).predict(X))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_network_of_rows_far_from_the_origin_is_told(tmp_path, capsys):
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed: pip install '.[onnx]'")
    rng = np.random.default_rng(1)
    model = SVC(kernel="linear", bias="augmented").fit(rng.normal(size=(80, 5)) + 1e8, rng.integers(2, size=80))
    save(model, tmp_path / "a.adatron")
    said = told(capsys, "convert", tmp_path / "a.adatron", tmp_path / "a.onnx").err
    assert "warning: Rounding decides the labels of" in said
    assert "equal labels, except where rounding decides, and values" in said


def test_info_shows_the_installation_and_a_model(model, capsys):
    out, err = told(capsys, "info")
    assert err == ""
    assert {"adatron", "numba", "numpy", "threads", "cache folder"} <= {
        row.partition("  ")[0] for row in out.splitlines()
    }
    out = told(capsys, "info", model).out
    for wanted in ("blue, green, red", "support vectors", "relative duality gap", "cache_size"):
        assert wanted in out


def test_info_shows_no_spelling_of_a_default(model, capsys):
    rows = dict(row.split(None, 1) for row in told(capsys, "info", model).out.splitlines() if len(row.split()) > 1)
    assert rows["probability"] == "False"
    assert '"probability": false' in told(capsys, "info", model, "--json").out


def test_doctor_names_versions_threads_and_compiled_code(capsys):
    found = json.loads(told(capsys, "doctor", "--json").out)
    packages = {"adatron", "numpy", "scipy", "scikit-learn", "numba"}
    facts = {"python", "threads", "processor", "cache_folder", "cache_trusted", "cache_writable", "compiler", "extras"}
    assert packages | facts <= set(found)
    assert set(found["extras"]) >= {"cli", "plot", "onnx", "mlflow", "dask", "gpu"}
    out, err = told(capsys, "doctor")
    assert err == ""
    assert found["python"] in out
    assert json.loads(told(capsys, "info", "--json").out).keys() == found.keys()
