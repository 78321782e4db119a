"""Choosing parameters from the command line.

Also tested here: ``cli/searched``.
"""

import json
import signal
import threading

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file, load_iris, make_classification, make_regression
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from adatron import SVC
from adatron.files import load
from lines import nameless, told, tool


@pytest.fixture
def data(tmp_path):
    """Return a function that writes the samples of a task."""

    def write(task):
        if task == "regression":
            X, y = make_regression(60, 3, noise=5, random_state=0)
        else:
            X, y = make_classification(60, 4, random_state=0)
            y = 2 * y - 1
        path = tmp_path / f"{task}.svm"
        dump_svmlight_file(X.round(3), y.round(3), str(path), zero_based=False)
        return str(path)

    return write


def test_the_best_parameters_are_found_and_fitted(train_csv, samples, tmp_path, capsys):
    X, y = samples
    path = tmp_path / "best.adatron"
    options = ["--label", "colour", "--C", "0.01:1", "--gamma", "0.001,0.1,scale", "--cv", "4", "--model", str(path)]
    out, err = told(capsys, "search", train_csv, *options)
    grid = {"C": [0.01, 0.1, 1.0], "gamma": [0.001, 0.1, "scale"]}
    folds = StratifiedKFold(4, shuffle=True, random_state=0)
    plain = GridSearchCV(SVC(), grid, cv=folds).fit(X, y)
    fitted = load(path)
    assert {"C": fitted.C, "gamma": fitted.gamma} == plain.best_params_
    assert (nameless(path).predict(X) == plain.predict(X)).all()
    lines = out.splitlines()
    assert lines[0].split() == ["C", "\\", "gamma", "0.001", "0.1", "scale"]
    means = plain.cv_results_["mean_test_score"].reshape(3, 3)
    for line, C, row in zip(lines[1:4], ("0.01", "0.1", "1"), means, strict=True):
        name, *scores = line.replace("*", "").split()
        assert name == C
        assert scores == [f"{score:.4f}" for score in row]
    assert out.count("*") == 1
    assert f"best accuracy  {plain.best_score_:.6g}" in out
    assert "Fitting 4 folds for each of 9 candidates, totalling 36 fits" in err
    assert "relative duality gap" in err


@pytest.mark.parametrize(
    ("task", "svm", "options", "names"),
    [
        ("classification", "c", [], {"C", "gamma"}),
        ("classification", "nu", ["--kernel", "linear"], {"nu"}),
        ("regression", "c", ["--gamma", "0.1"], {"C", "epsilon"}),
        ("regression", "nu", ["--nu", "0.2,0.5", "--C", "10:1000", "--gamma", "0.01"], {"nu", "C"}),
        ("novelty", "nu", ["--nu", "auto", "--scale", "standard"], {"nu"}),
        ("classification", "c", ["--kernel", "poly", "--degree", "1:3", "--coef0", "0,1"], {"degree", "coef0"}),
    ],
)
def test_all_machines(task, svm, options, names, data, path, tmp_path, capsys):
    arguments = [data(task), "--task", task, "--svm", svm, "--cv", "2", "--model", path, "--json", "--quiet"]
    out, err = told(capsys, "search", *arguments, *options)
    found = json.loads(out)
    assert "Fitting" not in err
    assert (found["task"], found["folds"], found["end"], found["model"]) == (task, 2, "complete", str(path))
    results = found["cv_results"]
    assert set(found["best_params"]) == names
    assert found["best_score"] == max(results["mean_test_score"])
    assert "split1_test_score" in results
    assert all(results["converged"])
    assert tool("predict", path, data(task), "--quiet", "--output", tmp_path / "p") == 0
    fitted = load(path)
    fitted = fitted[-1] if task == "novelty" else fitted
    assert {name: getattr(fitted, name) for name in names} == found["best_params"]


