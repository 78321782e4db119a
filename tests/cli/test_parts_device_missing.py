"""The option --device of the tool without torch."""

import sys

import numpy as np

from adatron.cli import main


def test_without_torch_one_line_says_how_to_get_it(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    path = tmp_path / "data.csv"
    np.savetxt(path, [[0.0, 0.0], [1.0, 1.0]], delimiter=",")
    assert main(["train", str(path), "--model", str(tmp_path / "m"), "--device", "cuda"]) == 2
    assert capsys.readouterr().err.startswith("error: --device: A device needs torch: pip install torch")
