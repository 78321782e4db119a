"""`adatron report` and `adatron prove`."""

import signal

import numpy as np
import pytest

from adatron import load
from adatron.cli.outputs import ExitStatus
from adatron.reports.panels.good import good
from lines import told, tool
from moments import at


@pytest.fixture
def files(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    lines = [f"{a},{b},{'yes' if a + b > 0 else 'no'}" for a, b in X]
    data, model = tmp_path / "data.csv", tmp_path / "model.adatron"
    data.write_text("\n".join(["<i>width</i>,height,class", *lines]) + "\n")
    (tmp_path / "part.csv").write_text("\n".join(["<i>width</i>,height,class", *lines[:30]]) + "\n")
    assert tool("train", data, "--model", model, "--scale", "standard", "--quiet") == ExitStatus.FINE
    return data, model, tmp_path / "part.csv", tmp_path / "fit.html"


def test_a_page_and_its_answers(files, capsys):
    data, model, part, output = files
    assert tool("report", model, data, "--test", part, "--output", output) == ExitStatus.FINE
    said = capsys.readouterr().err
    assert "1. Is it optimal? Yes: relative duality gap <= " in said
    text = output.read_text("utf-8")
    assert "&lt;i&gt;width&lt;/i&gt;" in text
    assert "<i>" not in text
    assert "Report of model.adatron" in text


def test_ctrl_c_writes_no_file(files, capsys):
    data, model, _, output = files
    before = set(output.parent.iterdir())
    with at(good, lambda _: signal.raise_signal(signal.SIGINT)):
        assert tool("report", model, data, "--output", output) == ExitStatus.INTERRUPTED
    assert set(output.parent.iterdir()) == before


def test_a_time_limit_is_named(files, capsys):
    data, model, _, output = files
    arguments = ["report", str(model), str(data), "--output", str(output)]
    assert tool(*arguments, "--max-time", "1e-6") == ExitStatus.FINE
    assert "Give the report more time" in output.read_text("utf-8")
    assert tool(*arguments, "--max-time", "1e6", "--quiet") == ExitStatus.FINE
    assert "Give the report more time" not in output.read_text("utf-8")
    assert tool(*arguments, "--max-time", "0") == ExitStatus.USAGE


def test_other_data_and_an_input_as_output_are_refused(files, capsys):
    data, model, part, output = files
    assert tool("report", model, part, "--output", output) == ExitStatus.BAD_INPUT
    assert "samples that the model was fitted to" in capsys.readouterr().err
    assert not output.exists()
    assert tool("report", model, data, "--output", data) == ExitStatus.USAGE


def test_prove_writes_what_the_model_says(model, train_csv, samples, tmp_path, capsys):
    path = tmp_path / "proof.txt"
    assert tool("prove", model, train_csv, "--label", "colour", "--output", path) == 0
    assert tool("prove", model, train_csv, "--label", "colour") == 0
    X, y = samples
    machine = load(model)
    vars(machine).pop("feature_names_in_", None)
    assert path.read_text() == capsys.readouterr().out == machine.proof(X, y)


def test_prove_of_a_scaled_model_has_the_rows_of_its_machine(train_csv, samples, tmp_path, capsys):
    path = str(tmp_path / "s.adatron")
    asked = ["--label", "colour", "--quiet", "--scale", "standard"]
    assert tool("train", train_csv, "--model", path, *asked) == 0
    lines = told(capsys, "prove", path, train_csv, "--label", "colour").out.splitlines()
    rows = np.array([[float.fromhex(word) for word in line.split()] for line in lines[4:64]])
    X = samples[0]
    np.testing.assert_allclose(rows, (X - X.mean(axis=0)) / X.std(axis=0), rtol=1e-12)
