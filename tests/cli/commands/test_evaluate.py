"""Evaluating a model from the command line.

Also tested here: ``cli/scores``.
"""

import numpy as np
from sklearn.metrics import classification_report, confusion_matrix

from adatron.cli import main
from lines import nameless


def test_evaluate_agrees_with_scikit_learn(model, train_csv, samples, tmp_path, capsys):
    X, y = samples
    out = tmp_path / "out.txt"
    assert main(["evaluate", str(model), str(train_csv), "--label", "colour", "--output", str(out)]) == 0
    text, predicted = out.read_text(), nameless(model).predict(X)
    assert capsys.readouterr().out == ""
    assert f"{np.mean(predicted == y):.4%}" in text
    assert classification_report(y, predicted, digits=4, zero_division=0.0) in text
    assert text.endswith(f"{confusion_matrix(y, predicted)}\n")
