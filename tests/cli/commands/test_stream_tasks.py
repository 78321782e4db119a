"""Streams of all incremental machines, and tables with headers."""

import json

import numpy as np
import pytest

import adatron
from lines import failed, told, tool

MACHINES = {
    ("classification", "c"): "IncrementalSVC",
    ("classification", "nu"): "IncrementalNuSVC",
    ("regression", "c"): "IncrementalSVR",
    ("novelty", "nu"): "IncrementalOneClassSVM",
    ("novelty", "svdd"): "IncrementalSVDD",
}


def samples(task, n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2)).round(3)
    if task == "regression":
        return X, (X.sum(axis=1) + 0.1 * rng.normal(size=n)).round(3)
    return X, np.where(X.sum(axis=1) > 0, "up", "down")


def lines_of(task, X, y):
    columns = X.astype(str).tolist()
    return [",".join(row if task == "novelty" else [*row, str(label)]) for row, label in zip(columns, y, strict=True)]


@pytest.mark.parametrize(("task", "svm"), MACHINES)
def test_every_incremental_machine_learns_from_a_stream(task, svm, path, tmp_path, capsys):
    X, y = samples(task)
    (tmp_path / "a.csv").write_text("\n".join(lines_of(task, X, y)) + "\n")
    arguments = ["stream", path, str(tmp_path / "a.csv")]
    options = ["--task", task, "--svm", svm, "--first", "40", "--gamma", "0.5"]
    more = ["--nu", "0.3"] if svm == "nu" else ["--C", "2"]
    assert json.loads(told(capsys, *arguments, *options, *more, "--json").out)["lines"] == 20
    model = adatron.load(path)
    assert type(model).__name__ == MACHINES[task, svm]
    kind, given = getattr(adatron, MACHINES[task, svm]), {more[0][2:]: float(more[1])}
    expected = kind(gamma=0.5, **given).fit(X, None if task == "novelty" else y)
    new = samples(task, seed=1)[0]
    ask = "predict" if task == "regression" else "decision_function"
    np.testing.assert_allclose(getattr(model, ask)(new), getattr(expected, ask)(new), atol=1e-7)
    assert "exists and has its own parameters: leave out --svm" in failed(capsys, *arguments, "--svm", svm, status=2)


@pytest.fixture
def tables(tmp_path):
    """Write two tables with the header "side,a,b", and return their names and the samples."""
    X, y = samples("classification", 80)
    names = []
    for number, part in enumerate((slice(0, 50), slice(50, 80))):
        rows = [f"{label},{a},{b}" for (a, b), label in zip(X[part].tolist(), y[part], strict=True)]
        path = tmp_path / f"{number}.csv"
        path.write_text("\n".join(["side,a,b", *rows]) + "\n")
        names.append(str(path))
    return names, X, y


@pytest.mark.parametrize("label", [["--label", "side"], ["--label", "0"]])
def test_a_header_is_no_sample(label, tables, path, capsys):
    (first, second), X, y = tables
    assert tool("stream", path, first, *label, "--first", "20", "--gamma", "0.5", "--json") == 0
    assert json.loads(capsys.readouterr().out)["lines"] == 30
    assert tool("stream", path, first, *label, "--json") == 0  # the same file again
    assert json.loads(capsys.readouterr().out)["lines"] == 0
    assert tool("stream", path, second, "--json") == 0  # the model knows its columns
    assert json.loads(capsys.readouterr().out)["lines"] == 30
    expected = adatron.IncrementalSVC(gamma=0.5).fit(X, y)
    new = samples("classification", seed=1)[0]
    np.testing.assert_allclose(adatron.load(path).decision_function(new), expected.decision_function(new), atol=1e-7)


