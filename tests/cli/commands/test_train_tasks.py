"""All five machines from the command line: training, predicting, measuring, converting, cross-validating."""

import json

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file, make_classification, make_regression
from sklearn.metrics import mean_absolute_error, r2_score, roc_auc_score, root_mean_squared_error

import adatron
from lines import failed, nameless, told, tool

MACHINES = {
    ("classification", "c"): "SVC",
    ("classification", "nu"): "NuSVC",
    ("regression", "c"): "SVR",
    ("regression", "nu"): "NuSVR",
    ("novelty", "nu"): "OneClassSVM",
}
cases = pytest.mark.parametrize(("task", "svm"), MACHINES)


@pytest.fixture
def data(tmp_path):
    """Return a function that writes the samples of a task; it returns the file, X and y."""

    def write(task):
        if task == "regression":
            X, y = make_regression(80, 4, noise=5, random_state=0)
        else:
            X, y = make_classification(80, 4, random_state=0)
        X, y = X.round(3), y.round(3)  # text holds them exactly
        path = tmp_path / f"{task}.svm"
        dump_svmlight_file(X, y, str(path), zero_based=False)
        return str(path), X, y

    return write


@cases
def test_a_task_from_file_to_file(task, svm, data, tmp_path, capsys):
    file, X, y = data(task)
    path, text, back = (str(tmp_path / name) for name in ("m", "m.txt", "back"))
    assert tool("train", file, "--task", task, "--svm", svm, "--model", path, "--gamma", "0.3", "--quiet") == 0
    model = adatron.load(path)
    assert type(model).__name__ == MACHINES[task, svm]
    new = (X + 0.3).round(3)  # samples that trained a novelty detector may lie on its boundary
    expected = getattr(adatron, MACHINES[task, svm])(gamma=0.3).fit(X, y).predict(new)
    assert np.allclose(model.predict(new), expected)
    file = str(tmp_path / "new.svm")
    dump_svmlight_file(new, y, file, zero_based=False)
    assert task in told(capsys, "info", path).out
    assert tool("convert", path, text) == 0
    assert tool("convert", text, back) == 0
    for found in (path, text, back):
        assert tool("predict", found, file, "--quiet") == 0
        assert np.allclose([float(line) for line in capsys.readouterr().out.split()], expected)
    assert tool("evaluate", back, file) == 0


def test_a_ball_from_file_to_file(data, tmp_path, capsys):
    file, X, y = data("novelty")
    path, text = str(tmp_path / "m"), str(tmp_path / "m.txt")
    more = ["--kernel", "linear", "--C", "0.1", "--quiet"]
    assert tool("train", file, "--task", "novelty", "--machine", "svdd", "--model", path, *more) == 0
    model, new = adatron.load(path), (X + 0.3).round(3)
    assert type(model) is adatron.SVDD
    expected = adatron.SVDD(kernel="linear", C=0.1).fit(X)
    assert np.allclose(model.decision_function(new), expected.decision_function(new))
    assert "novelty" in told(capsys, "info", path).out
    file = str(tmp_path / "new.svm")
    dump_svmlight_file(new, y, file, zero_based=False)
    assert tool("predict", path, file, "--quiet") == 0
    assert np.allclose([float(line) for line in capsys.readouterr().out.split()], expected.predict(new))
    assert tool("evaluate", path, file) == 0
    assert tool("report", path, tmp_path / "novelty.svm", "--output", tmp_path / "r.html") == 0
    capsys.readouterr()
    assert tool("convert", path, text) != 0
    assert "SVDD" in failed(capsys)


