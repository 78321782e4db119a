"""Proofs from the command line."""

import numpy as np

from adatron import load
from adatron.cli import main
from lines import told


def test_prove_writes_what_the_model_says(model, train_csv, samples, tmp_path, capsys):
    path = tmp_path / "proof.txt"
    assert main(["prove", str(model), str(train_csv), "--label", "colour", "--output", str(path)]) == 0
    assert main(["prove", str(model), str(train_csv), "--label", "colour"]) == 0
    X, y = samples
    machine = load(model)
    vars(machine).pop("feature_names_in_", None)
    assert path.read_text() == capsys.readouterr().out == machine.proof(X, y)


def test_prove_of_a_scaled_model_has_the_rows_of_its_machine(train_csv, samples, tmp_path, capsys):
    path = str(tmp_path / "s.adatron")
    asked = ["--label", "colour", "--quiet", "--scale", "standard"]
    assert main(["train", str(train_csv), "--model", path, *asked]) == 0
    lines = told(capsys, ["prove", path, str(train_csv), "--label", "colour"]).out.splitlines()
    rows = np.array([[float.fromhex(word) for word in line.split()] for line in lines[4:64]])
    X = samples[0]
    np.testing.assert_allclose(rows, (X - X.mean(axis=0)) / X.std(axis=0), rtol=1e-12)