def test_a_header_with_other_columns_is_refused(tables, path, tmp_path, capsys):
    (first, second), _, _ = tables
    assert tool("stream", path, first, "--label", "side", "--first", "20", "--quiet") == 0
    text = (tmp_path / "1.csv").read_text()
    (tmp_path / "1.csv").write_text(text.replace("side,a,b", "side,b,a"))
    assert tool("stream", path, second, "--quiet") == 1
    assert "its header (side, b, a) is not that of the lines before (side, a, b)" in failed(capsys)


def test_first_lines_of_one_class_are_refused_by_name(tmp_path, capsys):
    (tmp_path / "a.csv").write_text("".join(f"{i},{-i},{i > 30}\n" for i in range(60)))
    arguments = ["stream", str(tmp_path / "m"), str(tmp_path / "a.csv")]
    assert "a.csv: the first 10 lines all have the label False" in failed(capsys, *arguments, "--first", "10")
    assert tool(*arguments, "--first", "40") == 0


def test_replayed_lines_are_called_so(tmp_path, capsys):
    X, y = samples("classification")
    (tmp_path / "a.csv").write_text("\n".join(lines_of("classification", X, y)) + "\n")
    for _ in range(2):
        assert tool("stream", tmp_path / "m", tmp_path / "a.csv", "--first", "40") == 0
        assert "replayed from journal  0\n" in capsys.readouterr().err


SEMICOLONS = "".join(f"{i % 7 / 2};{i % 2};{(i * 3) % 5 / 4}\n".replace(".", ",") for i in range(60))


@pytest.mark.parametrize(
    ("header", "options", "samples"),
    [
        ("größe;y;höhe\n", [], 60),
        ("2001;2002;2003\n", ["--header", "--label", "1"], 60),
        ("0;1;2\n", ["--header", "--label", "1"], 60),
        ("7,5;0;2,25\n", ["--label", "1"], 61),
    ],
)
def test_headers_are_those_of_the_reader_of_files(header, options, samples, tmp_path, capsys):
    (tmp_path / "a.csv").write_text(header + SEMICOLONS, encoding="utf-8")
    command = ["stream", str(tmp_path / "m"), str(tmp_path / "a.csv"), *options, "--first", "20", "--quiet", "--json"]
    assert json.loads(told(capsys, *command).out)["samples"] == samples
    model = adatron.load(tmp_path / "m")
    table = adatron.files.read(tmp_path / "a.csv", label=1, header=samples == 60)
    assert (model.predict(table.X) == table.y).mean() > 0.5
    assert tool(*command) == 0  # nothing is new
    assert json.loads(capsys.readouterr().out)["lines"] == 0


def test_columns_of_a_header_are_left_out_by_name(tmp_path):
    rows = "".join(f"note {i};{i % 7 / 2};{i % 3};{i % 2}\n" for i in range(60))
    (tmp_path / "a.csv").write_text("note;a;b;y\n" + rows)
    command = ["stream", str(tmp_path / "m"), str(tmp_path / "a.csv"), "--drop", "note", "--first", "20", "--quiet"]
    assert tool(*command) == 0
    model = adatron.load(tmp_path / "m")
    assert (model.n_features_in_, len(model.ids_)) == (2, 60)


def test_a_later_line_has_the_form_of_the_first(tmp_path, capsys):
    (tmp_path / "a.csv").write_text(SEMICOLONS + "1,5,1,0\n")
    assert tool("stream", tmp_path / "m", tmp_path / "a.csv", "--label", "1", "--first", "20") == 1
    assert "a.csv, line 61: " in failed(capsys)
    assert len(adatron.load(tmp_path / "m").ids_) == 60


def test_every_input_has_a_form_of_its_own(tmp_path):
    (tmp_path / "a.csv").write_text(SEMICOLONS)
    (tmp_path / "b.csv").write_text(SEMICOLONS.replace(",", ".").replace(";", ","))
    for name in ("a.csv", "b.csv"):
        command = ["stream", str(tmp_path / "m"), str(tmp_path / name), "--label", "1", "--first", "20", "--quiet"]
        assert tool(*command) == 0
    assert len(adatron.load(tmp_path / "m").ids_) == 120
