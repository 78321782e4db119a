"""What stands in the label's column is looked at before a fit."""

import json

import numpy as np
import pytest

from adatron import load
from adatron.cli import main
from lines import failed


@pytest.fixture
def write(tmp_path):
    """Write a table of two random features and the given labels, and return the file's name."""

    def table(labels, header="a,b,price\n"):
        rng = np.random.default_rng(0)
        rows = [
            f"{x[0]:.3f},{x[1]:.3f},{label}" for x, label in zip(rng.normal(size=(len(labels), 2)), labels, strict=True)
        ]
        path = tmp_path / "a.csv"
        path.write_text(header + "\n".join(rows) + "\n")
        return str(path)

    return table


def model_in(folder):
    return ["--model", str(folder / "m"), "--quiet"]


@pytest.mark.parametrize(
    "labels",
    [np.arange(60) + 0.5, 1000 * np.arange(60), np.repeat(17 * np.arange(200), 5), np.arange(25)],
    ids=["fractions", "gaps", "often", "all"],
)
def test_measurements_are_no_classes(labels, write, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("adatron.SVC.fit", lambda *_: pytest.fail("it was fitted"))
    assert main(["train", write(labels), *model_in(tmp_path)]) == 1
    said = failed(capsys)
    assert all(word in said for word in ("a.csv", "column 2 (price)", "--label", "--task regression"))


def test_names_are_no_classes(write, tmp_path, capsys):
    assert main(["train", write([f"house {i}" for i in range(60)]), *model_in(tmp_path)]) == 1
    said = failed(capsys)
    assert "60 distinct labels such as 'house 0'" in said
    assert "--task regression" not in said


def test_classification_may_be_asked_for(write, tmp_path, capsys):
    file = write(np.repeat(17 * np.arange(60), 2))
    assert main(["train", file, *model_in(tmp_path)]) == 1
    assert main(["train", file, *model_in(tmp_path), "--task", "classification"]) == 0
    assert len(load(tmp_path / "m").classes_) == 60


def test_numbers_of_many_classes_are_classes(write, tmp_path):
    assert main(["train", write(np.repeat(np.arange(60), 3)), *model_in(tmp_path)]) == 0


def test_a_class_with_one_sample_warns(write, tmp_path, capsys):
    """A header of numbers was read as a sample."""
    file = write([36, *([1] * 20), *([2] * 20)], header="")
    assert main(["train", file, *model_in(tmp_path)]) == 0
    said = capsys.readouterr().err
    assert "a class with one sample: 36 (the label is column 2)" in said
    assert "is that row a header" in said
    assert main(["train", write([1, 1, 1, 2, 2, 2, 3]), *model_in(tmp_path)]) == 0
    said = capsys.readouterr().err
    assert "a class with one sample: 3 (the label is column 2 (price))" in said
    assert "header" not in said


def test_a_file_of_one_class_is_refused_with_its_name(write, tmp_path, capsys):
    assert main(["train", write(["yes"] * 7), *model_in(tmp_path)]) == 1
    said = failed(capsys)
    assert "a.csv: all 7 samples have the label yes" in said
    assert "column 2 (price)" in said


def test_text_is_no_target_of_a_regression(write, tmp_path, capsys):
    assert main(["train", write(["cheap", "dear"] * 4), *model_in(tmp_path), "--task", "regression"]) == 1
    assert "'cheap' is none (the label is column 2 (price): --label names another one)" in failed(capsys)


def test_the_label_s_column_is_said(write, tmp_path, capsys):
    file = write([1, 2] * 10)
    assert main(["train", file, "--model", str(tmp_path / "m")]) == 0
    assert "column 2 (price)" in capsys.readouterr().err
    assert main(["info", str(tmp_path / "m")]) == 0
    assert "column 2 (price)" in capsys.readouterr().out
    assert main(["info", str(tmp_path / "m"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["label"] == "column 2 (price)"
    assert not hasattr(load(tmp_path / "m").fit(np.eye(4), [0, 0, 1, 1]), "label_")  # other data


@pytest.mark.data
def test_house_prices_are_no_classes(data_dir, tmp_path, capsys):
    assert main(["train", str(data_dir / "cal.housing.arff.gz"), *model_in(tmp_path)]) == 1
    assert "3,842 distinct labels from 14999 to 500001" in failed(capsys)
