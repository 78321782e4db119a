"""The machine that the options ask for; what does not go together is wrong usage, found before any data."""

import json
import sys

import numpy as np
import pytest

import adatron
from adatron.cli.options import INCREMENTAL, TASKS
from lines import failed, told, tool


def kinds(table):
    return [(task, svm) for task, machines in table.items() for svm in machines]


@pytest.mark.slow
@pytest.mark.parametrize(("task", "svm"), kinds(TASKS))
def test_each_command_takes_each_machine_with_its_defaults(task, svm, tmp_path, capsys):
    X = np.random.default_rng(0).normal(size=(40, 3))
    y = np.where(X[:, 0] > 0, 1, -1) if task in ("classification", "novelty") else X[:, 0] + X[:, 1]
    file, model, page = (str(tmp_path / name) for name in ("t.csv", "m.adatron", "r.html"))
    np.savetxt(file, np.column_stack((X, y)), delimiter=",", header="a,b,c,label", comments="")
    more = ["--label", "label"] if task != "novelty" else ["--drop", "label"]
    assert tool("train", file, "--task", task, "--svm", svm, "--model", model, *more) == 0
    assert tool("predict", model, file, "--quiet", *more) == 0
    assert tool("evaluate", model, file, "--label", "label") == 0
    assert tool("report", model, file, "--output", page, *more) == 0
    assert tool("info", model) == 0
    capsys.readouterr()
    assert json.loads(told(capsys, "info", model, "--json").out)["class"] == TASKS[task][svm]


@pytest.mark.parametrize("name", [table[one][two] for table in (TASKS, INCREMENTAL) for one, two in kinds(table)])
def test_info_shows_machines_whose_parameters_are_none(name, tmp_path, capsys):
    kind, file = getattr(adatron, name), str(tmp_path / "m.adatron")
    allowed = kind._parameter_constraints
    nothing = {one: None for one in kind().get_params() if None in allowed[one]}
    X = np.random.default_rng(0).normal(size=(30, 2))
    adatron.save(kind(**nothing).fit(X, np.where(X[:, 0] > 0, 1, -1)), file)
    assert name in told(capsys, "info", file).out
    assert name in told(capsys, "info", file, "--json").out


def test_a_ball_shows_the_one_parameter_that_counts(tmp_path, capsys):
    X, file = np.random.default_rng(0).normal(size=(30, 2)), str(tmp_path / "m.adatron")
    for parameters, shown, hidden in (({"C": 0.2}, "C", "nu"), ({"nu": 0.2}, "nu", "C")):
        adatron.save(adatron.SVDD(**parameters).fit(X), file)
        names = [line.split(maxsplit=1)[0] for line in told(capsys, "info", file).out.splitlines() if line.strip()]
        assert shown in names
        assert hidden not in names


@pytest.fixture
def data(tmp_path):
    np.savetxt(tmp_path / "data.csv", [[0.0, 0.0], [1.0, 1.0]], delimiter=",")
    return ["train", tmp_path / "data.csv", "--model", tmp_path / "m"]


@pytest.mark.parametrize("name", ["gpu", "cuda:99"])
def test_a_device_that_is_not_there_is_wrong_usage(name, data, capsys):
    pytest.importorskip("torch", reason="needs the extra gpu")
    assert "device" in failed(capsys, *data, "--device", name, status=2)


def test_without_torch_one_line_says_how_to_get_it(data, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    said = failed(capsys, *data, "--device", "cuda", status=2)
    assert said.startswith("error: --device: A device needs torch: pip install torch")
