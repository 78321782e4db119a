"""The packages of the extras, and what is said when one is missing."""

import signal
import sys
import tomllib
from pathlib import Path

import pytest

from adatron.__main__ import run
from adatron.extras import extras, how_to_get, needed
from processes import python


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


def test_the_tool_without_its_packages_says_in_a_sentence_what_to_install(monkeypatch, capsys):
    for name in [name for name in sys.modules if name.startswith("adatron.cli")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "click", None)
    handler = signal.getsignal(signal.SIGINT)
    try:
        assert run() == 1
    finally:
        signal.signal(signal.SIGINT, handler)
    assert capsys.readouterr().err == f"error: the command line tool takes click: {how_to_get('cli')}\n"


def test_without_torch_one_sentence_says_how_to_get_it():
    code = (
        "import sys\n"
        "from adatron import SVC\n"
        "sys.modules['torch'] = None\n"
        "try: SVC(device='cuda').fit([[0.0], [1.0]], [0, 1])\n"
        "except ImportError as error: print(error)"
    )
    assert python("-c", code).stdout.startswith("A device needs torch: pip install torch")


def test_fits_and_predictions_of_the_processor_import_no_torch():
    code = (
        "import sys\n"
        "from adatron import SVC\n"
        "SVC().fit([[0.0], [1.0]], [0, 1]).predict([[0.0]])\n"
        "print('torch' in sys.modules)"
    )
    assert python("-c", code).stdout == "False\n"
