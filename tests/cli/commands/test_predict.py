"""Predicting and evaluating from the command line.

Also tested here: ``cli/report``.
"""

import numpy as np
from sklearn.datasets import dump_svmlight_file
from sklearn.metrics import classification_report, confusion_matrix
from sklearn.preprocessing import StandardScaler

from adatron import SVC, files
from adatron.files import load
from lines import failed, nameless, told, tool


def test_predict_writes_one_label_a_line_and_the_accuracy(model, train_csv, tmp_path, samples, capsys):
    X, y = samples
    out, err = told(capsys, "predict", model, train_csv, "--label", "colour")
    expected = nameless(model).predict(X)
    assert out.splitlines() == expected.tolist()
    right = int(np.sum(expected == y))
    assert err == f"accuracy {right / 60:.4%} ({right} of 60)\n"
    # Without labels there is no accuracy; to a file, nothing on stdout.
    np.savetxt(tmp_path / "new.txt", X)
    assert told(capsys, "predict", model, tmp_path / "new.txt", "--output", tmp_path / "out") == ("", "")
    assert (tmp_path / "out").read_text().splitlines() == expected.tolist()


def test_predict_refuses_other_data_and_keeps_the_output(model, tmp_path, capsys):
    (tmp_path / "new.csv").write_text("1,2,3,4,5\n")
    (tmp_path / "out").write_text("old")
    assert tool("predict", model, tmp_path / "new.csv", "--output", tmp_path / "out") == 1
    assert "5 columns found, 2 features expected" in failed(capsys)
    assert (tmp_path / "out").read_text() == "old"


def test_models_that_cannot_predict_are_refused(samples, train_csv, tmp_path, capsys):
    for estimator, message in (
        (SVC(), "not fitted"),
        (StandardScaler().fit(samples[0]), "this command is for support vector machines"),
    ):
        files.save(estimator, tmp_path / "m")
        for command in ("predict", "evaluate"):
            assert message in failed(capsys, command, tmp_path / "m", train_csv)


def test_labels_of_data_to_predict_may_be_none(from_0, path, tmp_path, capsys):
    """Zeros in the place of labels, as LIBSVM's users write them, have no accuracy."""
    assert tool("train", from_0[0], "--model", path, "--quiet") == 0
    dump_svmlight_file(np.eye(3), np.full(3, 7), str(tmp_path / "new"), zero_based=True)
    capsys.readouterr()
    out, err = told(capsys, "predict", path, tmp_path / "new")
    assert len(out.split()) == 3
    assert err == "no accuracy: none of the labels (7) is a class of the model (0, 1)\n"
    dump_svmlight_file(np.eye(3), [7, *load(path).predict(np.eye(3))[1:]], str(tmp_path / "new"), zero_based=True)
    assert tool("predict", path, tmp_path / "new") == 0
    assert capsys.readouterr().err == "accuracy 66.6667% (2 of 3); labels that are no class of the model: 1\n"


def test_several_labels_of_a_sample(samples, train_csv, tmp_path, capsys):
    X, _ = samples
    labels = (X > 0.0).astype(int)
    estimator = SVC().fit(X, labels)
    files.save(estimator, tmp_path / "m")
    arguments = [str(tmp_path / "m"), str(train_csv), "--label", "colour"]
    out, err = told(capsys, "predict", *arguments, "--to", "csv", "--decision")
    header, *rows = out.splitlines()
    found = dict(zip(header.split(","), np.array([row.split(",") for row in rows], float).T, strict=True))
    np.testing.assert_array_equal(np.c_[found["prediction 1"], found["prediction 2"]], estimator.predict(X))
    np.testing.assert_array_equal(np.c_[found["decision 1"], found["decision 2"]], estimator.decision_function(X))
    assert "no accuracy: The model must predict one number or class" in err
    values = [row.split() for row in told(capsys, "predict", *arguments, "--decision", "--quiet").out.splitlines()]
    assert [len(row) for row in values] == [3] * len(X)  # the first label, and two decision values
    assert [float(row[2].removeprefix("2:")) for row in values] == estimator.decision_function(X)[:, 1].tolist()
    assert "must predict one number or class" in failed(capsys, "evaluate", *arguments)


def test_decision_values_in_both_formats(model, train_csv, samples, tmp_path, capsys):
    X, _ = samples
    estimator = nameless(model)
    arguments = ["predict", str(model), str(train_csv), "--label", "colour", "--decision", "--quiet"]
    assert tool(*arguments, "--output", tmp_path / "out.csv") == 0
    header, *rows = (tmp_path / "out.csv").read_text().splitlines()
    assert header == "class,decision blue,decision green,decision red"
    assert [row.split(",")[0] for row in rows] == estimator.predict(X).tolist()
    values = np.array([row.split(",")[1:] for row in rows], float)
    assert np.array_equal(values, estimator.decision_function(X))
    out, err = told(capsys, *arguments)
    assert err == ""
    assert out.splitlines()[0].split()[1:] == [f"{i}:{value!r}" for i, value in enumerate(values[0].tolist(), 1)]


def test_evaluate_agrees_with_scikit_learn(model, train_csv, samples, tmp_path, capsys):
    X, y = samples
    out = tmp_path / "out.txt"
    assert tool("evaluate", model, train_csv, "--label", "colour", "--output", out) == 0
    text, predicted = out.read_text(), nameless(model).predict(X)
    assert capsys.readouterr().out == ""
    assert f"{np.mean(predicted == y):.4%}" in text
    assert classification_report(y, predicted, digits=4, zero_division=0.0) in text
    assert text.endswith(f"{confusion_matrix(y, predicted)}\n")
