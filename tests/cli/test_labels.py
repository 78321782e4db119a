"""What stands in the label's column is looked at before a fit."""

import json

import numpy as np
import pytest
from sklearn.datasets import load_diabetes

from adatron import SVC, load
from adatron.cli.labels import refuse_measurements
from adatron.cli.outputs import InputError
from adatron.files import read
from lines import failed, told, tool
from moments import at


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


def rounded(numbers, low=-np.inf, high=np.inf):
    return np.clip(np.asarray(numbers).round(), low, high).astype(np.int64)


def drawn(seed=0):
    return np.random.default_rng(seed)


MEASUREMENTS = {
    "fractions": np.arange(60) + 0.5,
    "far apart": 1000 * np.arange(60),
    "gaps, each five times": np.repeat(17 * np.arange(200), 5),
    "one sample each": np.arange(25),
    "diabetes": load_diabetes().target.astype(int),
    "ages of few": rounded(drawn().normal(45, 15, 300), 18, 90),
    "ages of many": rounded(drawn().gamma(6, 6, 30000), 17, 90),
    "years": drawn().integers(1922, 2011, 3000),
    "counts around 30": drawn().poisson(30, 1000),
    "counts around 12": drawn().poisson(12, 150),
    "counts with a long tail": drawn().geometric(0.1, 500) - 1,
    "rings of abalones": np.repeat(
        [*range(1, 25)],
        [1, 1, 15, 57, 115, 259, 391, 568, 689, 634, 487, 267, 203, 126, 103, 67, 58, 42, 32, 26, 14, 6, 1, 1],
    ),
    "points of an exam": rounded(drawn().normal(65, 15, 150), 0, 100),
    "miles per gallon": rounded(drawn().normal(23, 8, 392), 9, 46),
    "blood pressures of few": rounded(drawn().normal(120, 15, 30)),
    "a dozen prices": np.array([120, 135, 98, 210, 180, 175, 99, 143, 160, 155, 128, 131]),
    "seven prices": np.repeat([10, 20, 30, 40, 50, 60, 70], [9, 1, 1, 1, 1, 1, 1]),
    "eight prices": np.array([120, 135, 98, 210, 180, 175, 99, 143]),
    "heart rhythms": np.repeat([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 14, 15, 16],
                               [245, 44, 15, 15, 13, 25, 3, 2, 9, 50, 4, 5, 22]),
    "land use": np.repeat([11, 21, 22, 23, 24, 31, 41, 42, 43, 52, 71, 81, 82, 90, 95], 12),
}  # fmt: skip
CLASSES = {
    "digits": drawn().integers(0, 10, 200),
    "letters": drawn().integers(1, 27, 500),
    "a hundred classes": np.repeat(np.arange(100), 3),
    "sixty classes": np.repeat(np.arange(60), 3),
    "ids": np.repeat([99, 100, -7], 4),
    "ids, once each": np.array([99, 100, -7]),
    "tumours": np.repeat([2, 4], [46, 24]),
    "signs": np.repeat([-1, 1], 2),
    "glasses": np.repeat([1, 2, 3, 5, 6, 7], [70, 76, 17, 13, 9, 29]),
    "wines": np.repeat([3, 4, 5, 6, 7, 8], [10, 53, 681, 638, 199, 18]),
    "noise and clusters": np.repeat([-1, *range(15)], 4),
    "five rows": np.arange(5),
    "six rows": np.arange(1, 7),
    "six rows from 3 on": np.arange(3, 9),
}  # fmt: skip


@pytest.mark.parametrize("labels", MEASUREMENTS.values(), ids=MEASUREMENTS)
def test_measurements_are_no_classes(labels, write):
    """Some of them are classes with gaps, of which the user must say so."""
    file = write(labels)
    with pytest.raises(InputError, match=r"a\.csv.*column 2 \(price\).*--label .*--task regression"):
        refuse_measurements(file, read(file), chosen=False)
    if labels.dtype.kind != "f":
        refuse_measurements(file, read(file), chosen=True)


@pytest.mark.parametrize("command", ["train", "search"])
def test_measurements_are_refused_before_a_fit(command, write, tmp_path, capsys):
    with at(SVC.fit, lambda _: pytest.fail("it was fitted")):
        assert tool(command, write(MEASUREMENTS["diabetes"]), *model_in(tmp_path)) == 1
    assert "--task classification" in failed(capsys)
    assert not (tmp_path / "m").exists()


def test_numbers_of_classes_are_classes(write):
    for labels in CLASSES.values():
        file = write(labels)
        refuse_measurements(file, read(file), chosen=False)


def test_a_stream_begins_with_classes(write, tmp_path, capsys):
    file, model = write(MEASUREMENTS["diabetes"]), str(tmp_path / "m")
    said = failed(capsys, "stream", model, file, "--quiet")
    assert "--task regression" in said
    assert "--task classification" in said
    assert tool("stream", model, file, "--first", "400", "--quiet", "--task", "regression") == 0


def test_names_are_no_classes(write, tmp_path, capsys):
    said = failed(capsys, "train", write([f"house {i}" for i in range(60)]), *model_in(tmp_path))
    assert "60 distinct labels such as 'house 0'" in said
    assert "--task regression" not in said


def test_classification_may_be_asked_for(write, tmp_path, capsys):
    file = write(np.repeat(17 * np.arange(60), 2))
    assert tool("train", file, *model_in(tmp_path)) == 1
    assert tool("train", file, *model_in(tmp_path), "--task", "classification") == 0
    assert len(load(tmp_path / "m").classes_) == 60


def test_a_class_with_one_sample_warns(write, tmp_path, capsys):
    """A header of numbers was read as a sample."""
    file = write([36, *([1] * 20), *([2] * 20)], header="")
    said = told(capsys, "train", file, *model_in(tmp_path)).err
    assert "a class with one sample: 36 (the label is column 2)" in said
    assert "is that row a header" in said
    said = told(capsys, "train", write([1, 1, 1, 2, 2, 2, 3]), *model_in(tmp_path)).err
    assert "a class with one sample: 3 (the label is column 2 (price))" in said
    assert "header" not in said


def test_the_label_s_column_is_said(write, tmp_path, capsys):
    file = write([1, 2] * 10)
    assert "column 2 (price)" in told(capsys, "train", file, "--model", tmp_path / "m").err
    assert "column 2 (price)" in told(capsys, "info", tmp_path / "m").out
    assert json.loads(told(capsys, "info", tmp_path / "m", "--json").out)["label"] == "column 2 (price)"
    assert not hasattr(load(tmp_path / "m").fit(np.eye(4), [0, 0, 1, 1]), "label_")  # other data


@pytest.mark.data
@pytest.mark.parametrize("name", ["abalone.csv", "cpu.small.arff"])
def test_targets_of_the_page_are_no_classes(name, data_dir, tmp_path, capsys):
    assert "--task regression" in failed(capsys, "train", data_dir / name, "--categorical", "auto", *model_in(tmp_path))


@pytest.mark.data
def test_house_prices_are_no_classes(data_dir, tmp_path, capsys):
    assert tool("train", data_dir / "cal.housing.arff.gz", *model_in(tmp_path)) == 1
    assert "3,842 distinct labels from 14999 to 500001" in failed(capsys)
