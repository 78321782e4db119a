"""What a report of a bug needs."""

import json

from adatron.cli import main


def test_doctor_names_versions_threads_and_compiled_code(capsys):
    assert main(["doctor", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    packages = {"adatron", "numpy", "scipy", "scikit-learn", "numba"}
    facts = {"python", "threads", "processor", "cache_folder", "cache_trusted", "cache_writable", "compiler", "extras"}
    assert packages | facts <= set(found)
    assert set(found["extras"]) == {"parquet", "hdf5", "plot", "onnx", "mlflow", "dask", "gpu"}
    assert main(["doctor"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert found["python"] in out
    assert main(["info", "--json"]) == 0
    assert json.loads(capsys.readouterr().out).keys() == found.keys()


def test_the_extras_are_those_of_the_package():
    import tomllib
    from pathlib import Path

    from adatron.extras import EXTRAS

    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text())["project"]
    declared = project["optional-dependencies"]
    for extra, packages in EXTRAS.items():
        assert [one.partition(">")[0] for one in declared[extra]] == list(packages)
