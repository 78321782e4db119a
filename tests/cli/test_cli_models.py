"""What the tool keeps in its models, what it writes, and what it prints as JSON.

Also tested here: ``report``.
"""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from adatron import IncrementalSVC
from adatron.files import load, read
from lines import failed, told, tool


@pytest.mark.parametrize("scale", ["standard", "minmax"])
def test_scaling_keeps_the_zeros_of_sparse_data(scale, tmp_path, capsys):
    X = sparse.random(80, 50, 0.08, random_state=0, format="csr")
    dump_svmlight_file(X, np.arange(80) % 2, str(tmp_path / "a.svm"), zero_based=False)
    arguments = ["train", str(tmp_path / "a.svm"), "--model", str(tmp_path / "m"), "--scale", scale, "--quiet"]
    assert tool(*arguments) == 0
    assert load(tmp_path / "m")[-1].support_vectors_.nnz < X.nnz + 1
    assert tool("evaluate", tmp_path / "m", tmp_path / "a.svm") == 0


def test_weights_of_classes_by_their_names(samples, train_csv, path, capsys):
    arguments = ["train", str(train_csv), "--model", str(path), "--label", "colour", "--quiet", "--class-weight"]
    assert tool(*arguments, "red:2,green:0.5") == 0
    assert load(path).class_weight_.tolist() == [1.0, 0.5, 2.0]
    for wrong, status, message in (
        ("pink:1", 1, "the classes are blue, green, red"),
        ("red", 2, "neither"),
        ("red:-1", 2, "not a number of [x>0]"),
    ):
        assert tool(*arguments, wrong) == status
        assert message in failed(capsys)


@pytest.mark.parametrize(("density", "scale"), [(0.05, "none"), (0.05, "standard"), (0.5, "minmax")])
def test_how_data_are_stored_is_not_a_matter_of_the_format(scale, density, tmp_path, capsys):
    X = sparse.random(80, 50, density, random_state=0).toarray().round(3)  # which text holds exactly
    y = np.arange(80) % 2
    np.savetxt(tmp_path / "a.csv", np.column_stack([X, y]), delimiter=",")
    dump_svmlight_file(X, y, str(tmp_path / "a.svm"), zero_based=False)
    results = set()
    for source in ("a.csv", "a.svm"):
        given = [str(tmp_path / source), "--scale", scale, "--features", "50"]
        assert tool("train", *given, "--model", tmp_path / "m", "--quiet") == 0
        for data in ("a.csv", "a.svm"):
            results.add(told(capsys, "predict", tmp_path / "m", tmp_path / data, "--decision").out)
    assert len(results) == 1


@pytest.mark.parametrize("said", [(), ("--zero-based",)])
@pytest.mark.parametrize("begin", [("train", "{a}", "--model", "{m}"), ("stream", "{m}", "{a}", "--first", "40")])
def test_features_are_counted_as_the_model_s_data_were(said, begin, from_0, path, capsys):
    """A file without its feature 0 looks as if it counted from 1; its features are to keep their places."""
    a, b, rare = from_0
    counted = said if begin[0] == "train" else ("--zero-based",)  # a stream does not look ahead
    assert tool(*([part.format(a=a, m=path) for part in begin] + ["--quiet", *counted])) == 0
    fitted = load(path)
    assert tool("predict", path, b, "--decision", "--quiet", *said) == 0
    found = [float(row.split("1:")[1]) for row in capsys.readouterr().out.splitlines()]
    assert found == fitted.decision_function(rare).tolist()
    assert tool("evaluate", path, b, "--json", *said) == 0
    right = np.mean(fitted.predict(rare) == np.repeat([0, 1], 5))
    assert json.loads(capsys.readouterr().out)["accuracy"] == right
    assert re.search(r"features count from +0\n", told(capsys, "info", path).out)


def test_a_stream_goes_on_counting_as_it_began(from_0, path):
    a, b, rare = from_0
    assert tool("stream", path, a, "--first", "40", "--zero-based", "--quiet") == 0
    assert tool("stream", path, b, "--quiet") == 0
    begin = read(a)
    expected = IncrementalSVC().fit(begin.X, begin.y).partial_fit(sparse.csr_matrix(rare), np.repeat([0, 1], 5))
    found = load(path).decision_function(begin.X)
    np.testing.assert_allclose(found, expected.decision_function(begin.X), atol=1e-9)


def test_the_test_data_of_training_are_counted_as_its_own(from_0, tmp_path, capsys):
    a, b, rare = from_0
    assert tool("train", a, "--model", tmp_path / "m", "--test", b, "--json", "--quiet") == 0
    right = np.mean(load(tmp_path / "m").predict(rare) == np.repeat([0, 1], 5))
    assert json.loads(capsys.readouterr().out)["test"]["accuracy"] == right


def test_features_that_count_from_0_are_an_error_where_others_counted_from_1(from_0, path, capsys):
    a, b, _ = from_0
    assert "feature 0 found" in failed(capsys, "train", a, "--one-based", "--model", path)
    assert tool("train", b, "--one-based", "--model", path, "--quiet") == 0
    assert "feature 0 found, and features count from 1 here" in failed(capsys, "predict", path, a)