def test_a_regression_is_measured(data, path, capsys):
    file, X, y = data("regression")
    assert tool("train", file, "--task", "regression", "--C", "100", "--model", path, "--test", file) == 0
    predicted = adatron.load(path).predict(X)
    table = dict(line.split(None, 1) for line in capsys.readouterr().err.splitlines() if len(line.split()) > 1)
    assert float(table["R2"]) == pytest.approx(r2_score(y, predicted), abs=1e-5)
    found = json.loads(told(capsys, "evaluate", path, file, "--json").out)
    assert found["r2"] == pytest.approx(r2_score(y, predicted))
    assert found["mae"] == pytest.approx(mean_absolute_error(y, predicted))
    assert found["rmse"] == pytest.approx(root_mean_squared_error(y, predicted))
    out, err = told(capsys, "predict", path, file)
    assert [float(line) for line in out.split()] == predicted.tolist()  # to the last bit
    assert err.startswith("R2 ")


def test_two_classes_have_an_area_under_the_curve(data, path, capsys):
    file, X, y = data("classification")
    assert tool("train", file, "--model", path, "--quiet") == 0
    expected = roc_auc_score(y, adatron.load(path).decision_function(X))
    assert f"{expected:.6f}" in told(capsys, "evaluate", path, file).out


def test_novelty_has_a_share_of_outliers(data, path, tmp_path, capsys):
    file, X, _ = data("novelty")
    assert tool("train", file, "--task", "novelty", "--nu", "0.2", "--model", path) == 0
    assert "labels are not 1 and -1, and are not used" in capsys.readouterr().err
    sides = adatron.load(path).predict(X)
    found = json.loads(told(capsys, "evaluate", path, file, "--json").out)
    assert (found["outliers"], found["accuracy"]) == (int(np.sum(sides == -1)), None)
    dump_svmlight_file(X, sides, str(tmp_path / "sides"), zero_based=False)
    assert json.loads(told(capsys, "evaluate", path, tmp_path / "sides", "--json").out)["accuracy"] == 1.0
    np.savetxt(tmp_path / "plain.txt", X)
    assert tool("train", tmp_path / "plain.txt", "--task", "novelty", "--nu", "0.2", "--model", path) == 0
    assert "label" not in capsys.readouterr().err  # there are none
    out, err = told(capsys, "predict", path, tmp_path / "plain.txt")
    assert np.mean([int(line) for line in out.split()] == sides) > 0.8  # some are on the boundary
    assert "outliers" in err


