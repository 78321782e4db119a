"""The options that say how a table is read, and what train says about it."""

import numpy as np
import pytest

from adatron.files import load
from lines import failed, told, tool


@pytest.fixture
def table(tmp_path):
    """A table of Excel: two numbers, a number of the row, and a label of text."""
    values = np.random.default_rng(0).normal(size=(40, 2)).round(2)
    rows = [f"{i};{a};{b};{'rot' if a > 0 else 'grün'}".replace(".", ",") for i, (a, b) in enumerate(values, 500)]
    path = tmp_path / "a.csv"
    path.write_bytes("\r\n".join(["id;x;z;art", *rows, ""]).encode("cp1252"))
    return str(path)


def test_a_table_of_excel_is_trained_on_and_predicted(table, tmp_path, capsys):
    model = str(tmp_path / "m")
    assert "--encoding" in told(capsys, "train", table, "--model", model, status=1).err
    said = told(capsys, "train", table, "--model", model, "--encoding", "cp1252", "--C", "100").err
    assert "column 'id' is an index or an id: it is no feature and was left out, --keep-index keeps it" in said
    assert "read 40 rows × 2 numeric features, separator ';', decimal ',', label 'art'\n" in said
    assert load(model).feature_names_in_.tolist() == ["x", "z"]
    for more in ([], ["--index", "id"], ["--drop", "0", "--separator", "semicolon", "--decimal", ",", "--header"]):
        out, err = told(capsys, "predict", model, table, "--encoding", "cp1252", *more)
        assert set(out.split()) == {"rot", "grün"}
        assert "accuracy 9" in err


def test_a_header_that_is_read_as_a_sample_is_pointed_at(tmp_path, capsys):
    (tmp_path / "a.csv").write_text("36,4435,9\n" + "".join(f"{i / 7},{-i},{i % 2}\n" for i in range(40)))
    train = ["train", str(tmp_path / "a.csv"), "--model", str(tmp_path / "m")]
    err = told(capsys, *train).err
    assert "a class with one sample: 9 (the label" in err
    assert "is that row a header (--header)?" in err
    assert told(capsys, *train, "--header", "--quiet").err == ""


def test_a_stream_takes_the_options_too(tmp_path, capsys):
    lines = [f"{i % 5 / 2};{i % 3};{i % 2}".replace(".", ",") for i in range(120)]
    (tmp_path / "a.csv").write_text("\n".join(lines) + "\n")
    stream = ["stream", str(tmp_path / "m"), str(tmp_path / "a.csv"), "--quiet"]
    assert tool(*stream, "--separator", ";", "--decimal", ",") == 0
    assert len(load(tmp_path / "m").ids_) == 120


@pytest.fixture
def counted(tmp_path):
    """Write columns of a regression, and return the file's name; `row` counts the rows."""
    a, b = np.random.default_rng(0).normal(size=(2, 40)).round(3)
    columns = {"row": np.arange(40), "a": a, "b": b, "y": (a + b).round(3)}

    def write(*names, header=True):
        path = tmp_path / f"{'-'.join(names)}.csv"
        rows = np.column_stack([columns[name] for name in names])
        np.savetxt(path, rows, delimiter=",", fmt="%.6g", header=",".join(names) if header else "", comments="")
        return str(path)

    return write


@pytest.mark.parametrize("header", [True, False])
def test_a_column_that_counts_the_rows_makes_no_feature_the_label(header, counted, tmp_path, capsys):
    model, files = (
        str(tmp_path / "m"),
        [counted(*names, header=header) for names in (["a", "b", "y"], ["row", "a", "b"])],
    )
    train = ["train", files[0], "--task", "regression", "--model", model, "--quiet"]
    assert tool(*train) == 0
    fault = "column 'row' counts the rows, and" if header else "column 0 counts the rows, and column 2, which is taken"
    for command in (["evaluate", model, files[1]], [*train, "--test", files[1]], ["prove", model, files[1]]):
        said = failed(capsys, *command)
        assert fault in said
        assert "--label" in said
    assert "no label column" in failed(capsys, "evaluate", model, files[1], "--index", "0")
    assert tool("evaluate", model, files[1], "--label", "0") == 0  # whoever says so
    assert tool("evaluate", model, counted("row", "a", "b", "y", header=header), "--index", "0") == 0
    capsys.readouterr()
    if header:  # the names show the features, and such a label is none
        assert told(capsys, "predict", model, files[1]) == told(capsys, "predict", model, counted("a", "b"))
    else:
        assert "column 0 counts the rows" in failed(capsys, "predict", model, files[1])


def test_a_counter_that_the_training_data_have_is_a_feature(counted, tmp_path, capsys):
    model, file = str(tmp_path / "m"), counted("row", "a", "y", header=False)
    train = ["train", file, "--task", "regression", "--model", model, "--test", file, "--quiet"]
    assert "column 0 counts the rows" in told(capsys, *train).err
    assert tool("evaluate", model, file, "--label", "2") == 0
    named, more = counted("row", "a", "y"), tmp_path / "more.csv"
    more.write_text("id,row,a,y\n" + "".join(f"x{i},{i},{i / 7},{i / 3}\n" for i in range(20)))
    train = ["train", named, "--task", "regression", "--model", model, "--test", more, "--quiet"]
    assert "column 'id' is an index or an id" in told(capsys, *train).err  # as it is without a counter
    named = counted("a", "b", "row")
    assert tool("train", named, "--label", "row", "--task", "regression", "--model", model, "--quiet") == 0
    assert tool("evaluate", model, named) == 0  # the model knows this label