def test_a_loaded_model_that_is_fitted_anew_forgets_how_its_text_counted(from_0, path):
    assert tool("train", from_0[0], "--model", path, "--quiet") == 0
    model = load(path)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.full((4, 4), np.nan), [0, 0, 1, 1])
    with pytest.raises(ValueError, match="number of classes"):  # is found after the check of X
        model.fit(np.eye(4), [0, 0, 0, 0])
    assert model.first_index_ == 0  # it is the old model still
    assert not hasattr(model.fit(np.eye(4), [0, 0, 1, 1]), "first_index_")


@pytest.fixture
def written(samples, tmp_path):
    """Write the samples with these columns in this order, and return the file's name."""
    X, y = samples
    columns = {"a": X[:, 0], "b": X[:, 1], "tint": y}

    def write(*names):
        path = tmp_path / "new.csv"
        rows = zip(*(map(str, columns[name]) for name in names), strict=True)
        path.write_text("".join(f"{','.join(row)}\n" for row in [names, *rows]))
        return str(path)

    return write


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("scale", ["none", "standard"])
def test_a_model_remembers_the_names_of_its_features(scale, train_csv, samples, written, path, tmp_path, capsys):
    arguments = ["train", str(train_csv), "--label", "colour", "--model", path, "--scale", scale, "--quiet"]
    assert tool(*arguments, "--test", train_csv) == 0
    assert load(path).feature_names_in_.tolist() == ["a", "b"]
    outputs = set()
    for names in (("a", "b"), ("a", "b", "tint"), ("tint", "a", "b")):
        outputs.add(told(capsys, "predict", path, written(*names), "--quiet"))
    np.savetxt(tmp_path / "bare.txt", samples[0])
    assert outputs == {told(capsys, "predict", path, tmp_path / "bare.txt", "--quiet")}
    assert tool("evaluate", path, written("tint", "a", "b")) == 0


def test_labels_that_are_no_classes_are_refused(model, train_csv, samples, tmp_path, capsys):
    X, y = samples
    other = str(tmp_path / "other.csv")
    for label in ("pink", "3"):
        np.savetxt(other, np.column_stack([np.full(60, label), X]), fmt="%s", delimiter=",")
        message = f"none of the labels ({label}) is a class of the model (blue, green, red)"
        assert message in failed(capsys, "evaluate", model, other, "--label", "0")
        target = tmp_path / "n"
        assert message in failed(capsys, "train", train_csv, "--label", "0", "--model", target, "--test", other)
        assert not target.exists()
    np.savetxt(other, np.column_stack([X, np.where(y == "red", "pink", y)]), fmt="%s", delimiter=",")
    assert "pink" in json.loads(told(capsys, "evaluate", model, other, "--json").out)["classes"]


def test_sparse_kernel_values_are_kept_dense(path, tmp_path):
    np.savez(tmp_path / "a.npz", X=np.eye(30), y=np.arange(30) % 2)
    assert tool("train", tmp_path / "a.npz", "--kernel", "precomputed", "--model", path, "--quiet") == 0
    assert tool("evaluate", path, tmp_path / "a.npz") == 0


def keys_of(command):
    """The keys that the manual's table lists for a command."""
    manual = (Path(__file__).parents[2] / "docs" / "command-line.md").read_text()
    rows = (row.split(" | ") for row in manual.partition("| key | of |")[2].partition("\n\n")[0].splitlines()[2:])
    listed = "".join(keys for keys, commands, _ in rows if command in commands.split(", "))
    return set(re.findall(r"`(\w+)`", listed))


def test_json_has_the_documented_keys(train_csv, path, capsys):
    data = [str(train_csv), "--label", "colour"]
    trained = json.loads(told(capsys, "train", *data, "--model", path, "--quiet", "--json", "--test", train_csv).out)
    assert set(trained) == keys_of("train")
    assert trained["samples"] == 60
    assert trained["parameters"]["C"] == 1.0
    measured = json.loads(told(capsys, "evaluate", path, *data, "--json").out)
    assert set(measured) == keys_of("evaluate")
    assert trained["test"] == {key: value for key, value in measured.items() if key != "model"}
    assert set(json.loads(told(capsys, "info", path, "--json").out)) == keys_of("info")
    assert "block" in json.loads(told(capsys, "info", "--solvers", "--json").out)
    assert tool("info", path, "--solvers") == 2


def test_json_holds_no_nan(train_csv, model, tmp_path, capsys):
    codes = tmp_path / "codes.csv"
    codes.write_text("".join(f"{i},{i * i},{i % 2}\n" for i in range(10)))
    path, text = str(tmp_path / "n.adatron"), str(tmp_path / "n.txt")
    assert tool("train", codes, "--model", path, "--quiet") == 0
    assert tool("convert", path, text) == 0
    assert tool("info", text, "--json") == 0
    assert json.loads(capsys.readouterr().out)["duality_gap"] is None  # LIBSVM's text holds no certificate
