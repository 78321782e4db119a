"""The packages of the extras, and what is said when one is missing."""

import tomllib
from pathlib import Path

import pytest

from adatron.extras import extras, how_to_get, needed


def test_the_extras_are_those_of_the_package():
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
    declared = project["optional-dependencies"]
    for extra in ("plot", "onnx", "dask", "gpu", "mlflow"):
        assert [one.partition(">")[0] for one in declared[extra]] == extras()[extra]


def test_a_module_that_is_missing_is_an_error_that_says_how_to_get_it():
    assert needed("tomllib", "plot", "Nobody needs") is tomllib
    with pytest.raises(ImportError, match=r"^Pictures need nowhere_to_be_found: pip install matplotlib") as caught:
        needed("nowhere_to_be_found.inside", "plot", "Pictures need")
    assert how_to_get("plot") in str(caught.value)
