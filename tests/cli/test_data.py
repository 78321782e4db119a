"""The options that say how a table is read, and what train says about it."""

import numpy as np
import pytest

from adatron.cli import main
from adatron.files import load


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
    assert main(["train", table, "--model", model]) == 1
    assert "--encoding" in capsys.readouterr().err
    assert main(["train", table, "--model", model, "--encoding", "cp1252", "--C", "100"]) == 0
    said = capsys.readouterr().err
    assert "column 'id' is an index or an id: it is no feature and was left out, --keep-index keeps it" in said
    assert "read 40 rows × 2 numeric features, separator ';', decimal ',', label 'art'\n" in said
    assert load(model).feature_names_in_.tolist() == ["x", "z"]
    for more in ([], ["--index", "id"], ["--drop", "0", "--separator", "semicolon", "--decimal", ",", "--header"]):
        assert main(["predict", model, table, "--encoding", "cp1252", *more]) == 0
        out, err = capsys.readouterr()
        assert set(out.split()) == {"rot", "grün"}
        assert "accuracy 9" in err


def test_a_header_that_is_read_as_a_sample_is_pointed_at(tmp_path, capsys):
    (tmp_path / "a.csv").write_text("36,4435,9\n" + "".join(f"{i / 7},{-i},{i % 2}\n" for i in range(40)))
    train = ["train", str(tmp_path / "a.csv"), "--model", str(tmp_path / "m")]
    assert main(train) == 0
    err = capsys.readouterr().err
    assert "a class with one sample: 9 (the label" in err
    assert "is that row a header (--header)?" in err
    assert main([*train, "--header", "--quiet"]) == 0
    assert capsys.readouterr().err == ""


def test_wrong_options_are_usage_errors_or_name_the_argument(table, tmp_path, capsys):
    train = ["train", table, "--model", str(tmp_path / "m")]
    assert main([*train, "--separator", "dash"]) == 2
    assert main([*train, "--decimal", "x"]) == 2
    assert main([*train, "--encoding", "none"]) == 1
    assert "encoding='none' is not known" in capsys.readouterr().err


def test_a_stream_takes_the_options_too(tmp_path, capsys):
    lines = [f"{i % 5 / 2};{i % 3};{i % 2}".replace(".", ",") for i in range(120)]
    (tmp_path / "a.csv").write_text("\n".join(lines) + "\n")
    stream = ["stream", str(tmp_path / "m"), str(tmp_path / "a.csv"), "--quiet"]
    assert main([*stream, "--separator", ";", "--decimal", ","]) == 0
    assert len(load(tmp_path / "m").ids_) == 120
