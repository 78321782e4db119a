"""What the tool says of an installation and of a model."""

import json

from lines import told


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
