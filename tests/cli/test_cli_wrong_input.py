"""Whatever a command is given, an error is one line about the input with a documented status."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from adatron import SVC, SVR, NuSVC, OneClassSVM, save
from adatron.cli.options import SEARCHED
from lines import PYTHON, failed, tool

FILES = {
    "empty.csv": b"",
    "header.csv": b"a,b,y\n",
    "rubbish.csv": bytes(range(255, 0, -1)) * 9,
    "rubbish.npz": bytes(range(7, 250)),
    "rubbish.gz": b"\x1f\x8b" + bytes(range(50)),
    "one row.csv": b"a,b,y\n1,2,0\n",
    "one class.csv": b"a,b,y\n1,2,0\n1,3,0\n2,2,0\n",
    "one column.csv": b"y\n1\n0\n1\n",
    "nan.csv": b"a,b,y\nnan,nan,0\nnan,nan,1\n",
    "no label.csv": b"a,b,y\n1,2,nan\n2,3,1\n3,3,1\n",
    "inf.csv": b"a,b,y\n1,inf,0\n2,3,1\n3,1,0\n",
    "words.csv": b"a,b,y\nfoo,2,red\nbar,3,blue\n",
    "ragged.csv": b"a,b,y\n1,2,0\n1,2\n3,4,1,7\n",
    "bad.svm": b"1 1:2 2:x\n-1 1:3\n",
    "large.svm": b"1 99999999999999:2\n-1 1:3\n",
}
COMMANDS = {
    "train": ["train", "FILE", "--model", "out"],
    "train --cv": ["train", "FILE", "--cv", "2"],
    "regression": ["train", "FILE", "--task", "regression", "--cv", "2"],
    "novelty": ["train", "FILE", "--task", "novelty", "--cv", "2"],
    "test": ["train", "good.csv", "--test", "FILE", "--model", "out"],
    "search": ["search", "FILE", "--model", "out", "--C", "1,2", "--gamma", "1"],
    "search novelty": ["search", "FILE", "--task", "novelty", "--nu", "0.1,0.2", "--gamma", "1"],
    "stream": ["stream", "out", "FILE", "--first", "4"],
    "predict": ["predict", "svc.adatron", "FILE", "--output", "out"],
    "evaluate": ["evaluate", "svc.adatron", "FILE", "--output", "out"],
    "report": ["report", "svc.adatron", "FILE", "--output", "out.html", "--max-time", "1"],
    "prove": ["prove", "svc.adatron", "FILE", "--output", "out"],
    "model": ["predict", "FILE", "good.csv"],
    "info": ["info", "FILE"],
    "convert": ["convert", "FILE", "out"],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wrong")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))
    y = (X[:, 0] > 0).astype(int)
    np.savetxt(folder / "good.csv", np.c_[X, y], delimiter=",", header="a,b,y", comments="", fmt="%.8g")
    np.savetxt(folder / "wide.csv", np.c_[X, X, y], delimiter=",", fmt="%.8g")
    np.savetxt(folder / "half.csv", np.c_[X, y][:20], delimiter=",", fmt="%.8g")
    for name, content in FILES.items():
        (folder / name).write_bytes(content)
    (folder / "folder").mkdir()
    for name, model in {
        "svc": SVC(), "svr": SVR(), "one": OneClassSVM(), "nusvc": NuSVC(), "ovr": SVC(multi_class="ovr"),
        "laplacian": SVC(kernel="laplacian"),
    }.items():  # fmt: skip
        save(model.fit(X, (y + (X[:, 1] > 0)) if name == "ovr" else y), folder / f"{name}.adatron")
    save(SVC(kernel="precomputed").fit(X @ X.T, y), folder / "given.adatron")
    save(SVC().fit(X, y).compact(), folder / "compact.adatron")
    return folder


def ends_well(arguments, folder, monkeypatch, capsys, wanted=None):
    """Run a command; if it fails, check its one line and that it has written nothing. Return the line, if any."""
    monkeypatch.chdir(folder)
    before = sorted(folder.iterdir())
    status = tool(*arguments)
    assert status in ((0, 1, 2, 3, 4) if wanted is None else (wanted,))
    err = capsys.readouterr().err
    assert not PYTHON.search(err)
    if status in (0, 3):
        for path in set(folder.iterdir()) - set(before):
            path.unlink()
        return None
    assert [line.startswith("error: ") for line in err.splitlines()].count(True) == 1
    assert err.splitlines()[-1].startswith("error: ")
    assert sorted(folder.iterdir()) == before
    return err.splitlines()[-1]


WRONG = [*FILES, "folder", "missing", "", "wide.csv"]


@pytest.mark.parametrize(
    ("file", "command"),
    [(file, command) for i, file in enumerate(WRONG) for j, command in enumerate(COMMANDS)
     if (i + j) % 15 == 0 or (file == "" and j % 5 == 0)],
)  # fmt: skip
def test_wrong_files(command, file, folder, monkeypatch, capsys):
    said = ends_well([file if word == "FILE" else word for word in COMMANDS[command]], folder, monkeypatch, capsys)
    if said is not None and file:
        assert file in said or "none of the labels" in said or "the model has seen" in said


MODELS = ("svc", "svr", "one", "nusvc", "ovr", "laplacian", "given", "compact")
# The status of each command for each of the models.
STATUSES = {
    "convert M out --to libsvm": "00001101",
    "convert M out --to onnx": "00000010",
    "convert M out --features 1": "22222222",
    "predict M wide.csv": "11111111",
    "predict M good.csv --decision": "02000010",
    "predict M good.csv --probability": "22222212",
    "predict M good.csv --device cuda:99": "22222212",
    "evaluate M wide.csv": "11111111",
    "report M half.csv --output o.html --max-time 1": "11111111",
    "stream M good.csv": "11111111",
    "info M": "00000000",
}


@pytest.mark.parametrize(
    ("words", "status"),
    [(words.replace("M", f"{model}.adatron"), int(statuses[j]))
     for i, (words, statuses) in enumerate(STATUSES.items()) for j, model in enumerate(MODELS) if (i + j) % 6 == 0],
)  # fmt: skip
def test_models_of_other_kinds(words, status, folder, monkeypatch, capsys):
    said = ends_well(words.split(), folder, monkeypatch, capsys, status)
    assert (said is None) == (status == 0)


OPTIONS = (
    "C", "gamma", "nu", "epsilon", "cv", "n-jobs", "degree", "coef0", "tol", "gap-tol",
    "max-time", "class-weight", "random-state", "features", "max-bytes", "kernel",
    "solver", "device", "task", "svm", "scale", "impute", "separator", "encoding", "decimal", "format",
)  # fmt: skip


@pytest.mark.parametrize(("number", "option"), [*enumerate(OPTIONS)])
def test_wrong_values_name_the_option(number, option, folder, monkeypatch, capsys):
    command, value = "search" if option in SEARCHED else "train", ("-7", "nan", "")[number % 3]
    said = ends_well([command, "good.csv", "--model", "out", f"--{option}", value], folder, monkeypatch, capsys)
    assert said is not None
    assert option.replace("-", "_") in said.replace("-", "_")


def test_a_label_that_is_not_there(folder, monkeypatch, capsys):
    for label in ("7", "-9", "none", ""):
        said = ends_well(["train", "good.csv", "--model", "out", "--label", label], folder, monkeypatch, capsys)
        assert "no column" in said


def test_names_with_spaces_and_other_letters(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    Path("blüten 1.csv").write_bytes((folder / "good.csv").read_bytes())
    assert tool("train", "blüten 1.csv", "--model", "ein modell ü.adatron", "--quiet") == 0
    assert tool("predict", "ein modell ü.adatron", "blüten 1.csv", "--output", "aus gabe.csv", "--quiet") == 0
    assert tool("train", "blüten 1.csv", "--label", "ö", "--model", "m") == 1
    assert "blüten 1.csv, line 1: no column 'ö'" in failed(capsys)


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="a shell closes the streams")
@pytest.mark.parametrize("words", ["stream out - <&-", "predict svc.adatron - <&-", "predict svc.adatron good.csv >&-"])
def test_closed_streams(words, folder):
    shell = ["sh", "-c", f'"$0" -m adatron {words}', sys.executable]
    done = subprocess.run(shell, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 4
    assert re.search(r"error: standard (input|output): it is closed\n", done.stderr)
    assert "Traceback" not in done.stderr


HELPED = {
    "a part as test data": (["train", "a.csv", "--model", "m.adatron", "--test", "0.3"], "--cv 5 cross-validates"),
    "target": (["train", "a.csv", "--model", "m.adatron", "--target", "2"], "Did you mean '--label'?"),
    "y": (["predict", "svc.adatron", "a.csv", "--y", "2"], "Did you mean '--label'?"),
    "class": (["evaluate", "svc.adatron", "a.csv", "--class", "2"], "Did you mean '--label'?"),
    "no label there": (["info", "--y", "2"], "No such option '--y'."),
    "no report": (["report", "svc.adatron", "a.csv"], "--output svc.html"),
    "text as a sheet": (["train", "sheet.xlsx", "--model", "m.adatron"], "the file was read as csv, --format names"),
    "one column": (["evaluate", "svc.adatron", "one.csv"], "1 column found, "),
    "no way back to rows": (["convert", "city.adatron", "city.onnx"], "The 'X' parameter is needed: rows on which"),
}


@pytest.mark.parametrize("case", HELPED)
def test_a_wrong_command_is_told_what_helps(case, folder, tmp_path, monkeypatch, capsys):
    if case == "no way back to rows":
        pytest.importorskip("skl2onnx")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "svc.adatron").write_bytes((folder / "svc.adatron").read_bytes())
    for name, text in {
        "a.csv": "1,2,0\n2,1,1\n" * 9,
        "one.csv": "1.0\n2.0\n",
        "sheet.xlsx": "city;weight\nRome;1.2\n",
        "city.csv": "city,weight,kind\n" + "Rome,1,a\nPisa,2,b\n" * 9,
    }.items():
        (tmp_path / name).write_text(text)
    assert tool("train", "city.csv", "--model", "city.adatron", "--categorical", "auto", "--quiet") == 0
    arguments, help_ = HELPED[case]
    assert tool(*arguments) in (1, 2, 4)
    assert help_ in capsys.readouterr().err


def test_a_limit_has_its_name(tmp_path, capsys):
    path = tmp_path / "a.csv"
    path.write_text("1,0\n2,1\n" * 50)
    assert tool("train", path, "--model", tmp_path / "m", "--max-bytes", "100") == 1
    assert "more than the 100 bytes that it may take (max_bytes)" in capsys.readouterr().err


def test_an_error_in_a_file_of_a_known_name_names_no_format(tmp_path, capsys):
    (tmp_path / "a.csv").write_text("city;weight\nRome;1.2\n")
    assert tool("train", tmp_path / "a.csv", "--model", tmp_path / "m.adatron") == 1
    assert "was read as" not in capsys.readouterr().err
