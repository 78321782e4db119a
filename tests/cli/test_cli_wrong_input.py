"""Whatever a command is given, an error is one line about the input with a documented status."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from adatron import SVC, SVR, NuSVC, OneClassSVM, save
from adatron.cli.options import KERNEL_NAMES, SEARCHED
from lines import PYTHON, failed, told, tool

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
OTHERS = {
    "real.csv": b"a,b\n0,0.5\n1,1.5\n",
    "colours.csv": b"a,y\n1,red\n2,blue\n3,green\n",
    "forgets.csv": b"1,2,0\n-2\n2,1,1\n",
    "sheet.xlsx": b"city;weight\nRome;1.2\n",
    "new.svm": b"-1 1:1\n-1 1:2\n-1 1:4\n",
    "bare.kernel": b"+1 1:1 2:0.5\n-1 1:0.5 2:1\n",
    "wide.kernel": b"+1 0:1 1:1 2:0.5 3:0\n-1 0:2 1:0.5 2:1\n",
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
    for name, content in (FILES | OTHERS).items():
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


# Commands, each with its status and a part of its message.
TOLD = [
    ("train 'one class.csv' --model m", 1, "one class.csv: all 3 samples have the label 0, and classification needs"),
    ("train colours.csv --model m --task regression", 1, "'red': --label names the column (the label is column 1 (y))"),
    ("info ragged.csv", 1, "not an adatron model file"),
    ("predict ragged.csv good.csv", 1, "ragged.csv: this is not a model; is the order MODEL FILE?"),
    ("train real.csv --model m", 1, "the label 0.5 is not a class (the label is column 1 (b)): --label"),
    ("train words.csv --model m", 1, "the label is taken from column 'y', --label names another one"),
    ("train none.csv --model m", 4, "none.csv: No such file"),
    ("train good.csv --model none/m --quiet", 4, "none/m: its folder is missing"),
    ("train good.csv --model m --C -1", 2, "--C"),
    ("train good.csv --model m --gamma -1", 2, "'-1' is not a number of [scale|auto|x>=0]"),
    ("train none.csv --model m --solver magic", 2, "'magic' is not one of 'auto', 'block'"),
    ("train none.csv --model m --gamma inf", 2, "not a finite number"),
    ("frobnicate", 2, "frobnicate"),
    ("train none.csv --model m --epsilon 0.1", 2, "--epsilon is no parameter of SVC, but of SVR (--task regression"),
    ("train none.csv --model m --task regression --svm nu --epsilon 0.1", 2, "--epsilon is no parameter of NuSVR"),
    ("train none.csv --model m --task regression --class-weight balanced", 2, "--class-weight is no parameter of SVR"),
    ("train none.csv --model m --svm svdd", 2, "--task classification has no machine with --svm svdd"),
    ("train none.csv --model m --task novelty --svm svdd --solver svmseq", 2, "'svmseq' is not made for an explicit"),
    ("train none.csv --model m --task novelty --C 1", 2, "--C is no parameter of OneClassSVM"),
    ("train none.csv --model m --task novelty --svm c", 2, "--task novelty has no machine with --svm c"),
    ("train none.csv --model m --task regression --svm nu --C inf", 2, "The 'C' parameter of NuSVR must be a float"),
    ("train none.csv --model m --solver decomposition --bias none", 2, "'decomposition' is not made for an augmented"),
    ("train none.csv --model m --svm nu --solver isda", 2, "The solver 'isda' is not made for problems with nu"),
    ("train none.csv --model m --set break_ties=True --set decision_function_shape=ovo", 2, "break_ties=True needs"),
    ("train none.csv --model m --set break_ties=yes", 2, "The 'break_ties' parameter of SVC must be"),
    ("train none.csv --model m --set max_iter", 2, "'max_iter' is no NAME=VALUE with a NAME of augment, break_ties"),
    ("train none.csv --model m --set rearrange=True", 2, "--set rearrange is no parameter of SVC, but of QuantileSVR"),
    ("train none.csv --model m --kernel rfb", 2, "'rfb' is not one of " + ", ".join(map(repr, KERNEL_NAMES[:3]))),
    ("train none.csv --model m --kernel precomputed --scale standard", 2, "--scale standard is for features"),
    ("train none.csv --model m --kernel precomputed --categorical auto", 2, "--categorical auto is for features"),
    ("train none.csv --model m --kernel precomputed --impute mean", 2, "--impute mean is for features"),
    ("train bare.kernel --model m --kernel precomputed", 1, "as in '+1 0:17 1:0.2 2:0.9'; no feature 0 found"),
    ("train wide.kernel --model m --kernel precomputed", 1, "kernel values to train on are a square matrix, not"),
    ("train none.csv", 2, "--model is missing"),
    ("train none.csv --model m --cv 3", 2, "--cv writes no model"),
    ("train none.csv --cv 3 --test none.csv", 2, "leave out --test"),
    ("train none.csv --cv 1", 2, "'1' is not a whole number of [n>=2]"),
    ("train good.csv --model m --test 0.3", 2, "--cv 5 cross-validates"),
    ("train good.csv --model m --target 2", 2, "No such option '--target'. Did you mean '--label'?"),
    ("predict svc.adatron good.csv --y 2", 2, "Did you mean '--label'?"),
    ("evaluate svc.adatron good.csv --class 2", 2, "Did you mean '--label'?"),
    ("info --y 2", 2, "No such option '--y'."),
    ("train good.csv --model m --separator dash", 2, "'dash' is neither a character nor one of comma"),
    ("train good.csv --model m --decimal x", 2, "--decimal"),
    ("train good.csv --model m --encoding none", 1, "encoding='none' is not known"),
    ("train good.csv --model m --max-bytes 100", 1, "more than the 100 bytes that it may take (max_bytes)"),
    ("train sheet.xlsx --model m", 1, "the file was read as csv, --format names"),
    ("train new.svm --model m --task novelty", 1, "all labels are -1 (new)"),
    *((f"train good.csv --model m --task quantile --quantile {wrong}", 2, "quantile")
      for wrong in ("0", "1", "0.5,2", "x", "0.5,0.5")),
    ("train good.csv --model m --task regression --quantile 0.5", 2, "is no parameter of SVR, but of QuantileSVR"),
    ("search good.csv --nu auto", 2, "--nu is no parameter of SVC, but of NuSVC"),
    ("search good.csv --svm nu --C 1,2", 2, "--C is no parameter of NuSVC"),
    ("search good.csv --task regression --svm nu --C 1,inf", 2, "The 'C' parameter of NuSVR must be a float"),
    ("search good.csv --scoring acuracy", 2, "--scoring 'acuracy' is none of"),
    ("search good.csv --cv 1", 2, "'1' is not a whole number of [n>=2]"),
    ("search good.csv --plot map.xyz", 2, "--plot map.xyz: the name ends in none of"),
    ("search good.csv --plot m.svg --model m.svg", 2, "--model and --plot are both m.svg"),
    ("search good.csv --C 1 --gamma 0.1 --plot m.svg", 2, "no parameter has several values"),
    ("search good.csv --quiet --kernel linear --gamma auto", 1, "it knows only the ranges of 'C'"),
    ("search good.csv --quiet --max-time 1e-9", 1, "before all folds of any candidate were finished"),
    ("search colours.csv --quiet --task novelty", 1, "1 (known) and -1 (new), and the labels are blue, green, red"),
    ("stream m good.csv --task quantile", 2, "has no machine here"),
    ("stream m good.csv --task regression --svm nu", 2, "--task regression has no machine with --svm nu"),
    ("stream m good.csv --epsilon 0.1", 2, "--epsilon is no parameter of IncrementalSVC, but of IncrementalSVR"),
    ("stream m forgets.csv --first 20", 1, "line 2: '-2' forgets, but the first 20 lines are for the fit"),
    ("predict svc.adatron good.csv --probability", 2, "train it with --probability"),
    ("predict svr.adatron good.csv --probability", 2, "has no probabilities"),
    ("predict one.adatron good.csv --probability", 2, "has no probabilities"),
    ("predict svr.adatron good.csv --decision", 2, "has no decision values"),
    ("evaluate svc.adatron 'one column.csv'", 1, "1 column found, "),
    ("report svc.adatron good.csv", 2, "--output svc.html"),
]  # fmt: skip


@pytest.mark.parametrize(("words", "status", "message"), TOLD)
def test_a_wrong_command_is_told_what_helps(words, status, message, folder, monkeypatch, capsys):
    assert message in ends_well(shlex.split(words), folder, monkeypatch, capsys, status)


def test_a_pipeline_with_text_has_no_network(tmp_path, capsys):
    pytest.importorskip("skl2onnx")
    (tmp_path / "city.csv").write_text("city,weight,kind\n" + "Rome,1,a\nPisa,2,b\n" * 9)
    assert tool("train", tmp_path / "city.csv", "--model", tmp_path / "m", "--categorical", "auto", "--quiet") == 0
    said = told(capsys, "convert", tmp_path / "m", tmp_path / "city.onnx", status=1).err
    assert "The 'X' parameter is needed: rows on which" in said


def test_an_error_in_a_file_of_a_known_name_names_no_format(tmp_path, capsys):
    (tmp_path / "a.csv").write_text("city;weight\nRome;1.2\n")
    assert tool("train", tmp_path / "a.csv", "--model", tmp_path / "m.adatron") == 1
    assert "was read as" not in capsys.readouterr().err