def test_the_edge_is_told(data, capsys):
    assert tool("search", data("classification"), "--C", "1e-6,1e-5", "--gamma", "1e-6", "--json", "--quiet") == 0
    assert json.loads(capsys.readouterr().out)["at_edge"] == {}  # both are as good
    assert tool("search", data("regression"), "--task", "regression", "--C", "1e-3,1e-2", "--gamma", "0.1") == 0
    assert "at the edge  the largest C: better ones may lie beyond" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("scoring", "options", "why"),
    [
        ("roc_auc", ["--probability"], "is for two classes"),
        ("f1", [], "f1_macro"),
        ("roc_auc_ovr", [], "add --probability"),
        ("neg_log_loss", ["--probability", "--task", "regression"], "--task regression has none"),
        ("roc_auc", ["--task", "regression"], "--task regression has none"),
        ("accuracy", ["--task", "regression", "--epsilon", "0.1"], "no value for any candidate: continuous is not"),
        ("accuracy", ["--cv", "151"], "--cv 151 needs"),
        ("r2", ["--task", "regression", "--cv", "150"], "any candidate: the scores are not finite"),
    ],
)
def test_a_search_without_a_score_writes_no_model(scoring, options, why, tmp_path, capsys):
    file, path = str(tmp_path / "iris"), tmp_path / "m.adatron"
    X, y = load_iris(return_X_y=True)
    dump_svmlight_file(X, y + 0.5 if options[-1:] == ["0.1"] else y, file)
    options = [*options, "--C", "1,10", "--gamma", "0.1", "--model", str(path)]
    assert tool("search", file, "--scoring", scoring, *options) == 1 + ("has none" in why)
    out, err = capsys.readouterr()
    assert out == ""
    assert why in err.splitlines()[-1]
    assert err.splitlines()[-1].startswith("error: ")
    assert "Traceback" not in err
    assert not path.exists()


def test_probability_serves_scores_of_probabilities(tmp_path, capsys):
    file, path = str(tmp_path / "iris"), str(tmp_path / "m.adatron")
    dump_svmlight_file(*load_iris(return_X_y=True), file)
    options = ["--C", "1,10", "--gamma", "0.1", "--cv", "2", "--probability", "--model", path, "--json", "--quiet"]
    assert tool("search", file, "--scoring", "roc_auc_ovr", *options) == 0
    assert np.isfinite(json.loads(capsys.readouterr().out)["cv_results"]["mean_test_score"]).all()
    assert tool("predict", path, file, "--probability", "--quiet") == 0


def test_novelty_learns_from_the_known_samples(path, tmp_path, capsys):
    """Only 20 of 100 samples are known; a model of all would hold most of the others for known, too."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 2)), np.repeat([1, -1], [20, 80])
    X[y < 0] += 6.0
    order = rng.permutation(100)
    np.savez(tmp_path / "d.npz", X=X[order], y=y[order])
    options = ["--task", "novelty", "--nu", "0.05,0.1", "--gamma", "0.1", "--cv", "4", "--model", path]
    found = json.loads(told(capsys, "search", tmp_path / "d.npz", *options, "--json", "--quiet").out)
    assert found["best_score"] > 0.8
    fitted = load(path)
    assert fitted.shape_fit_ == (20, 2)
    assert (fitted.predict(X) == y).mean() > 0.9


def test_scores_outlast_a_last_fit_that_is_interrupted(data, tmp_path, capsys, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("adatron.cli.training.fit", interrupted)
    model, plot = tmp_path / "m.adatron", tmp_path / "m.svg"
    options = ["--C", "1,10", "--gamma", "0.1", "--json", "--quiet", "--model", str(model), "--plot", str(plot)]
    out, err = told(capsys, "search", data("classification"), *options, status=130)
    found = json.loads(out)
    assert len(found["cv_results"]["params"]) == 2
    assert "model" not in found
    assert plot.exists()
    assert not model.exists()
    assert "interrupted, and no model written" in err


def test_a_picture_of_one_candidate_loses_no_scores(tmp_path, capsys):
    """Equal samples have one gamma, which is known only when the search is over."""
    np.savez(tmp_path / "d.npz", X=np.ones((20, 2)), y=np.tile([0, 1], 10))
    plot = tmp_path / "m.svg"
    options = ["--C", "1", "--gamma", "auto", "--json", "--quiet", "--plot", str(plot)]
    out, err = told(capsys, "search", tmp_path / "d.npz", *options, status=1)
    assert len(json.loads(out)["cv_results"]["params"]) == 1
    assert "no parameter has several values" in err


@pytest.mark.slow
def test_ctrl_c_keeps_what_is_finished(tmp_path, capsys):
    X, y = make_classification(1500, 10, n_informative=6, flip_y=0.2, random_state=0)
    np.savez(tmp_path / "d.npz", X=X, y=y)
    timer = threading.Timer(3.0, signal.raise_signal, [signal.SIGINT])
    timer.start()
    grid = ["--C", "1:1e7:15", "--gamma", "1e-3:10:15"]
    assert tool("search", tmp_path / "d.npz", *grid, "--no-progress") == 130
    timer.join()
    out, err = capsys.readouterr()
    assert "before all folds" in err or ("ended by Ctrl-C" in err and "without a score" in out)
