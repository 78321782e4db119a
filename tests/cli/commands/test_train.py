"""Training from the command line, also on real files, each with the one command that the manual shows."""

import re
import shlex
import sys
from pathlib import Path

import pytest

from adatron import SVC
from adatron.files import load
from lines import told, tool


def test_train_writes_a_model_and_a_table(train_csv, path, capsys):
    options = ["--label", "0", "--C", "2", "--gamma", "0.5", "--tol", "1e-4", "--class-weight", "balanced"]
    out, err = told(capsys, "train", train_csv, "--model", path, *options)
    assert out == ""
    read, *lines = err.splitlines()
    assert read == "read 60 rows × 2 numeric features, separator ',', label 'colour'"
    names = [line.partition("  ")[0] for line in lines]
    assert names == [
        *("samples x features", "label", "classes", "kernel", "C", "support vectors", "updates", "KKT violation"),
        *("relative duality gap", "dual objective", "primal objective", "solved as", "", "", "converged", "seconds"),
        *("model file", "quality"),
    ]
    assert "--test FILE" in lines[-1]
    assert "--cv 5" in lines[-1]
    fitted = load(path)
    assert (fitted.C, fitted.gamma, fitted.tol, fitted.class_weight) == (2.0, 0.5, 1e-4, "balanced")
    assert fitted.callback is None
    assert fitted.classes_.tolist() == ["blue", "green", "red"]


def test_left_out_options_are_the_estimator_s_defaults_and_quiet_training_says_nothing(model, capsys):
    assert capsys.readouterr() == ("", "")
    assert load(model).get_params() == SVC().get_params()


def test_an_early_stop_is_written_and_reported(samples, train_csv, path, capsys):
    arguments = ["train", str(train_csv), "--model", str(path), "--label", "colour", "--set", "max_iter=1"]
    err = told(capsys, *arguments, status=3).err
    assert "warning: " in err
    assert "converged             no" in err
    assert load(path).fit_status_ != 0


@pytest.mark.parametrize("command", ["train", "search"])
def test_a_pipeline_without_skops_is_refused_before_the_fit(command, train_csv, path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "skops.io", None)
    assert tool(command, train_csv, "--model", path, "--label", "0", "--scale", "standard") == 2
    assert "make a pipeline, whose file takes skops: pip install click" in capsys.readouterr().err
    assert not path.exists()


MANUAL = (Path(__file__).parents[3] / "docs" / "command-line.md").read_text().replace("\\\n", " ")
SECTION = MANUAL.partition("## Five files as they are")[2].partition("\n## ")[0]
LINES = {line.split()[2]: line for line in SECTION.splitlines() if line.startswith("adatron train")}
# The label, as `info` names it, and the least quality.
EXPECTED = {
    "pima-indians-diabetes.csv": ("column 8", "accuracy", 72),
    "abalone.csv": ("column 8", "R2", 0.5),
    "breast-cancer-wisconsin.data": ("column 10", "accuracy", 94),
    "cal.housing.arff.gz": ("column 8 (medianHouseValue)", "R2", 0.7),
    "cpu.small.arff": ("column 12 (usr)", "R2", 0.93),
}


def test_the_manual_has_all_five():
    assert set(LINES) == set(EXPECTED)


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.parametrize("name", EXPECTED)
def test_a_real_file_needs_one_command(name, data_dir, tmp_path, capsys, monkeypatch):
    label, quality, least = EXPECTED[name]
    monkeypatch.chdir(tmp_path)
    Path(name).symlink_to(data_dir / name)
    command = shlex.split(LINES[name])[1:]
    at = command.index("--model")
    model = command[at + 1]
    assert tool(*command, "--quiet") == 0
    assert re.search(rf"^label +{re.escape(label)}$", told(capsys, "info", model).out, re.MULTILINE)
    found = re.search(rf"{quality} +([\d.]+)", told(capsys, *command[:at], "--cv", "5", "--quiet").out)
    assert float(found[1]) > least
