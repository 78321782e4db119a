"""What a report of a bug needs.

Also tested here: ``cli/installation``.
"""

import json

from lines import told


def test_doctor_names_versions_threads_and_compiled_code(capsys):
    found = json.loads(told(capsys, ["doctor", "--json"]).out)
    packages = {"adatron", "numpy", "scipy", "scikit-learn", "numba"}
    facts = {"python", "threads", "processor", "cache_folder", "cache_trusted", "cache_writable", "compiler", "extras"}
    assert packages | facts <= set(found)
    assert set(found["extras"]) >= {"cli", "plot", "onnx", "mlflow", "dask", "gpu"}
    out, err = told(capsys, ["doctor"])
    assert err == ""
    assert found["python"] in out
    assert json.loads(told(capsys, ["info", "--json"]).out).keys() == found.keys()
