"""Outputs are checked before anything is read or computed; warnings and tables on the standard streams."""

import warnings
from itertools import cycle
from pathlib import Path

import numpy as np
import pytest

from adatron import SVC
from adatron.cli.outputs import echo_rows, warnings_as_lines, write_result
from adatron.cli.report import predictions
from lines import failed

# Each command with the place of its output; the data do not exist, so that an error about the output came first.
COMMANDS = {
    "train": ["train", "none.csv", "--model", "OUT.adatron"],
    "search": ["search", "none.csv", "--model", "OUT.adatron"],
    "plot": ["search", "none.csv", "--plot", "OUT.svg"],
    "predict": ["predict", "none.adatron", "none.csv", "--output", "OUT.txt"],
    "evaluate": ["evaluate", "none.adatron", "none.csv", "--output", "OUT.txt"],
    "report": ["report", "none.adatron", "none.csv", "--output", "OUT.html"],
    "prove": ["prove", "none.adatron", "none.csv", "--output", "OUT.txt"],
    "convert": ["convert", "none.adatron", "OUT.txt"],
    "stream": ["stream", "OUT.adatron", "none.csv"],
}
NAMES = {"search": "--model", "train": "--model", "plot": "--plot", "convert": "OUTPUT", "stream": "MODEL"}


def words(command, place):
    return [str(place) + Path(word).suffix if word.startswith("OUT") else word for word in COMMANDS[command]]


PLACES = {"missing folder": "missing/a", "file as folder": "file/a", "a folder": "folder", "unwritable": "/proc/a"}


@pytest.mark.parametrize(
    ("command", "kind"), [*zip(COMMANDS, cycle(PLACES), strict=False), ("train", "a folder"), ("stream", "a folder")]
)
def test_a_place_where_nothing_can_be_written(command, kind, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("")
    if kind == "unwritable" and not Path("/proc").is_dir():
        pytest.skip("the system has no /proc")
    arguments = words(command, PLACES[kind])
    if kind == "a folder":
        next(tmp_path / word for word in arguments if word.startswith("folder")).mkdir()
    before = set(tmp_path.iterdir())
    assert NAMES.get(command, "--output") in failed(capsys, *arguments, status=4)
    assert set(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    "arguments",
    [
        "train none.csv --model m.onnx",
        "train none.csv --model m.csv",
        "train none.csv --model m.adatron.gz",
        "search none.csv --model m.pkl",
        "search none.csv --plot map.csv",
        "predict none.adatron none.csv --output p.parquet",
        "predict none.adatron none.csv --output p.csv.gz",
        "evaluate none.adatron none.csv --output e.json",
        "report none.adatron none.csv --output r.pdf",
        "convert none.adatron n.html",
        "convert none.adatron n.onnx --to libsvm",
        "stream s.csv none.csv",
    ],
)
def test_an_ending_that_the_command_does_not_write(arguments, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    said = failed(capsys, *arguments.split(), status=2)
    assert any(name in said for name in ("--model", "--plot", "--output", "OUTPUT", "MODEL"))
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("command", COMMANDS)
def test_an_output_without_a_name(command, capsys):
    words = ("" if word.startswith("OUT") else word for word in COMMANDS[command])
    assert "is empty" in failed(capsys, *words, status=2)


def test_an_output_is_no_input_and_no_other_output(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name in ("a.txt", "m.adatron-journal"):
        Path(name).write_text("1 1:1\n")
    Path("link.txt").symlink_to("a.txt")
    Path("hard.txt").hardlink_to("a.txt")
    for arguments in (
        "train a.txt --model link.txt",
        "train hard.txt --model ./a.txt",
        "train none.csv --model a.txt --test a.txt",
        "train a.txt/train --model a.txt",
        "predict m - a.txt --output link.txt",
        "evaluate m a.txt --output a.txt",
        "predict none a.txt --output ./a.txt",
        "convert a.txt link.txt",
        "search a.txt --model b.svg --plot ./b.svg",
        "stream a.txt a.txt",
        "stream m.adatron m.adatron-journal",
    ):
        assert "would overwrite" in (said := failed(capsys, *arguments.split(), status=2)) or "are both" in said
    assert Path("a.txt").read_text() == Path("m.adatron-journal").read_text() == "1 1:1\n"


def test_warnings_are_printed_at_once_by_the_filters_of_python(capsys):
    with warnings.catch_warnings():
        warnings.resetwarnings()
        warnings.filterwarnings("ignore", category=DeprecationWarning)
        with warnings_as_lines():
            for _ in range(2):
                warnings.warn("raise\nmax_time", UserWarning, stacklevel=1)
            assert capsys.readouterr().err == "warning: raise max_time\n"
            warnings.warn("old", DeprecationWarning, stacklevel=1)
            with warnings_as_lines(str):
                warnings.warn("column max_time", UserWarning, stacklevel=1)
    assert capsys.readouterr().err == "warning: column max_time\n"


@pytest.mark.parametrize("write", [lambda: write_result("{}", None), lambda: echo_rows([("a", 1)], err=False)])
def test_an_error_names_standard_output(write, monkeypatch):
    def full(*arguments, **keywords):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("sys.stdout.write", full)
    with pytest.raises(OSError, match="No space left") as caught:
        write()
    assert caught.value.filename == "standard output"


def test_columns_of_one_name_are_all_written():
    """The pair of 'a' and 'b b' has the name of that of 'a b' and 'b'."""
    names, X = np.array(["a", "b b", "a b", "b"]), np.random.default_rng(0).normal(size=(40, 2))
    model = SVC(decision_function_shape="ovo").fit(X, names[np.arange(40) % 4])
    lines = predictions(model, X, model.predict(X), decision=True, probability=False, to="csv").splitlines()
    assert lines[0].split(",").count("decision a b b") == 2
    found = [list(map(float, line.split(",")[1:])) for line in lines[1:]]
    np.testing.assert_allclose(found, model.decision_function(X), rtol=1e-15)