@pytest.mark.parametrize("kind", ["sides.svm", "sides.csv", "named.csv", "sides.npz"])
def test_novelty_learns_from_the_samples_with_label_1(kind, tmp_path, capsys):
    """`train` treats the labels as `search` does: the same samples give the same model."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 2)).round(3), np.repeat([1, -1], [30, 50])[rng.permutation(80)]
    X[y < 0] += 6.0
    file, paths = str(tmp_path / kind), [str(tmp_path / name) for name in ("t.adatron", "s.adatron")]
    if kind == "sides.svm":
        dump_svmlight_file(X, y, file, zero_based=False)
    elif kind == "sides.npz":
        np.savez(file, X=X, y=y)
    else:
        columns, names = (np.c_[y, X], "y,a,b") if kind == "named.csv" else (np.c_[X, y], "")
        np.savetxt(file, columns, delimiter=",", fmt="%.4g", header=names, comments="")
    options = ["--task", "novelty", "--nu", "0.1", "--gamma", "0.1", "--model"]
    out, err = told(capsys, "train", file, *options, paths[0], "--json")
    assert "30 of 80 samples, those with label 1" in err
    assert ("the last column holds 1 and -1 alone" in err) == (kind == "sides.csv")
    assert (json.loads(out)["samples"], json.loads(out)["features"]) == (30, 2)
    assert tool("search", file, *options, paths[1], "--quiet") == 0
    trained, searched = map(nameless, paths)
    np.testing.assert_array_equal(trained.decision_function(X), searched.decision_function(X))
    capsys.readouterr()
    assert tool("train", file, *options[:-1], "--cv", "4", "--json", "--quiet") == 0
    assert json.loads(capsys.readouterr().out)["cross_validation"]["accuracy"] > 0.8
    report = ["report", paths[0], file, "--output", str(tmp_path / "r.html"), "--max-time", "1e-6", "--quiet"]
    assert tool(*report) == 0


def test_probabilities_as_svm_predict_writes_them(data, path, capsys):
    file, X, _ = data("classification")
    assert tool("train", file, "--model", path, "--probability", "--quiet") == 0
    model = adatron.load(path)
    header, *rows = told(capsys, "predict", path, file, "--probability", "--quiet").out.splitlines()
    assert header == "labels 0 1"
    table = np.array([row.split() for row in rows], float)
    assert np.array_equal(table[:, 1:], model.predict_proba(X))
    assert np.array_equal(table[:, 0], model.predict(X))
    assert tool("predict", path, file, "--probability", "--decision") == 2
    assert tool("predict", path, file, "--probability", "--decision", "--to", "csv", "--quiet") == 0
    assert capsys.readouterr().out.splitlines()[0] == "class,decision,probability 0,probability 1"


@cases
def test_cross_validation_prints_the_quality_and_writes_nothing(task, svm, data, tmp_path, capsys):
    file, *_ = data(task)
    before = sorted(tmp_path.iterdir())
    arguments = ["train", file, "--task", task, "--svm", svm, "--cv", "4", "--random-state", "1"]
    out, err = told(capsys, *arguments)
    assert err.startswith("read 80 rows × 4 numeric features")
    assert out.startswith("cross-validation ")
    found = json.loads(told(capsys, *arguments, "--json").out)
    assert (found["class"], found["cross_validation"]["samples"]) == (MACHINES[task, svm], 80)
    assert sorted(tmp_path.iterdir()) == before
    measure = {"classification": "accuracy", "regression": "r2", "novelty": "outlier_share"}[task]
    assert -1.0 < found["cross_validation"][measure] <= 1.0


def test_cross_validation_of_kernel_values(data, tmp_path, capsys):
    _, X, y = data("classification")
    np.savez(tmp_path / "K.npz", X=X @ X.T, y=y)
    np.savez(tmp_path / "X.npz", X=X, y=y)
    for name, kernel in (("K", "precomputed"), ("X", "linear")):
        assert tool("train", tmp_path / f"{name}.npz", "--kernel", kernel, "--cv", "3") == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first == second


def test_quantiles_from_file_to_file(data, tmp_path, capsys):
    file, X, y = data("regression")
    path, table = str(tmp_path / "m"), str(tmp_path / "p.csv")
    options = ["--task", "quantile", "--quantile", "0.05,0.5,0.95", "--set", "rearrange=True", "--C", "100"]
    assert tool("train", file, *options, "--model", path, "--quiet") == 0
    model = adatron.QuantileSVR(quantile=[0.05, 0.5, 0.95], rearrange=True, C=100.0).fit(X, y)
    expected = model.predict(X)
    lines = told(capsys, "predict", path, file, "--quiet").out.splitlines()
    assert np.allclose([[float(one) for one in line.split()] for line in lines], expected)
    assert "pinball" in told(capsys, "predict", path, file, "--output", table).err
    header = (tmp_path / "p.csv").read_text().partition("\n")[0]
    assert header == "prediction 0.05,prediction 0.5,prediction 0.95"
    found = json.loads(told(capsys, "evaluate", path, file, "--json").out)
    assert found["d2"] == pytest.approx(model.score(X, y))
    assert found["below"] == pytest.approx(list((y[:, None] < expected).mean(axis=0)))
    assert "cross-validation pinball" in told(capsys, "train", file, *options, "--cv", "3").out
    search = ["search", file, "--task", "quantile", "--quantile", "0.9", "--C", "1,10", "--gamma", "0.1"]
    assert "pinball D2" in told(capsys, *search, "--json", "--quiet").out
    assert tool("info", path) == 0
