"""What a report of a bug needs.

Also tested here: ``cli/installation``.
"""

import json

from adatron.cli import main


def test_doctor_names_versions_threads_and_compiled_code(capsys):
    assert main(["doctor", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    packages = {"adatron", "numpy", "scipy", "scikit-learn", "numba"}
    facts = {"python", "threads", "processor", "cache_folder", "cache_trusted", "cache_writable", "compiler", "extras"}
    assert packages | facts <= set(found)
    assert set(found["extras"]) >= {"cli", "plot", "onnx", "mlflow", "dask", "gpu"}
    assert main(["doctor"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert found["python"] in out
    assert main(["info", "--json"]) == 0
    assert json.loads(capsys.readouterr().out).keys() == found.keys()
